import Crypto
import Foundation
import NIOCore
import SwiftASN1
import X509

/// A private certificate authority, accepted by clients that are configured to trust it.
struct LocalAuthority: Sendable {
    /// Ten years, since a new authority has to be installed on every device.
    static let lifetime: TimeInterval = 3650 * 86_400
    /// Days that a certificate of a server is valid. Apple's systems accept none for more than 825 days, and none of
    /// public authorities for more than 398.
    static let serverDays = 397
    /// How far validity is backdated, for clients whose clocks are slow.
    private static let clockSkew: TimeInterval = 3600

    private let certificate: Certificate
    private let key: Certificate.PrivateKey

    /// - Parameter name: Its name on devices.
    /// - Throws: The errors of X509.
    init(named name: String, now: Date) throws {
        let key = Certificate.PrivateKey(P256.Signing.PrivateKey())
        self.key = key
        let subject = try DistinguishedName {
            OrganizationName("Larder")
            CommonName(name)
        }
        certificate = try Certificate(
            version: .v3,
            serialNumber: Certificate.SerialNumber(),
            publicKey: key.publicKey,
            notValidBefore: now - Self.clockSkew,
            notValidAfter: now + Self.lifetime,
            issuer: subject,
            subject: subject,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                Critical(KeyUsage(keyCertSign: true, cRLSign: true))
                SubjectKeyIdentifier(hash: key.publicKey)
            },
            issuerPrivateKey: key
        )
    }

    init(_ files: CertificateFiles) throws(CertificateError) {
        let (key, _) = try ServerCertificate.key(in: files.key)
        let certificate = try ServerCertificate.chain(in: files.certificate)[0]
        guard certificate.publicKey == key.publicKey else {
            throw .keyDoesNotFit(key: files.key, certificate: files.certificate)
        }
        (self.certificate, self.key) = (certificate, key)
    }

    var pem: (certificate: String, key: String) {
        get throws { (try certificate.serializeAsPEM().pemString, try key.serializeAsPEM().pemString) }
    }

    /// Its name on devices.
    var name: String { "\(certificate.subject)" }

    /// SHA-256 of the certificate, as devices show it.
    var fingerprint: String {
        get throws {
            let bytes = try certificate.serializeAsPEM().derBytes
            return SHA256.hash(data: bytes).map { byte in
                (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }.joined(separator: ":")
        }
    }

    /// Makes a certificate with a new key.
    ///
    /// - Parameter names: Host names and addresses, the first of which is that of its subject.
    /// - Returns: Both in PEM.
    func issue(_ names: [HostName], now: Date) throws -> (certificate: String, key: String) {
        let serverKey = Certificate.PrivateKey(P256.Signing.PrivateKey())
        let issued = try Certificate(
            version: .v3,
            serialNumber: Certificate.SerialNumber(),
            publicKey: serverKey.publicKey,
            notValidBefore: now - Self.clockSkew,
            notValidAfter: min(now + TimeInterval(Self.serverDays) * 86_400, certificate.notValidAfter),
            issuer: certificate.subject,
            subject: DistinguishedName { CommonName(names.first?.text ?? "larder") },
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([.serverAuth])
                SubjectAlternativeNames(names.map(\.alternativeName))
                SubjectKeyIdentifier(hash: serverKey.publicKey)
                AuthorityKeyIdentifier(keyIdentifier: SubjectKeyIdentifier(hash: key.publicKey).keyIdentifier)
            },
            issuerPrivateKey: key
        )
        return (try issued.serializeAsPEM().pemString, try serverKey.serializeAsPEM().pemString)
    }
}

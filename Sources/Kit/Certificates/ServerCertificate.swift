package import Foundation
import NIOCore
package import NIOSSL
import SwiftASN1
import X509

/// A certificate with its key, ready to be served.
package struct ServerCertificate: Sendable {
    /// TLS 1.2 with forward secrecy and authenticated encryption only; 1.3 has nothing else.
    private static let cipherSuites = "ECDHE+AESGCM:ECDHE+CHACHA20"
    /// How long the end of a connection waits for that of the client.
    private static let endTime: Int64 = 2

    /// The hosts that it is for.
    package let names: CertificateNames
    /// The last moment at which it is valid.
    package let notAfter: Date
    /// Whether every user of the machine may read the key.
    package let isKeyPublic: Bool
    /// What handshakes are made with.
    package let context: NIOSSLContext

    /// Reads and checks the files.
    ///
    /// - Parameters:
    ///   - protocols: What is offered by ALPN (RFC 7301), the preferred one first.
    ///   - now: The time at which it has to be valid.
    package init(_ files: CertificateFiles, protocols: [String], now: Date) throws(CertificateError) {
        let chain = try Self.chain(in: files.certificate)
        let (key, text) = try Self.key(in: files.key)
        guard chain[0].publicKey == key.publicKey else {
            throw chain.contains { $0.publicKey == key.publicKey }
                ? .wrongOrder(files.certificate) : .keyDoesNotFit(key: files.key, certificate: files.certificate)
        }
        guard now <= chain[0].notValidAfter else { throw .expired(files.certificate, chain[0].notValidAfter) }
        guard now >= chain[0].notValidBefore else { throw .notYetValid(files.certificate, chain[0].notValidBefore) }
        names = CertificateNames(chain[0])
        guard !names.all.isEmpty else { throw .noNames(files.certificate) }
        notAfter = chain[0].notValidAfter
        isKeyPublic = files.isKeyPublic
        context = try Self.context(chain, text, protocols, files)
    }

    /// Returns the certificates of a file, of which there is at least one.
    static func chain(in file: URL) throws(CertificateError) -> [Certificate] {
        let documents = try pem(in: file, "certificate").filter { $0.discriminator == "CERTIFICATE" }
        guard !documents.isEmpty else { throw .noPEM(file, "certificate") }
        do {
            return try documents.map { try Certificate(pemDocument: $0) }
        } catch {
            throw .malformed(file, "certificate")
        }
    }

    /// Returns the first key of a file, and its PEM.
    static func key(in file: URL) throws(CertificateError) -> (Certificate.PrivateKey, String) {
        let found = try pem(in: file, "private key").first { $0.discriminator.hasSuffix("PRIVATE KEY") }
        guard let document = found else { throw .noPEM(file, "private key") }
        if document.discriminator.hasPrefix("ENCRYPTED") { throw .encryptedKey(file) }
        do {
            return (try Certificate.PrivateKey(pemDocument: document), document.pemString)
        } catch {
            throw .malformed(file, "private key")
        }
    }

    private static func pem(in file: URL, _ kind: String) throws(CertificateError) -> [PEMDocument] {
        let text = try CertificateFiles.text(of: file)
        // The form of old keys with a passphrase: header lines within the document (RFC 1421 §4.6).
        if text.contains("Proc-Type: 4,ENCRYPTED") { throw .encryptedKey(file) }
        do {
            return try PEMDocument.parseMultiple(pemString: text)
        } catch {
            throw text.contains("-----BEGIN ") ? .malformed(file, kind) : .noPEM(file, kind)
        }
    }

    private static func context(
        _ chain: [Certificate],
        _ key: String,
        _ protocols: [String],
        _ files: CertificateFiles
    ) throws(CertificateError) -> NIOSSLContext {
        do {
            let sources = try chain.map { certificate in
                let bytes = try certificate.serializeAsPEM().derBytes
                return NIOSSLCertificateSource.certificate(try NIOSSLCertificate(bytes: bytes, format: .der))
            }
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: sources,
                privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(key.utf8), format: .pem))
            )
            configuration.minimumTLSVersion = .tlsv12
            configuration.cipherSuites = cipherSuites
            configuration.applicationProtocols = protocols
            configuration.shutdownTimeout = .seconds(endTime)
            return try NIOSSLContext(configuration: configuration)
        } catch {
            throw .malformed(files.certificate, "certificate or a key")
        }
    }
}

package import Foundation
import NIOCore
package import NIOSSL
import SwiftASN1
import Synchronization
import X509

/// A certificate with its key, ready to be served.
package struct ServerCertificate: Sendable {
    /// TLS 1.2 with forward secrecy and authenticated encryption only; 1.3 has nothing else.
    private static let cipherSuites = "ECDHE+AESGCM:ECDHE+CHACHA20"
    /// How long a connection that the server ends waits for the client's `close_notify`.
    private static let endTime: Int64 = 2

    /// The hosts that it is for.
    package let names: CertificateNames
    /// When it expires.
    package let notAfter: Date
    /// Whether every user of the machine may read the key.
    package let isKeyPublic: Bool
    package let context: NIOSSLContext

    /// Reads and checks the files.
    ///
    /// - Parameters:
    ///   - protocols: The protocols for ALPN (RFC 7301), the preferred one first.
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

/// The certificate that new connections get, until it is read again.
package final class ServedCertificate: Sendable {
    private let files: CertificateFiles
    private let protocols: [String]
    private let served: Mutex<ServerCertificate>

    /// - Parameters:
    ///   - protocols: The protocols for ALPN, the preferred one first.
    ///   - now: The time at which it has to be valid.
    /// - Throws: `CertificateError` if the certificate cannot be served.
    package init(_ files: CertificateFiles, protocols: [String], now: Date) throws(CertificateError) {
        self.files = files
        self.protocols = protocols
        served = Mutex(try ServerCertificate(files, protocols: protocols, now: now))
    }

    package var current: ServerCertificate { served.withLock { $0 } }

    /// Reads the files again. Open connections keep the old certificate.
    ///
    /// - Throws: `CertificateError` if the new files cannot be served; then the old certificate stays in use.
    package func reload(now: Date) throws(CertificateError) {
        let next = try ServerCertificate(files, protocols: protocols, now: now)
        served.withLock { $0 = next }
    }
}

/// The hosts that a certificate is for (RFC 9525 §6.3).
package struct CertificateNames: Sendable, Equatable {
    /// Names and addresses in lower case; names with a wildcard begin with `*.`.
    package let all: [String]

    private let hosts: Set<String>
    /// The labels after the first one of names with a wildcard.
    private let parents: Set<String>

    init(_ names: [String]) {
        all = names
        hosts = Set(names.filter { !$0.hasPrefix("*.") })
        parents = Set(names.filter { $0.hasPrefix("*.") }.map { String($0.dropFirst(2)) })
    }

    /// The alternative names of a certificate. Its subject does not count.
    init(_ certificate: Certificate) {
        let names = (try? certificate.extensions.subjectAlternativeNames) ?? SubjectAlternativeNames()
        self.init(
            names.compactMap { name in
                switch name {
                case .dnsName(let name): name.lowercased()
                case .ipAddress(let bytes):
                    (try? SocketAddress(packedIPAddress: ByteBuffer(bytes: bytes.bytes), port: 0))?.ipAddress
                default: nil
                }
            }
        )
    }

    /// Whether the certificate is for a host, given in lower case and without a port.
    package func contains(_ host: String) -> Bool {
        if hosts.contains(host) { return true }
        guard !parents.isEmpty, let dot = host.firstIndex(of: ".") else { return false }
        return parents.contains(String(host[dot...].dropFirst()))
    }
}

/// A host name or an address of a certificate.
package struct HostName: Sendable, Hashable {
    /// In lower case; addresses in their shortest form.
    package let text: String
    private let address: [UInt8]?

    /// Takes a text: letters, digits, hyphens and dots, perhaps with `*.` at the beginning, or an address.
    ///
    /// - Throws: `CertificateError` if it is neither.
    package init(_ text: String) throws(CertificateError) {
        let lower = text.lowercased()
        if let address = try? SocketAddress(ipAddress: lower, port: 0), let shortest = address.ipAddress {
            self.text = shortest
            self.address = Self.bytes(of: address)
            return
        }
        let labels = (lower.hasPrefix("*.") ? lower.dropFirst(2) : lower[...]).split(
            separator: ".",
            omittingEmptySubsequences: false
        )
        // Four numbers that are no address are no name either (WHATWG URL, ends in a number).
        guard lower.utf8.count <= 253, labels.allSatisfy(Self.isLabel), labels.last?.allSatisfy(\.isNumber) == false
        else { throw .unusableName(text) }
        self.text = lower
        address = nil
    }

    /// As an alternative name of a certificate (RFC 5280 §4.2.1.6).
    var alternativeName: GeneralName {
        address.map { .ipAddress(ASN1OctetString(contentBytes: $0[...])) } ?? .dnsName(text)
    }

    private static func isLabel(_ label: Substring) -> Bool {
        (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
            && label.utf8.allSatisfy { byte in
                (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x2D
            }
    }

    private static func bytes(of address: SocketAddress) -> [UInt8]? {
        switch address {
        case .v4(let address): withUnsafeBytes(of: address.address.sin_addr) { Array($0) }
        case .v6(let address): withUnsafeBytes(of: address.address.sin6_addr) { Array($0) }
        case .unixDomainSocket: nil
        }
    }

    /// The names and addresses of this machine that other machines may know, and those of the loopback interface.
    ///
    /// Left out are addresses that are valid on one link only, and names that no certificate can have.
    static func ofThisMachine() -> [HostName] {
        let host = ProcessInfo.processInfo.hostName.lowercased()
        let first = host.prefix { $0 != "." }
        var names = [host, "\(first).local", "localhost", "larder.localhost", "127.0.0.1", "::1"]
        let devices = (try? System.enumerateDevices()) ?? []
        names += devices.compactMap { $0.address?.ipAddress }.filter {
            !$0.hasPrefix("fe80:") && !$0.hasPrefix("169.254.")
        }
        var seen: Set<HostName> = []
        return names.compactMap { try? HostName($0) }.filter { seen.insert($0).inserted }
    }
}

package import Foundation
package import NIOSSL
import Server

/// An authority of a test's own with a certificate for the loopback interface, and clients that trust it.
package struct TestAuthority: Sendable {
    private let folder: CertificateFolder
    /// Its files; they go with the last owner.
    private let temporary: TemporaryFolder

    /// Makes both, valid from now on.
    package init(names: [String] = ["localhost", "127.0.0.1"]) throws {
        temporary = TemporaryFolder.unmade()
        folder = CertificateFolder(temporary.url)
        try renew(names: names, renews: false)
    }

    /// Replaces the certificate.
    package func renew(names: [String], renews: Bool = true) throws {
        let names = try names.map { try HostName($0) }
        _ = try folder.make(names: names, renews: renews, authorityName: "test", now: Date())
    }

    /// The file of the certificate.
    package var certificate: URL { folder.server.certificate }
    /// The file of its key.
    package var key: URL { folder.server.key }

    /// Settings with which `larder serve` uses the certificate.
    package var settings: [String] { ["--http-tls-certificate", certificate.path, "--http-tls-key", key.path] }

    /// Returns the TLS context of a server with the certificate.
    package func context() throws -> NIOSSLContext {
        try ServerCertificate(folder.server, protocols: ["h2", "http/1.1"], now: Date()).context
    }

    /// The configuration of a client that trusts this authority only.
    ///
    /// - Parameter version: The one version that it speaks; nil for all.
    package func client(version: TLSVersion? = nil) -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.trustRoots = .file(folder.authority.certificate.path)
        configuration.minimumTLSVersion = version ?? .tlsv1
        configuration.maximumTLSVersion = version
        return configuration
    }
}

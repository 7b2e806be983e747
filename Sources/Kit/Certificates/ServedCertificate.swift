package import Foundation
import Synchronization

/// The certificate that new connections get, until it is read again.
package final class ServedCertificate: Sendable {
    private let files: CertificateFiles
    private let protocols: [String]
    private let served: Mutex<ServerCertificate>

    /// Reads the files.
    ///
    /// - Parameters:
    ///   - protocols: What is offered by ALPN, the preferred one first.
    ///   - now: The time at which it has to be valid.
    /// - Throws: `CertificateError` if the certificate cannot be served.
    package init(_ files: CertificateFiles, protocols: [String], now: Date) throws(CertificateError) {
        self.files = files
        self.protocols = protocols
        served = Mutex(try ServerCertificate(files, protocols: protocols, now: now))
    }

    /// What is served now.
    package var current: ServerCertificate { served.withLock { $0 } }

    /// Reads the files again. Connections that are open keep what they have.
    ///
    /// - Throws: `CertificateError` if what the files have now cannot be served; then all stays as it was.
    package func reload(now: Date) throws(CertificateError) {
        let next = try ServerCertificate(files, protocols: protocols, now: now)
        served.withLock { $0 = next }
    }
}

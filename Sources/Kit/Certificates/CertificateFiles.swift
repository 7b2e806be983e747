package import Foundation

/// The files of a TLS certificate and its key, as `http.tls_certificate` and `http.tls_key` name them.
package struct CertificateFiles: Sendable, Equatable {
    /// Larger files are no certificates.
    static let largest = 1 << 20

    /// The certificate of the server, then those that lead to its authority (PEM).
    package let certificate: URL
    /// Its private key (PEM).
    package let key: URL

    /// Names the two files.
    package init(certificate: URL, key: URL) {
        self.certificate = certificate
        self.key = key
    }

    /// Returns the text of a file.
    static func text(of file: URL) throws(CertificateError) -> String {
        let values: URLResourceValues
        let data: Data
        do {
            values = try file.resolvingSymlinksInPath().resourceValues(forKeys: [.isRegularFileKey, .fileSizeKey])
            guard values.isRegularFile == true else { throw CertificateError.unreadable(file, "is not a file") }
            guard values.fileSize ?? 0 <= largest else { throw CertificateError.unreadable(file, "is too large") }
            data = try Data(contentsOf: file)
        } catch let error as CertificateError {
            throw error
        } catch CocoaError.fileNoSuchFile, CocoaError.fileReadNoSuchFile {
            throw .unreadable(file, "does not exist")
        } catch CocoaError.fileReadNoPermission {
            throw .unreadable(file, "may not be read by this user")
        } catch {
            throw .unreadable(file, "cannot be read: \(error.localizedDescription)")
        }
        return String(decoding: data, as: UTF8.self)
    }

    /// Whether every user of the machine may read the key.
    var isKeyPublic: Bool {
        let attributes = try? FileManager.default.attributesOfItem(atPath: key.resolvingSymlinksInPath().path)
        return (attributes?[.posixPermissions] as? Int).map { $0 & 0o004 != 0 } ?? false
    }
}

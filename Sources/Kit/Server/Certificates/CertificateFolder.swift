package import Foundation

/// A folder with a private authority and a certificate of it for this server, in PEM files.
package struct CertificateFolder: Sendable {
    package struct Made: Sendable {
        /// Whether the authority is new: clients do not trust it yet.
        package let isAuthorityNew: Bool
        /// The name of the authority on devices.
        package let authority: String
        /// SHA-256 of the authority's certificate, as devices show it.
        package let fingerprint: String
        package let names: [String]
        /// When it expires.
        package let notAfter: Date
    }

    package let url: URL

    package init(_ url: URL) {
        self.url = url
    }

    /// The authority: its certificate is for clients, its key is private.
    package var authority: CertificateFiles {
        CertificateFiles(certificate: url.appending(path: "authority.crt"), key: url.appending(path: "authority.key"))
    }

    package var server: CertificateFiles {
        CertificateFiles(certificate: url.appending(path: "server.crt"), key: url.appending(path: "server.key"))
    }

    /// Makes a certificate for the server, and before it the authority if there is none.
    ///
    /// - Parameters:
    ///   - names: The names of the certificate; nil for those of its predecessor, or else of this machine.
    ///   - renews: Whether an existing certificate is replaced. An authority never is.
    ///   - authorityName: The name of a new authority on devices.
    /// - Throws: `CertificateError`; then nothing was replaced.
    package func make(names: [HostName]?, renews: Bool, authorityName: String, now: Date) throws(CertificateError)
        -> Made
    {
        let earlier = try namesBefore(renews: renews)
        let (authority, isNew) = try authority(named: authorityName, now: now)
        let names = names ?? earlier ?? HostName.ofThisMachine()
        do {
            let issued = try authority.issue(names, now: now)
            try write(issued, to: server, replaces: renews)
            let made = try ServerCertificate(server, protocols: [], now: now)
            return Made(
                isAuthorityNew: isNew,
                authority: authority.name,
                fingerprint: try authority.fingerprint,
                names: made.names.all,
                notAfter: made.notAfter
            )
        } catch let error as CertificateError {
            throw error
        } catch {
            throw .unwritable(server.certificate, "\(error)")
        }
    }

    /// Returns the names of the certificate that is to be replaced, expired or not; nil if there is none.
    private func namesBefore(renews: Bool) throws(CertificateError) -> [HostName]? {
        for file in [server.certificate, server.key] where FileManager.default.fileExists(atPath: file.path) {
            guard renews else { throw .exists(file) }
        }
        guard renews, FileManager.default.fileExists(atPath: server.certificate.path) else { return nil }
        let names = CertificateNames(try ServerCertificate.chain(in: server.certificate)[0]).all
        return try names.map { name throws(CertificateError) in try HostName(name) }
    }

    private func authority(named name: String, now: Date) throws(CertificateError) -> (LocalAuthority, isNew: Bool) {
        let files = [authority.certificate, authority.key]
        if files.contains(where: { FileManager.default.fileExists(atPath: $0.path) }) {
            return (try LocalAuthority(authority), false)
        }
        do {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
            let made = try LocalAuthority(named: name, now: now)
            try write(try made.pem, to: authority, replaces: false)
            return (made, true)
        } catch let error as CertificateError {
            throw error
        } catch {
            throw .unwritable(authority.certificate, error.localizedDescription)
        }
    }

    private func write(_ pem: (certificate: String, key: String), to files: CertificateFiles, replaces: Bool)
        throws(CertificateError)
    {
        do throws(PrivateFile.Failure) {
            try PrivateFile.write(
                [
                    PrivateFile(at: files.key, Self.lines(pem.key)),
                    PrivateFile(at: files.certificate, Self.lines(pem.certificate), mode: 0o644),
                ],
                replaces: replaces
            )
        } catch {
            switch error {
            case .exists(let file): throw .exists(file)
            case .unwritable(let file, let reason): throw .unwritable(file, reason)
            }
        }
    }

    private static func lines(_ text: String) -> Data { Data((text.hasSuffix("\n") ? text : text + "\n").utf8) }
}

/// The files of a TLS certificate and its key, as `http.tls_certificate` and `http.tls_key` name them.
package struct CertificateFiles: Sendable, Equatable {
    /// Larger files are no certificates.
    static let largest = 1 << 20

    /// The certificate chain (PEM): the server's certificate, then those between it and its authority.
    package let certificate: URL
    package let key: URL

    package init(certificate: URL, key: URL) {
        self.certificate = certificate
        self.key = key
    }

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

/// Why a certificate and its key cannot be used, or were not made.
package enum CertificateError: Error, Equatable, CustomStringConvertible {
    /// The file is not there, or not readable.
    case unreadable(URL, String)
    /// The file has nothing of this kind in PEM.
    case noPEM(URL, String)
    /// The file has PEM of this kind with other content, or of a kind that is not used here.
    case malformed(URL, String)
    case encryptedKey(URL)
    /// The key is that of another certificate.
    case keyDoesNotFit(key: URL, certificate: URL)
    /// The key fits a certificate of the file, but not the first one.
    case wrongOrder(URL)
    /// The certificate is not valid any more.
    case expired(URL, Date)
    /// The certificate is not valid yet.
    case notYetValid(URL, Date)
    /// Names of hosts are only believed as alternative names (RFC 9110 §4.3.4).
    case noNames(URL)
    /// A name or an address that no certificate can have.
    case unusableName(String)
    /// The file exists, and replacing it was not requested.
    case exists(URL)
    case unwritable(URL, String)

    package var description: String {
        switch self {
        case .unreadable(let file, let reason): "\(file.path) \(reason)"
        case .noPEM(let file, let kind): "\(file.path) has no \(kind) in PEM form"
        case .malformed(let file, let kind): "\(file.path) has a \(kind) that cannot be used: it is damaged or unusual"
        case .encryptedKey(let file):
            "the key in \(file.path) needs a passphrase; store it without one, readable by its owner only"
        case .keyDoesNotFit(let key, let certificate):
            "the key in \(key.path) is not that of the certificate in \(certificate.path)"
        case .wrongOrder(let file): "\(file.path) has to begin with the certificate of the server"
        case .expired(let file, let date): "the certificate in \(file.path) has expired on \(Self.text(of: date))"
        case .notYetValid(let file, let date):
            "the certificate in \(file.path) is not valid before \(Self.text(of: date)); is the clock right?"
        case .noNames(let file):
            "the certificate in \(file.path) has no alternative names (SAN), so no client would accept it"
        case .unusableName(let name): "\"\(name)\" is neither a host name nor an address"
        case .exists(let file): "\(file.path) exists already"
        case .unwritable(let file, let reason): "\(file.path) cannot be written: \(reason)"
        }
    }

    /// Returns a date for sentences, such as `2026-11-28 (UTC)`.
    package static func text(of date: Date) -> String {
        date.formatted(.iso8601.year().month().day().dateSeparator(.dash)) + " (UTC)"
    }
}

/// A file that appears complete or not at all, and never with wider permissions than given.
package struct PrivateFile: Sendable {
    /// Why a file is not there.
    package enum Failure: Error, Equatable {
        /// It exists, and is not to be replaced.
        case exists(URL)
        /// It cannot be written, by the system's reason.
        case unwritable(URL, String)
    }

    private let url: URL
    private let bytes: Data
    private let mode: mode_t

    /// - Parameters:
    ///   - url: Where it is to be. Beside it, files whose names begin with its own are written.
    ///   - mode: Its permissions, as for chmod(2).
    package init(at url: URL, _ bytes: Data, mode: mode_t = 0o600) {
        self.url = url
        self.bytes = bytes
        self.mode = mode
    }

    // Includes the process, since another one may write the same file.
    private var draft: String { "\(url.path).new\(getpid())" }

    /// Writes the file.
    ///
    /// - Parameter replaces: Whether an existing file is replaced.
    /// - Throws: `Failure`; then nothing was written.
    package func write(replaces: Bool) throws(Failure) { try Self.write([self], replaces: replaces) }

    /// Writes files that belong together: the first takes its place when all are written.
    ///
    /// - Parameter replaces: Whether existing files are replaced.
    /// - Throws: `Failure`.
    package static func write(_ files: [PrivateFile], replaces: Bool) throws(Failure) {
        defer { for file in files { unlink(file.draft) } }
        for file in files { try file.writeDraft() }
        for file in files {
            let result = replaces ? rename(file.draft, file.url.path) : link(file.draft, file.url.path)
            guard result == 0 else { throw errno == EEXIST ? .exists(file.url) : file.failure }
        }
    }

    private var failure: Failure { .unwritable(url, String(cString: strerror(errno))) }

    private func writeDraft() throws(Failure) {
        unlink(draft)
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure }
        defer { close(descriptor) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { throw failure }
            rest = rest.dropFirst(count)
        }
        guard fchmod(descriptor, mode) == 0, fsync(descriptor) == 0 else { throw failure }
    }
}

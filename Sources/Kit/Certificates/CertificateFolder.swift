package import Foundation
import PrivateFiles

/// A folder with an authority of one's own and a certificate of it for this server, in PEM files.
package struct CertificateFolder: Sendable {
    /// What was made.
    package struct Made: Sendable {
        /// Whether the authority is new: clients do not trust it yet.
        package let isAuthorityNew: Bool
        /// What devices show the authority as.
        package let authority: String
        /// SHA-256 of the authority's certificate, as devices show it.
        package let fingerprint: String
        /// What the certificate is for.
        package let names: [String]
        /// The last moment at which it is valid.
        package let notAfter: Date
    }

    /// The folder.
    package let url: URL

    /// The folder at an address.
    package init(_ url: URL) {
        self.url = url
    }

    /// The authority: its certificate is for clients, its key is private.
    package var authority: CertificateFiles {
        CertificateFiles(certificate: url.appending(path: "authority.crt"), key: url.appending(path: "authority.key"))
    }

    /// What the server gets.
    package var server: CertificateFiles {
        CertificateFiles(certificate: url.appending(path: "server.crt"), key: url.appending(path: "server.key"))
    }

    /// Makes a certificate for the server, and before it the authority if there is none.
    ///
    /// - Parameters:
    ///   - names: What the certificate is for; nil for the names of the one before it, or else of this machine.
    ///   - renews: Whether an existing certificate is replaced. An authority never is.
    ///   - authorityName: What devices show a new authority as.
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

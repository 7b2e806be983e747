import Foundation

/// A file that appears complete or not at all, and never with wider permissions than given.
struct PrivateFile {
    /// Where it is to be.
    let url: URL
    /// Its content.
    let text: String
    /// Who may do what with it.
    let mode: mode_t

    private var draft: String { url.path + ".new" }

    /// Writes files that belong together: the first takes its place when all are written.
    ///
    /// - Parameter replaces: Whether existing files are replaced.
    static func write(_ files: [PrivateFile], replaces: Bool) throws(CertificateError) {
        defer { for file in files { unlink(file.draft) } }
        for file in files { try file.writeDraft() }
        for file in files {
            let result = replaces ? rename(file.draft, file.url.path) : link(file.draft, file.url.path)
            guard result == 0 else { throw errno == EEXIST ? .exists(file.url) : file.failure }
        }
    }

    private var failure: CertificateError { .unwritable(url, String(cString: strerror(errno))) }

    private func writeDraft() throws(CertificateError) {
        unlink(draft)
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure }
        defer { close(descriptor) }
        var bytes = Array((text.hasSuffix("\n") ? text : text + "\n").utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { throw failure }
            bytes = bytes.dropFirst(count)
        }
        guard fchmod(descriptor, mode) == 0, fsync(descriptor) == 0 else { throw failure }
    }
}

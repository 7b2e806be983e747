package import Foundation

/// A file that appears complete or not at all, and never with wider permissions than given.
package struct PrivateFile: Sendable {
    /// Why a file is not there.
    package enum Failure: Error, Equatable {
        /// It exists, and is not to be replaced.
        case exists(URL)
        /// It cannot be written, by the system's reason.
        case unwritable(URL, String)
    }

    /// Where it is to be.
    private let url: URL
    private let bytes: Data
    private let mode: mode_t

    /// Describes a file.
    ///
    /// - Parameters:
    ///   - url: Where it is to be. Beside it, files whose names begin with its own are written.
    ///   - mode: Its permissions, as for chmod(2).
    package init(at url: URL, _ bytes: Data, mode: mode_t = 0o600) {
        self.url = url
        self.bytes = bytes
        self.mode = mode
    }

    // Another process may write the same file.
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

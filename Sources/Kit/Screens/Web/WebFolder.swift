import Foundation
import Storage

/// A folder whose files are served as those of the front end.
package struct WebFolder: Sendable {
    /// The folder of `web.directory` cannot be used.
    package struct Unusable: Error, CustomStringConvertible {
        let path: String

        /// One line, for the person who set it.
        package var description: String {
            "web.directory: \(path) is no folder that can be read with an \(WebAssets.shellName) in it"
        }
    }

    /// Largest file that is read, in bytes.
    private static let largest = 8 << 20

    private let url: URL

    init(_ url: URL) throws {
        self.url = url
        guard try file(WebAssets.shellName) != nil else { throw Unusable(path: url.path) }
    }

    /// Returns the bytes of a file; nil if the folder has no regular file of this name. Symbolic links are not
    /// followed, so nothing outside of the folder is served.
    ///
    /// - Throws: `CocoaError` if the file cannot be read.
    func file(_ name: String) throws -> Data? {
        guard WebFileType.isName(name) else { return nil }
        let path = url.appending(path: name).path
        // Reading must not wait for something that is no file, such as a pipe.
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else {
            if [ENOENT, ENOTDIR, ELOOP].contains(errno) { return nil }
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        guard let length = OpenFile.regularLength(descriptor), length <= Self.largest else { return nil }
        return try handle.readToEnd() ?? Data()
    }
}

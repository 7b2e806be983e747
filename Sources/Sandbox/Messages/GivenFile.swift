import Foundation

/// A file with a text that a person names by its path.
package enum GivenFile {
    /// Why it cannot be read.
    package enum Defect: Error, Equatable {
        case missing
        case forbidden
        case notRead
        /// It has more bytes than that.
        case tooLong(Int)
        case notText
    }

    /// Reads a file, or a pipe to its end.
    ///
    /// - Parameters:
    ///   - limit: The most bytes that it may have.
    ///   - pipes: Whether pipes and devices are read, which may have no end, or none yet.
    package static func text(_ path: String, atMost limit: Int, pipes: Bool) throws(Defect) -> String {
        var status = stat()
        guard stat(path, &status) == 0 else { throw defect(errno) }
        let isRegular = status.st_mode & S_IFMT == S_IFREG
        guard isRegular || (pipes && status.st_mode & S_IFMT != S_IFDIR) else { throw .notRead }
        if isRegular, Int(status.st_size) > limit { throw .tooLong(limit) }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw defect(errno) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(descriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw defect(errno) }
            if count == 0 { break }
            bytes += piece[..<count]
            guard bytes.count <= limit else { throw .tooLong(limit) }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .notText }
        return text
    }

    private static func defect(_ code: Int32) -> Defect {
        switch code {
        case ENOENT, ENOTDIR: .missing
        case EACCES, EPERM: .forbidden
        default: .notRead
        }
    }
}

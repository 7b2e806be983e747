import Crypto
import Foundation
import Hummingbird
import NIOCore
import Synchronization

/// A request body of any length, with its digests. A short one is kept in memory, a longer one in a file.
struct ReceivedBody: Sendable {
    /// Maximum size of a body that is kept in memory, in bytes.
    static let inMemory = 1 << 20

    let source: any ByteSource
    /// Hexadecimal.
    let md5: String
    let sha256: String

    var count: Int { source.count }

    /// Reads a body while it is received.
    /// - Throws: The error that ends the connection before the body; errors of the file system.
    static func receive(_ body: some AsyncSequence<ByteBuffer, any Error>) async throws -> ReceivedBody {
        var md5 = Insecure.MD5()
        var sha256 = SHA256()
        var start: [UInt8] = []
        var file: TemporaryFile?
        for try await buffer in body {
            let part = Array(buffer.readableBytesView)
            md5.update(data: part)
            sha256.update(data: part)
            if file == nil, start.count + part.count > inMemory {
                let created = try TemporaryFile()
                try created.append(start)
                start = []
                file = created
            }
            if let file { try file.append(part) } else { start += part }
        }
        return make(start, file, md5: Hexadecimal.text(md5.finalize()), sha256: Hexadecimal.text(sha256.finalize()))
    }

    init(_ bytes: [UInt8]) {
        self = Self.make(
            bytes,
            nil,
            md5: Hexadecimal.text(Insecure.MD5.hash(data: bytes)),
            sha256: Hexadecimal.text(SHA256.hash(data: bytes))
        )
    }

    private init(source: any ByteSource, md5: String, sha256: String) {
        self.source = source
        self.md5 = md5
        self.sha256 = sha256
    }

    private static func make(_ bytes: [UInt8], _ file: TemporaryFile?, md5: String, sha256: String) -> ReceivedBody {
        let source: any ByteSource =
            file.map { FileBytes(file: $0, count: $0.count, identity: sha256) }
            ?? BytesInMemory(content: bytes, identity: sha256)
        return ReceivedBody(source: source, md5: md5, sha256: sha256)
    }
}

/// The bytes of a file that is removed with the last copy of this value.
private struct FileBytes: ByteSource {
    let file: TemporaryFile
    let count: Int
    let identity: String

    func bytes(in range: Range<Int>) throws -> [UInt8] { try file.read(range) }
}

/// Bytes that can be read in parts, at any offset and repeatedly: the body of a file that is too long for memory.
protocol ByteSource: Sendable {
    var count: Int { get }
    /// Equal for sources of equal bytes.
    var identity: String { get }

    /// - Parameter range: within `0..<count`.
    func bytes(in range: Range<Int>) throws -> [UInt8]
}

/// A part of a source as the body of a response, read while it is sent.
struct StreamedBody: Sendable, Equatable {
    /// Number of bytes that are read at a time.
    static let chunk = 1 << 16

    let source: any ByteSource
    let range: Range<Int>

    static func == (left: StreamedBody, right: StreamedBody) -> Bool {
        left.source.identity == right.source.identity && left.range == right.range
    }
}

extension UpstreamResponse {
    /// Sends a part of the body with back-pressure.
    func write(_ part: Range<Int>, to writer: inout any ResponseBodyWriter) async throws {
        guard let stream else { return try await writer.write(ByteBuffer(bytes: body[part])) }
        let end = stream.range.lowerBound + part.upperBound
        var next = stream.range.lowerBound + part.lowerBound
        while next < end {
            let upper = min(next + StreamedBody.chunk, end)
            try await writer.write(ByteBuffer(bytes: try stream.source.bytes(in: next..<upper)))
            next = upper
        }
    }
}

struct BytesInMemory: ByteSource {
    let content: [UInt8]
    let identity: String

    var count: Int { content.count }

    func bytes(in range: Range<Int>) -> [UInt8] { Array(content[range]) }
}

/// A file without a name: it is removed when its last descriptor is closed, even if the process is killed.
final class TemporaryFile: Sendable {
    /// A call of the system that failed.
    struct Failure: Error, CustomStringConvertible {
        let call: String
        let code: CInt

        var description: String { "\(call) of a temporary file failed: errno \(code)" }
    }

    private let descriptor: CInt
    private let length = Mutex(0)

    init() throws {
        var path = Array(
            FileManager.default.temporaryDirectory.appending(path: "larder-sandbox-XXXXXX").path.utf8CString
        )
        descriptor = mkstemp(&path)
        guard descriptor >= 0 else { throw Failure(call: "mkstemp", code: errno) }
        unlink(path)
        // Child processes must not inherit it.
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    deinit { close(descriptor) }

    var count: Int { length.withLock { $0 } }

    func append(_ bytes: [UInt8]) throws {
        try length.withLock { length in
            try bytes.withUnsafeBytes { buffer in
                var done = 0
                while done < buffer.count {
                    let written = pwrite(
                        descriptor,
                        buffer.baseAddress?.advanced(by: done),
                        buffer.count - done,
                        off_t(length)
                    )
                    guard written > 0 else { throw Failure(call: "pwrite", code: errno) }
                    done += written
                    length += written
                }
            }
        }
    }

    func read(_ range: Range<Int>) throws -> [UInt8] {
        var code: CInt = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: range.count) { buffer, count in
            count = 0
            while count < range.count {
                let got = pread(
                    descriptor,
                    buffer.baseAddress?.advanced(by: count),
                    range.count - count,
                    off_t(range.lowerBound + count)
                )
                guard got > 0 else {
                    code = got < 0 ? errno : EIO
                    return
                }
                count += got
            }
        }
        guard code == 0 else { throw Failure(call: "pread", code: code) }
        return bytes
    }
}

/// Reads a file that a person names by its path.
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
        let bytes = try Self.bytes(path, atMost: limit, pipes: pipes)
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .notText }
        return text
    }

    /// Reads a file of any bytes, as ``text(_:atMost:pipes:)``.
    static func bytes(_ path: String, atMost limit: Int, pipes: Bool) throws(Defect) -> [UInt8] {
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
        return bytes
    }

    private static func defect(_ code: Int32) -> Defect {
        switch code {
        case ENOENT, ENOTDIR: .missing
        case EACCES, EPERM: .forbidden
        default: .notRead
        }
    }
}

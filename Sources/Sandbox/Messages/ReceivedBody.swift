import Crypto
import Hummingbird
import NIOCore

/// A request body of any length, with its digests. A short one is kept in memory, a longer one in a file.
struct ReceivedBody: Sendable {
    /// Maximum size of a body that is kept in memory, in bytes.
    static let inMemory = 1 << 20

    let source: any ByteSource
    /// Hexadecimal.
    let md5: String
    let sha256: String

    var count: Int { source.count }

    /// Reads a body as it arrives.
    /// - Throws: What ends the connection before the body; errors of the file system.
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

    /// Creates a body of bytes.
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

/// Bytes of a file that lives as long as this does.
private struct FileBytes: ByteSource {
    let file: TemporaryFile
    let count: Int
    let identity: String

    func bytes(in range: Range<Int>) throws -> [UInt8] { try file.read(range) }
}

import CZlib
import Concurrency
import Database
import Foundation
import HummingbirdCore
import NIOCore

/// The entries of an archive with what their bytes are read from. What it sends has a length that is known
/// before, and takes a bounded part of the memory.
struct ZipContent: Sendable {
    /// Where the bytes of an entry are.
    enum Source: Sendable {
        case file(TemporaryPath)
        case content(FileContent)
    }

    /// An entry, and what its bytes are read from.
    struct Part: Sendable {
        var entry: ZipFormat.Entry
        let source: Source
    }

    private let parts: [Part]
    private let format: ZipFormat

    init(parts: [Part], format: ZipFormat) {
        var (placed, offset): ([Part], UInt64) = ([], 0)
        for var part in parts {
            part.entry.offset = offset
            offset += UInt64(format.localHeader(part.entry).count) + part.entry.packedLength
            placed.append(part)
        }
        self.parts = placed
        self.format = format
    }

    /// The number of bytes. Checksums, which are not known yet, have a fixed width.
    var length: Int {
        let directory = parts.reduce(0) { $0 + format.directoryHeader($1.entry).count }
        return Int(directoryStart) + directory + end(directory).count
    }

    private var directoryStart: UInt64 {
        guard let last = parts.last?.entry else { return 0 }
        return last.offset + UInt64(format.localHeader(last).count) + last.packedLength
    }

    private func end(_ length: Int) -> Data {
        format.end(count: parts.count, directoryAt: directoryStart, length: UInt64(length))
    }

    /// The archive as a body.
    var body: ResponseBody {
        ResponseBody(contentLength: length) { writer in
            try await write { try await writer.write(ByteBuffer(bytes: $0)) }
            try await writer.finish(nil)
        }
    }

    /// Writes the archive in pieces.
    ///
    /// - Throws: what `send` throws, and the errors of reading.
    func write(to send: (Data) async throws -> Void) async throws {
        var directory = Data()
        for part in parts {
            var entry = part.entry
            if entry.method == .stored { entry.checksum = try await Self.checksum(of: part) }
            try await send(format.localHeader(entry))
            try await Self.forEachChunk(of: part, send)
            directory += format.directoryHeader(entry)
        }
        try await send(directory + end(directory.count))
    }

    /// It precedes the bytes, so that they are read twice: not all programs take one that follows them.
    private static func checksum(of part: Part) async throws -> UInt32 {
        var checksum = crc32(0, nil, 0)
        try await forEachChunk(of: part) { chunk in
            checksum = chunk.withUnsafeBytes { bytes in
                crc32(checksum, bytes.bindMemory(to: UInt8.self).baseAddress, UInt32(bytes.count))
            }
            await Task.yield()
        }
        return UInt32(truncatingIfNeeded: checksum)
    }

    private static func forEachChunk(of part: Part, _ body: (Data) async throws -> Void) async throws {
        let length = Int(part.entry.packedLength)
        switch part.source {
        case .file(let place): try await forEachChunk(of: place, length: length, body)
        case .content(let content):
            for try await chunk in try content.parts(0..<length) { try await body(Data(chunk.readableBytesView)) }
        }
    }

    private static func forEachChunk(
        of place: TemporaryPath,
        length: Int,
        _ body: (Data) async throws -> Void
    ) async throws {
        let file = try FileHandle(forReadingFrom: URL(filePath: place.path))
        defer { try? file.close() }
        var rest = length
        while rest > 0 {
            try Task.checkCancellation()
            guard let chunk = try file.read(upToCount: min(rest, 1 << 16)), !chunk.isEmpty else {
                throw StorageError.system(EIO, path: place.path, operation: "read")
            }
            try await body(chunk)
            rest -= chunk.count
        }
    }
}

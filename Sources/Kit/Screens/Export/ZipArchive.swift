import CZlib
import Concurrency
package import Foundation
import HummingbirdCore
import NIOCore
package import Storage

/// An archive of the data that is stored now, sent later. Texts are compressed into files of the request. Files of
/// documents get a second name, so that they can be sent even if they are deleted meanwhile. It takes a bounded part of
/// the memory.
package final class ZipArchive {
    private let scratch: ScratchFolder
    private let blobs: BlobStore
    private let modified: Date
    private var names = FileNames()
    private(set) var parts: [ZipContent.Part] = []

    /// The paths of the entries so far.
    package var paths: [String] { parts.map(\.entry.name) }

    /// - Parameter modified: the time of texts.
    init(in scratch: ScratchFolder, blobs: BlobStore, modified: Date) {
        self.scratch = scratch
        self.blobs = blobs
        self.modified = modified
    }

    /// Begins a text, which ``add(_:as:)`` ends.
    ///
    /// - Throws: `StorageError`, or that zlib could not compress.
    package func text() throws -> ZipText { try ZipText(scratch.file()) }

    /// Adds a text as a file. Nothing may be appended to it later.
    ///
    /// - Throws: `StorageError`, or that zlib could not compress.
    package func add(_ text: ZipText, as path: String) throws {
        try text.finish()
        let entry = ZipFormat.Entry(
            name: path,
            method: .deflated,
            modified: modified,
            length: UInt64(text.length),
            packedLength: UInt64(text.file.length),
            checksum: UInt32(truncatingIfNeeded: text.checksum)
        )
        parts.append(ZipContent.Part(entry: entry, source: .file(text.file.place)))
    }

    /// Adds a value as JSON.
    ///
    /// - Throws: `EncodingError`, `StorageError`, or that zlib could not compress.
    package func add(json value: some Encodable, as path: String) throws {
        try add(json: value, as: path, level: 6)
    }

    /// - Parameter level: of the compression; 0 for a length that depends on nothing but that of the text.
    func add(json value: some Encodable, as path: String, level: Int32) throws {
        let text = try ZipText(scratch.file(), level: level)
        try text.append(WireFormat.encode(value))
        try add(text, as: path)
    }

    /// Adds a stored file under a name that all systems take and no other file of the folder has.
    ///
    /// - Parameter name: without its ending.
    /// - Returns: its path in the archive.
    /// - Throws: `StorageError`.
    package func add(_ blob: Blob, in folder: String, name: String, ending: String, modified: Date) throws -> String {
        let path = "\(folder)/\(names.unused(name, ending: ending))"
        let length = UInt64(blob.length)
        let entry = ZipFormat.Entry(
            name: path,
            method: .stored,
            modified: modified,
            length: length,
            packedLength: length
        )
        do {
            parts.append(ZipContent.Part(entry: entry, source: .file(try blobs.hold(blob, in: scratch))))
        } catch StorageError.blobUnavailable {
            parts.append(ZipContent.Part(entry: entry, source: .blob(blob)))
        }
        return path
    }

    /// Opens the files that this server lacks, and others have. They are read when the archive is sent.
    func open(_ content: (Blob) async throws -> FileContent) async throws {
        for index in parts.indices {
            guard case .blob(let blob) = parts[index].source else { continue }
            parts[index].source = .content(try await content(blob))
        }
    }

    func finished(_ format: ZipFormat = ZipFormat()) -> ZipContent { ZipContent(parts: parts, format: format) }
}

/// The entries of an archive with the sources of their bytes. Its length is known before, and it takes a bounded part
/// of the memory.
struct ZipContent: Sendable {
    /// Where the bytes of an entry are.
    enum Source: Sendable {
        case file(TemporaryPath)
        case content(FileContent)
        /// A file that is not opened yet.
        case blob(Blob)
    }

    /// An entry, and the source of its bytes.
    struct Part: Sendable {
        var entry: ZipFormat.Entry
        var source: Source
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

    var body: ResponseBody {
        ResponseBody(contentLength: length) { writer in
            try await write { try await writer.write(ByteBuffer(bytes: $0)) }
            try await writer.finish(nil)
        }
    }

    /// Writes the archive in pieces.
    ///
    /// - Throws: the errors of `send` and of reading.
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

    /// The checksum precedes the bytes, which are therefore read twice: not all programs accept one that follows them.
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
        case .file(let place): try await place.forEachChunk(of: length, body)
        case .content(let content):
            for try await chunk in try content.parts(0..<length) { try await body(Data(chunk.readableBytesView)) }
        case .blob(let blob): throw StorageError.blobUnavailable(blob.id)
        }
    }
}

/// A text of an archive while it is written: compressed into a file, so that its length does not matter.
package final class ZipText {
    /// zlib could not compress.
    struct Failure: Error {
        /// zlib's return code.
        let code: Int32
    }

    let file: ScratchFile
    private let stream: UnsafeMutablePointer<z_stream>
    private var pending: [UInt8] = []
    private(set) var checksum: UInt = crc32(0, nil, 0)
    private(set) var length = 0

    /// Bytes that are compressed together.
    private static let chunk = 1 << 16

    /// - Parameter level: of the compression, from 0 to 9.
    init(_ file: ScratchFile, level: Int32 = 6) throws {
        self.file = file
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        // Negative window bits: deflate without a wrapper (zlib.h).
        let size = Int32(MemoryLayout<z_stream>.size)
        let code = deflateInit2_(stream, level, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size)
        guard code == Z_OK else { throw Failure(code: code) }
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    /// - Throws: `StorageError`, or that zlib could not compress.
    package func append(_ bytes: some Sequence<UInt8>) throws {
        pending += bytes
        if pending.count >= Self.chunk { try compress(Z_NO_FLUSH) }
    }

    /// - Throws: `StorageError`, or that zlib could not compress.
    package func append(_ text: String) throws { try append(text.utf8) }

    func finish() throws { try compress(Z_FINISH) }

    private func compress(_ flush: Int32) throws {
        var output = [UInt8](repeating: 0, count: Self.chunk)
        try pending.withUnsafeMutableBufferPointer { source in
            checksum = crc32(checksum, source.baseAddress, UInt32(source.count))
            length += source.count
            stream.pointee.next_in = source.baseAddress
            stream.pointee.avail_in = UInt32(source.count)
            var isFull = true
            while isFull {
                let written = try output.withUnsafeMutableBufferPointer { target in
                    stream.pointee.next_out = target.baseAddress
                    stream.pointee.avail_out = UInt32(target.count)
                    let code = deflate(stream, flush)
                    guard code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR else {
                        throw Failure(code: code)
                    }
                    return target.count - Int(stream.pointee.avail_out)
                }
                try file.append(output[..<written])
                isFull = written == output.count
            }
        }
        pending.removeAll(keepingCapacity: true)
    }
}

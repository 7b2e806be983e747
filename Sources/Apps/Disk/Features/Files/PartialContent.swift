import Crypto
import Foundation
import NIOCore
import Storage
import Upstream

/// The beginning of a content that is being fetched, with its checksums so far. It survives a connection that breaks
/// off, and not the process: without a row it leaves nothing.
struct PartialContent: Sendable {
    /// Version of the file that it belongs to.
    let version: String
    /// Entity tag of the response that it came from, for `If-Range`.
    var tag: String?
    /// Bytes so far.
    private(set) var received = 0
    private let writer: BlobWriter
    private var md5 = Insecure.MD5()
    private var sha256 = SHA256()

    /// Creates an empty content.
    ///
    /// - Throws: `StorageError`.
    init(version: String, in blobs: BlobStore) throws {
        self.version = version
        writer = try blobs.writer()
    }

    /// Appends bytes.
    ///
    /// - Throws: `StorageError`; nothing can be appended afterwards.
    mutating func append(_ part: ByteBuffer) throws {
        try part.withUnsafeReadableBytes { bytes in
            try writer.append(bytes)
            md5.update(bufferPointer: bytes)
            sha256.update(bufferPointer: bytes)
        }
        received += part.readableBytes
    }

    /// Ends the content.
    ///
    /// - Returns: The content, which is removed again unless a row names it.
    /// - Throws: `FileKeeper.WrongContent` if it has another checksum than the API gives; `StorageError`.
    func finish(as item: DiskItem) throws -> Blob {
        // Checksums of other kinds cannot be compared: then only the length is checked.
        if let md5 = item.md5, let checksum = BodyChecksum(md5: md5), !checksum.matches(self.md5) {
            throw FileKeeper.WrongContent()
        }
        if let expected = item.sha256?.lowercased(), expected.utf8.count == 64, expected != sha256.hexadecimal {
            throw FileKeeper.WrongContent()
        }
        return try writer.finish(expectedLength: item.size)
    }
}

extension SHA256 {
    fileprivate var hexadecimal: String {
        finalize().map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}

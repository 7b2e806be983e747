import Concurrency
import Foundation
import NIOCore
import Storage
import Upstream

/// A range of the bytes of a body.
enum FileParts {
    /// The body is not as long as it should be.
    struct WrongLength: Error {}

    /// Skips `skipping` bytes and returns the next `count`. Later bytes are not read.
    ///
    /// Reading throws ``WrongLength`` if the body ends before.
    static func stream(_ body: ByteStream, skipping: Int, count: Int) -> ByteStream {
        ByteStream {
            let iterator = body.makeAsyncIterator()
            var toSkip = skipping
            var left = count
            return {
                while left > 0 {
                    guard var part = try await iterator.next() else { throw WrongLength() }
                    let skipped = min(toSkip, part.readableBytes)
                    part.moveReaderIndex(forwardBy: skipped)
                    toSkip -= skipped
                    guard part.readableBytes > 0 else { continue }
                    let taken = part.readSlice(length: min(left, part.readableBytes)) ?? part
                    left -= taken.readableBytes
                    return taken
                }
                return nil
            }
        }
    }
}

/// Stores a file while its body passes: whole and with the right checksum, or not at all. Memory holds one part at a
/// time.
struct FileKeeper: Sendable {
    /// The bytes are not those of the announced version.
    struct WrongContent: Error {}
    /// It was not stored: the account was logged out, the file has changed, or there is no room for it.
    struct NotKept: Error {}

    let md5: String?
    let size: Int
    let limit: Int
    let blobs: BlobStore

    init(_ item: DiskItem, size: Int, limit: Int, blobs: BlobStore) {
        md5 = item.md5
        self.size = size
        self.limit = limit
        self.blobs = blobs
    }

    /// Returns a body that is stored while it is read. A wrong length or checksum ends it before its last part.
    ///
    /// - Parameters:
    ///   - save: Stores the finished body. Returns false if it is not wanted any more.
    ///   - unkept: Receives the reason if the body was not stored; an error that it throws ends the returned body.
    func keeping(
        _ body: ByteStream,
        save: @escaping @Sendable (StoredBody) async throws -> Bool,
        unkept: @escaping @Sendable (any Error) throws -> Void
    ) -> ByteStream {
        CachingBodyTee(
            to: blobs,
            expectedLength: size,
            limit: limit,
            // Some checksums are of another kind: then only the length is checked.
            checksum: md5.flatMap { BodyChecksum(md5: $0) }
        ) { body in
            guard try await save(body) else { throw NotKept() }
        }.passing(body) { outcome in
            switch outcome {
            case .stored, .tooLarge, .brokenOff: break
            case .wrongLength: throw FileParts.WrongLength()
            case .wrongChecksum: throw WrongContent()
            case .notStored(let error):
                // Asked of the task, not of the error: see the note in CachingBodyTee.
                if Task.isCancelled { throw error }
                try unkept(error)
            }
        }
    }
}

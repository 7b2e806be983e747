import Crypto
import Foundation
import NIOCore
import Storage
import Upstream

/// A range of the bytes of a body.
enum FileParts {
    /// The body is not as long as it should be.
    struct WrongLength: Error {}

    /// Skips `skipping` bytes and returns the next `count`. What follows is not read.
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
    let keeps: Bool
    let blobs: BlobStore

    init(_ item: DiskItem, size: Int, keeps: Bool, blobs: BlobStore) {
        // Some checksums are not MD5: then only the length can be compared.
        md5 = item.md5.flatMap { $0.utf8.count == 32 && $0.allSatisfy(\.isHexDigit) ? $0.lowercased() : nil }
        self.size = size
        self.keeps = keeps
        self.blobs = blobs
    }

    /// Returns a body that is stored while it is read. Its last part is returned after all is stored, so that a reader
    /// of the whole finds it in the store; a wrong checksum ends it with an error before.
    ///
    /// - Parameters:
    ///   - save: Saves the finished body; returns false if it is not wanted any more.
    ///   - unkept: Is called with the reason why it was not stored; what it throws ends the body.
    func keeping(
        _ body: ByteStream,
        save: @escaping @Sendable (StoredBody) async throws -> Bool,
        unkept: @escaping @Sendable (any Error) throws -> Void
    ) -> ByteStream {
        ByteStream {
            let iterator = body.makeAsyncIterator()
            var writer: BodyWriter? = keeps ? BodyWriter(blobs: blobs) : nil
            var hash = Insecure.MD5()
            var received = 0
            var isOver = false
            return {
                guard !isOver else { return nil }
                let part = size > 0 ? try await iterator.next() : nil
                if let part {
                    received += part.readableBytes
                    part.withUnsafeReadableBytes { hash.update(bufferPointer: $0) }
                    do {
                        try writer?.append(Data(part.readableBytesView))
                    } catch {
                        writer = nil
                        try unkept(error)
                    }
                }
                guard received >= size || part == nil else { return part }
                isOver = true
                guard received == size else { throw FileParts.WrongLength() }
                if let md5, Self.text(hash.finalize()) != md5 { throw WrongContent() }
                do {
                    guard let writer, try await save(try writer.finish(expectedLength: size)) else { throw NotKept() }
                } catch {
                    // The task is asked, not the error: optimized by Swift 6.3, a cast to CancellationError here stays
                    // on the task's stack if this closure is inlined into a loop that reads the body, and the process
                    // ends with "freed pointer was not the last allocation".
                    if Task.isCancelled { throw error }
                    if keeps { try unkept(error) }
                }
                return part
            }
        }
    }

    private static func text(_ digest: Insecure.MD5Digest) -> String {
        digest.map { byte in
            let digits = String(byte, radix: 16)
            return byte < 16 ? "0" + digits : digits
        }.joined()
    }
}

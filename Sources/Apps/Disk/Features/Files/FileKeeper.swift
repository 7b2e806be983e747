import Crypto
import Foundation
import NIOCore
import Storage
import Upstream

/// Exactly so many bytes of a body.
enum FileParts {
    /// The body is not as long as it should be.
    struct WrongLength: Error {}

    /// Leaves out `skipping` bytes and gives `count`; throws where the body ends before. What follows is not read.
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

/// Keeps a file while it passes by: in the store whole and with the right checksum, or not at all. Memory holds one
/// part at a time.
struct FileKeeper: Sendable {
    /// What came is not the version that was announced.
    struct WrongContent: Error {}
    /// It was not kept: the account has left, the file is another by now, or there is no room for it.
    struct NotKept: Error {}

    let md5: String?
    let size: Int
    let keeps: Bool
    let blobs: BlobStore

    init(_ item: DiskItem, size: Int, keeps: Bool, blobs: BlobStore) {
        // Some checksums are of another kind: then only the length can be looked at.
        md5 = item.md5.flatMap { $0.utf8.count == 32 && $0.allSatisfy(\.isHexDigit) ? $0.lowercased() : nil }
        self.size = size
        self.keeps = keeps
        self.blobs = blobs
    }

    /// A body that is kept while it is read. Its last part is given out when all is stored, so that whoever has it
    /// whole finds it in the store; a wrong checksum breaks it off before.
    ///
    /// - Parameters:
    ///   - save: makes the finished body known; false where it is not wanted any more.
    ///   - unkept: told why it was not kept; what it throws breaks the body off.
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
                    // Asked of the task, not of the error: optimized by Swift 6.3, a cast to CancellationError here
                    // keeps its place on the task's stack where this closure is inlined into a loop that reads the
                    // body, and the process ends with "freed pointer was not the last allocation".
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

package import Concurrency
package import Crypto
import NIOCore
package import Storage

/// Stores a body while it passes to a client: whole and with the right length and checksum, or not at all. Memory holds
/// at most `BlobStore/inlineLimit` bytes and the part that passes.
///
/// A body that cannot be stored is still sent to the client; `passing(_:ended:)` lets the caller decide otherwise.
package struct CachingBodyTee: Sendable {
    /// How a body ended.
    package enum Outcome: Sendable {
        case stored
        /// It is larger than the limit.
        case tooLarge
        /// It is not as long as was announced.
        case wrongLength
        /// It does not have the checksum that was announced.
        case wrongChecksum
        /// Storing failed: the error of `BodyWriter` or `save`.
        case notStored(any Error)
        /// Its source failed, which also ends the client's body.
        case brokenOff(any Error)
    }

    /// Makes a finished body known to the store. A body that it throws for is discarded.
    package typealias Save = @Sendable (StoredBody) async throws -> Void

    /// Takes the first bytes of a body that has ended too early, or that its reader has left.
    package typealias Remains = @Sendable (BodyWriter, _ received: Int) -> Void

    private let blobs: BlobStore
    private let expectedLength: Int?
    private let limit: Int
    private let checksum: BodyChecksum?
    private let remains: Remains?
    private let save: Save

    /// - Parameters:
    ///   - blobs: The store of bodies above `BlobStore/inlineLimit` bytes.
    ///   - expectedLength: Length of the body in bytes; nil if it is not known.
    ///   - limit: Largest body that is stored, in bytes.
    ///   - checksum: The checksum that the body must have; nil for any.
    ///   - remains: Takes the first bytes of an unfinished body; nil to discard it.
    package init(
        to blobs: BlobStore,
        expectedLength: Int?,
        limit: Int = .max,
        checksum: BodyChecksum? = nil,
        remains: Remains? = nil,
        save: @escaping Save
    ) {
        self.blobs = blobs
        self.expectedLength = expectedLength
        self.limit = limit
        self.checksum = checksum
        self.remains = remains
        self.save = save
    }

    /// Returns a body that is stored while it is read. Its last part is returned once all is stored, so that a client
    /// that has read the whole body finds it in the store.
    ///
    /// - Parameter ended: Called before the last part is returned, or as soon as storing fails; then again only for a
    ///   wrong length or checksum. An error that it throws ends the returned body in place of the part. To find out
    ///   whether the client has left, check the task, not an error. If the error is cast to `CancellationError` in a
    ///   closure that is inlined into the loop that reads the body, the process ends with "freed pointer was not the
    ///   last allocation". Swift 6.3 with optimization leaves memory of that cast on the task's stack.
    package func passing(_ body: ByteStream, ended: @escaping @Sendable (Outcome) async throws -> Void) -> ByteStream {
        ByteStream {
            let iterator = body.makeAsyncIterator()
            let passage = Passage(self)
            var isOver = false
            return {
                let part: ByteBuffer?
                do {
                    part = try await iterator.next()
                } catch {
                    if !isOver {
                        isOver = true
                        try await ended(.brokenOff(error))
                    }
                    throw error
                }
                if let part, let error = passage.append(part) { try await ended(.notStored(error)) }
                if !isOver, part == nil || passage.isComplete {
                    isOver = true
                    if let outcome = await passage.finish() { try await ended(outcome) }
                }
                return part
            }
        }
    }

    /// The state of one body that passes; released when its reader has left.
    private final class Passage {
        private let tee: CachingBodyTee
        private var writer: BodyWriter?
        private var hash = Insecure.MD5()
        private var received = 0
        private var hasFailed = false

        init(_ tee: CachingBodyTee) {
            self.tee = tee
            writer = tee.expectedLength ?? 0 <= tee.limit ? BodyWriter(blobs: tee.blobs) : nil
        }

        deinit {
            if let writer, received > 0 { tee.remains?(writer, received) }
        }

        /// Whether all announced bytes have passed.
        var isComplete: Bool { received == tee.expectedLength }

        /// Takes the next part.
        ///
        /// - Returns: Why the body can no longer be stored, if that is new.
        func append(_ part: ByteBuffer) -> (any Error)? {
            received += part.readableBytes
            if received > tee.limit { writer = nil }  // A writer that is dropped leaves nothing.
            return part.withUnsafeReadableBytes { bytes in
                if tee.checksum != nil { hash.update(bufferPointer: bytes) }
                do {
                    try writer?.append(bytes)
                    return nil
                } catch {
                    writer = nil
                    hasFailed = true
                    return error
                }
            }
        }

        /// Stores the body, unless it is another than was announced.
        ///
        /// - Returns: Nil if storing has failed before.
        func finish() async -> Outcome? {
            defer { writer = nil }
            guard received == tee.expectedLength ?? received else { return .wrongLength }
            if let checksum = tee.checksum, !checksum.matches(hash) { return .wrongChecksum }
            if hasFailed { return nil }
            guard let writer else { return .tooLarge }
            do {
                let body = try writer.finish(expectedLength: tee.expectedLength)
                do {
                    try await tee.save(body)
                } catch {
                    if case .blob(let blob) = body { tee.blobs.discard(blob) }
                    throw error
                }
                return .stored
            } catch {
                return .notStored(error)
            }
        }
    }
}

/// The MD5 checksum that a body is announced to have.
package struct BodyChecksum: Sendable, Equatable {
    private let bytes: [UInt8]

    /// Parses a checksum of 32 hexadecimal digits. Nil for any other text: some APIs send checksums of other kinds in
    /// the same place.
    package init?(md5 text: String) {
        guard text.utf8.count == 32 else { return nil }
        let digits = text.compactMap { $0.isASCII ? $0.hexDigitValue : nil }
        guard digits.count == 32 else { return nil }
        bytes = stride(from: 0, to: 32, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
    }

    /// Whether a finished hash is this checksum.
    package func matches(_ hash: Insecure.MD5) -> Bool { Array(hash.finalize()) == bytes }
}

extension ByteStream {
    /// Most bytes that are read of a blob at a time: those of a block that has a checksum.
    static let blobPartBytes = 256 << 10

    /// Streams a range of a stored blob, in parts of at most 256 KiB. A part is read when the reader asks for it.
    package init(_ reader: BlobReader, range: Range<Int>) {
        self.init {
            var rest = range
            return {
                guard !rest.isEmpty else { return nil }
                let end = (rest.lowerBound / Self.blobPartBytes + 1) * Self.blobPartBytes
                let next = rest.clamped(to: rest.lowerBound..<end)
                rest = next.upperBound..<rest.upperBound
                return ByteBuffer(bytes: try reader.read(next))
            }
        }
    }
}

import Concurrency
import Crypto
import NIOCore
import Synchronization
import Upstream

/// Counts the bytes of an upload and computes their checksum while they pass, so that the file on the Disk can be
/// compared with them.
final class UploadedBytes: Sendable {
    /// The bytes that have passed.
    struct Summary: Sendable, Equatable {
        /// Number of bytes.
        var count: Int
        /// MD5 in lower-case hexadecimal, as the API writes it.
        var md5: String
    }

    private struct State {
        var count = 0
        var hash = Insecure.MD5()
        /// Whether ``beforeEnd`` has returned: the whole body is passed on.
        var isEnding = false
        var isWhole = false
    }

    private let state = Mutex(State())
    private let length: Int?
    private let beforeEnd: @Sendable () async throws -> Void
    private let (passing, passed) = AsyncStream<Never>.makeStream()

    /// Creates a counter.
    ///
    /// - Parameters:
    ///   - length: The length of the body; nil if it is not known.
    ///   - beforeEnd: Is called once before the last byte, or the end of a body of unknown length, is passed on. If it
    ///     throws, the body ends there.
    init(length: Int?, beforeEnd: @escaping @Sendable () async throws -> Void = {}) {
        (self.length, self.beforeEnd) = (length, beforeEnd)
    }

    /// Returns the body with its bytes counted, to be read once.
    func counting(_ parts: ByteStream) -> ByteStream {
        ByteStream { [self] in
            let iterator = parts.makeAsyncIterator()
            return {
                let part = try await iterator.next()
                let isLast = self.take(part)
                if isLast {
                    try await self.beforeEnd()
                    self.state.withLock { $0.isEnding = true }
                }
                if part == nil || isLast { self.passed.finish() }
                return part
            }
        }
    }

    /// Counts a part.
    ///
    /// - Returns: Whether it is the last one.
    private func take(_ part: ByteBuffer?) -> Bool {
        state.withLock { state in
            if let part {
                state.count += part.readableBytes
                part.withUnsafeReadableBytes { state.hash.update(bufferPointer: $0) }
            }
            let wasWhole = state.isWhole
            state.isWhole = part == nil || state.count == length
            return state.isWhole && !wasWhole
        }
    }

    /// Returns once the last byte was passed on.
    func ended() async {
        for await _ in passing {}
    }

    /// The bytes that have passed, once the body is complete; nil before.
    var summary: Summary? {
        state.withLock { state in
            guard state.isEnding else { return nil }
            return Summary(count: state.count, md5: UploadChecksums.hexadecimal(state.hash.finalize()))
        }
    }
}

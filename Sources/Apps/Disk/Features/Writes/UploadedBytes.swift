import Crypto
import NIOCore
import Synchronization
import Upstream

/// Counts the bytes of an upload and computes their checksum while they pass, so that what is there afterwards can
/// be compared with what was sent.
final class UploadedBytes: Sendable {
    /// What has passed.
    struct Summary: Sendable, Equatable {
        /// Number of bytes.
        var count: Int
        /// MD5 in lower-case hexadecimal, as the upstream writes it.
        var md5: String
    }

    private struct State {
        var count = 0
        var hash = Insecure.MD5()
        var isWhole = false
    }

    private let state = Mutex(State())
    private let length: Int?

    /// Counts a body of this many bytes, if that is known.
    init(length: Int?) {
        self.length = length
    }

    /// The same parts, counted. To be read once.
    func counting(_ parts: ByteStream) -> ByteStream {
        ByteStream { [self] in
            let iterator = parts.makeAsyncIterator()
            return {
                guard let part = try await iterator.next() else {
                    self.state.withLock { $0.isWhole = true }
                    return nil
                }
                self.state.withLock { state in
                    state.count += part.readableBytes
                    part.withUnsafeReadableBytes { state.hash.update(bufferPointer: $0) }
                }
                return part
            }
        }
    }

    /// What has passed, once that is the whole; nil before.
    var summary: Summary? {
        state.withLock { state in
            guard state.isWhole || state.count == length else { return nil }
            let digest = state.hash.finalize().map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
            return Summary(count: state.count, md5: digest)
        }
    }
}

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
        var isWhole = false
    }

    private let state = Mutex(State())
    private let length: Int?

    /// Creates a counter for a body of `length` bytes; nil if that is not known.
    init(length: Int?) {
        self.length = length
    }

    /// Returns the body with its bytes counted, to be read once.
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

    /// The bytes that have passed, once the body is complete; nil before.
    var summary: Summary? {
        state.withLock { state in
            guard state.isWhole || state.count == length else { return nil }
            let digest = state.hash.finalize().map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
            return Summary(count: state.count, md5: digest)
        }
    }
}

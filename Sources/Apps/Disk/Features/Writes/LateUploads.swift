import Concurrency
import Crypto
import Foundation
import NIOCore
import Screens
import Storage
import Synchronization
import Upstream

/// Uploads whose bytes were sent, and whose response is late: the service computes checksums first, which takes minutes
/// for a large file. Their connections stay open, because a service may discard the received bytes when its client
/// disconnects.
final class LateUploads: Sendable {
    /// A request to an uploader. Its value is whether the uploader has accepted bytes that are not on the Disk yet.
    typealias Put = Task<Bool, any Error>

    private struct Upload {
        let account: String
        let path: DiskPath
        let put: Put
        var result: Result<Bool, any Error>?
    }

    private let uploads = Mutex<[String: Upload]>([:])

    /// Keeps an upload until its end is taken.
    ///
    /// - Parameter operation: Its operation at the API.
    func keep(_ put: Put, as operation: String, to path: DiskPath, of account: String) {
        uploads.withLock { $0[operation] = Upload(account: account, path: path, put: put) }
        Task {
            let result = await put.result
            uploads.withLock { $0[operation]?.result = result }
        }
    }

    func isAwaited(to path: DiskPath, of account: String) -> Bool {
        uploads.withLock { uploads in
            uploads.values.contains { $0.result == nil && $0.account == account && $0.path == path }
        }
    }

    /// Returns the response to an upload, once; nil if there is none yet, or the upload is not known.
    func response(to operation: String) -> Result<Bool, any Error>? {
        uploads.withLock { uploads in
            guard let result = uploads[operation]?.result else { return nil }
            uploads[operation] = nil
            return result
        }
    }

    /// Closes the connection of an upload whose outcome is known otherwise.
    func end(_ operation: String) {
        uploads.withLock { $0.removeValue(forKey: operation) }?.put.cancel()
    }

    /// Closes the connections of an account that was logged out.
    func end(of account: String) {
        let ended = uploads.withLock { uploads in
            let ended = uploads.filter { $0.value.account == account }
            for operation in ended.keys { uploads[operation] = nil }
            return ended.values.map(\.put)
        }
        for put in ended { put.cancel() }
    }
}

/// The length and the MD5 of bytes, to be compared with a file at the API.
struct ByteSummary: Sendable, Equatable {
    var count: Int
    /// In lower-case hexadecimal, as the API writes it.
    var md5: String
}

/// Counts the bytes of an upload and computes their checksum while they pass, so that the file on the Disk can be
/// compared with them.
final class UploadedBytes: Sendable {
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
    var summary: ByteSummary? {
        state.withLock { state in
            guard state.isEnding else { return nil }
            return ByteSummary(count: state.count, md5: state.hash.finalize().hexadecimal)
        }
    }
}

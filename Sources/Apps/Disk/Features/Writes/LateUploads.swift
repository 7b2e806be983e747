import Foundation
import Screens
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

    /// Whether the response to an upload to a path is awaited.
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

import Foundation

/// A file that is to be kept offline, as a state machine without tasks, clocks or files.
///
/// The store records which bytes are kept; this type decides whether and when they are fetched.
struct OfflineFile: Sendable, Equatable {
    /// How an attempt to fetch its content ended.
    enum Outcome: Sendable, Equatable {
        /// The content of the wanted version is stored.
        case stored
        case failed(OfflineFailure)
        /// The file has changed or was deleted: its present row decides how to proceed.
        case changed
        /// The API cannot be requested at the moment. The file is not the cause, so the attempt does not count.
        case postponed
    }

    let account: String
    let path: DiskPath
    /// Version of the content that is wanted.
    let version: String
    /// Bytes of that version.
    let size: Int
    /// Failed attempts in a row.
    var attempts = 0
    /// When it is to be fetched; nil if there is nothing to do.
    var dueAt: Date?
    var failure: OfflineFailure?

    /// Identifies its work.
    var key: OfflineKey { OfflineKey(account: account, path: path) }

    /// Returns the file after an attempt.
    ///
    /// - Parameter jitter: A number in 0..<1, so that files which failed together are not tried again together.
    func after(_ outcome: Outcome, at now: Date, jitter: Double) -> OfflineFile {
        var file = self
        switch outcome {
        case .stored:
            file.attempts = 0
            file.dueAt = nil
            file.failure = nil
        case .failed(let failure):
            file.attempts += 1
            file.failure = failure
            file.dueAt = failure.isRetryable ? OfflineRetry.date(attempts: file.attempts, after: now, jitter) : nil
        case .changed:
            // Its entry wants another version by now, or is gone. If it is neither, it is not fetched again at once.
            file.dueAt = OfflineRetry.date(attempts: file.attempts + 1, after: now, jitter)
        case .postponed: break
        }
        return file
    }
}

/// Identifies a file or folder that is kept offline.
struct OfflineKey: Hashable, Sendable {
    let account: String
    let path: DiskPath
}

/// When failed work is tried again: after 5 seconds, then after twice as long each time, at most after an hour.
enum OfflineRetry {
    private static let (first, longest) = (5.0, 3600.0)

    /// Returns the time of the next attempt.
    static func date(attempts: Int, after now: Date, _ jitter: Double) -> Date {
        let pause = min(longest, first * Double(1 << min(max(attempts - 1, 0), 20)))
        return now.addingTimeInterval(pause * (1 + jitter / 4))
    }
}

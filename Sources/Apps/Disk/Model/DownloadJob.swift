import Foundation
import Screens

/// A download as a state machine, without tasks, clocks or files.
struct DownloadJob: Sendable, Equatable {
    enum Status: String, Sendable {
        case queued, running, done, failed
    }

    /// Why a download failed, as its screen reports it.
    enum Failure: String, Sendable {
        /// The API no longer accepts the account's token.
        case sessionExpired = "upstream-session-expired"
        /// The file was deleted or has changed.
        case changed = "file-changed"
        case forbidden = "upstream-forbidden"
        case unreachable = "upstream-unavailable"
        /// The bytes are not those of the file: too few, too many, or with another checksum.
        case damaged = "damaged"
        /// The connection broke again and again.
        case brokenOff = "connection-broke"
        /// It is larger than the budget of the cache.
        case tooLarge = "too-large"
        /// It could not be stored here.
        case storage = "not-stored"

        /// Whether another download of the path may succeed.
        var isRetryable: Bool { self != .forbidden && self != .tooLarge }
    }

    enum Event: Sendable, Equatable {
        case started
        case received(bytes: Int)
        /// The received bytes are not used, and the file is requested from its beginning.
        case restarted
        case stored
        case failed(Failure)
        /// The process that ran it has ended.
        case interrupted
    }

    let id: String
    let account: String
    let path: DiskPath
    /// Version of the content that is fetched.
    let version: String
    let bytesTotal: Int
    private(set) var status: Status = .queued
    private(set) var bytesDone = 0
    private(set) var failure: Failure?

    var isOver: Bool { status == .done || status == .failed }

    /// Progress from 0 to 1. It is 1 only after the body is stored, since its last part may turn out to be wrong.
    var progress: Double {
        if status == .done { return 1 }
        guard bytesTotal > 0 else { return 0 }
        return max(0, min(Double(bytesDone) / Double(bytesTotal), 0.999))
    }

    /// Applies an event. A job that is over does not change.
    ///
    /// - Returns: Whether an event is published: for each change of status, and each whole percent.
    mutating func apply(_ event: Event) -> Bool {
        guard !isOver else { return false }
        let before = (status, percent)
        switch event {
        case .started: status = .running
        case .received(let bytes): if status == .running { bytesDone += max(0, bytes) }
        case .restarted: bytesDone = 0
        case .stored:
            status = .done
            bytesDone = bytesTotal
        case .failed(let reason):
            status = .failed
            failure = reason
        case .interrupted:
            status = .queued
            bytesDone = 0
        }
        return before != (status, percent)
    }

    private var percent: Int { Int(progress * 100) }
}

/// Decides whether a download is tried again, and after which pause.
struct DownloadAttempts: Sendable, Equatable {
    /// Pauses after breaks without a byte between them. The link may have expired: the first attempt follows at once.
    private static let pauses: [Duration] = [.zero, .seconds(1), .seconds(2), .seconds(4), .seconds(8), .seconds(15)]
    /// Most attempts, also if each one receives something.
    private static let limit = 1000

    private var all = 0
    private var breaks = 0
    private var others = 0

    /// Returns the pause before the next attempt; nil if there is none.
    ///
    /// - Parameter hasProgressed: Whether the attempt that has failed received something.
    mutating func pause(after failure: DownloadJob.Failure, hasProgressed: Bool) -> Duration? {
        all += 1
        guard all < Self.limit else { return nil }
        guard failure == .brokenOff else {
            others += 1
            return others < 2 ? .zero : nil
        }
        if hasProgressed { (breaks, others) = (0, 0) }
        breaks += 1
        return breaks <= Self.pauses.count ? Self.pauses[breaks - 1] : nil
    }
}

extension DownloadJob.Status {
    var text: Text {
        switch self {
        case .queued: Text("Waiting", ru: "Ожидает")
        case .running: Text("Downloading", ru: "Скачивается")
        case .done: Text("Downloaded", ru: "Скачано")
        case .failed: Text("Not downloaded", ru: "Не скачано")
        }
    }
}

extension DownloadJob.Failure {
    var text: Text {
        switch self {
        case .sessionExpired: OfflineFailure.sessionExpired.text
        case .changed: Text("The file is gone or has changed", ru: "Файл удалён или изменился")
        case .forbidden: OfflineFailure.forbidden.text
        case .unreachable: Text("Yandex Disk does not respond", ru: "Яндекс Диск не отвечает")
        case .damaged: Text("The file arrived damaged", ru: "Файл получен повреждённым")
        case .brokenOff: Text("The connection broke", ru: "Соединение прервалось")
        case .tooLarge: Text("The file is too large to be stored", ru: "Файл слишком большой, его не сохранить")
        case .storage: Text("The file could not be saved", ru: "Файл не удалось сохранить")
        }
    }
}

extension DiskOperation.Status {
    var text: Text {
        switch self {
        case .running: Text("In progress", ru: "Выполняется")
        case .done: Text("Done", ru: "Готово")
        case .failed: Text("Failed", ru: "Не удалось")
        }
    }
}

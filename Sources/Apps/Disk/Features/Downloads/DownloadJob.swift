import Foundation

/// A download under way: what happens to it, as a value. Nothing here knows of tasks, clocks or disks.
struct DownloadJob: Sendable, Equatable {
    enum Status: String, Sendable {
        case queued, running, done, failed
    }

    /// Why a download failed, as clients are told.
    enum Failure: String, Sendable {
        /// The upstream does not accept the account's token any more.
        case sessionExpired = "upstream-session-expired"
        /// The file is not there, or another by now.
        case changed = "file-changed"
        case forbidden = "upstream-forbidden"
        case unreachable = "upstream-unavailable"
        /// What came is not the file: too short, too long, or of another checksum.
        case damaged = "damaged"
        /// The size limit of the cache has no room for it.
        case tooLarge = "too-large"
        /// It could not be stored here.
        case storage = "not-stored"
    }

    /// What happens to it.
    enum Event: Sendable, Equatable {
        case started
        case received(bytes: Int)
        /// The body broke off and is asked for again from the beginning.
        case restarted
        case stored
        case failed(Failure)
        /// The process that ran it is gone.
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

    init(
        id: String,
        account: String,
        path: DiskPath,
        version: String,
        bytesTotal: Int,
        status: Status = .queued,
        bytesDone: Int = 0,
        failure: Failure? = nil
    ) {
        self.id = id
        self.account = account
        self.path = path
        self.version = version
        self.bytesTotal = bytesTotal
        self.status = status
        self.bytesDone = bytesDone
        self.failure = failure
    }

    var isOver: Bool { status == .done || status == .failed }

    /// From 0 to 1. Only what is stored is 1: the last part of a body may still turn out to be wrong.
    var progress: Double {
        if status == .done { return 1 }
        guard bytesTotal > 0 else { return 0 }
        return min(Double(bytesDone) / Double(bytesTotal), 0.999)
    }

    /// Takes an event in. What is over stays as it is.
    ///
    /// - Returns: Whether listeners are to be told: of every change of status, and of every whole per cent.
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

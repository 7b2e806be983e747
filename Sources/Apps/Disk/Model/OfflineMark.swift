import Foundation

/// A file or folder that the user keeps offline.
struct OfflineMark: Sendable, Equatable {
    /// Its number in the order of marking.
    let number: Int64
    let account: String
    let path: DiskPath
    let kind: DiskItem.Kind
    let markedAt: Date
    /// Whether it was found to fit into the budget.
    var isAdmitted = false
    /// When it was last compared with the API.
    var checkedAt: Date?
    var attempts = 0
    /// Why the last comparison failed, or why it does not fit.
    var failure: OfflineFailure?

    var key: OfflineKey { OfflineKey(account: account, path: path) }
}

/// The numbers of files of a mark, by their state.
struct OfflineCounts: Sendable, Equatable {
    var (files, bytes) = (0, 0)
    /// Files whose present version is kept, and their bytes.
    var (keptFiles, keptBytes) = (0, 0)
    /// Files of which an older version is kept.
    var outdatedFiles = 0
    /// Files that do not fit into the budget.
    var refusedFiles = 0
    /// Files that could not be fetched.
    var failedFiles = 0
    /// A reason for one of ``failedFiles``.
    var failure: OfflineFailure?
    /// When the last of the kept contents was stored.
    var keptAt: Date?
}

/// The state of a mark as its screen shows it.
enum OfflineState: String, Sendable, CaseIterable {
    case waiting, fetching, kept, failed
    case outOfDate = "out_of_date"
    case tooLarge = "too_large"

    /// Concludes the state of a mark.
    ///
    /// - Parameter isFetching: Whether a file of it is being fetched.
    init(_ mark: OfflineMark, _ counts: OfflineCounts, isFetching: Bool) {
        if isFetching {
            self = .fetching
        } else if mark.failure?.isOfBudget == true || counts.refusedFiles > 0 {
            self = .tooLarge
        } else if mark.failure != nil || counts.failedFiles > 0 {
            self = .failed
        } else if counts.outdatedFiles > 0 {
            self = .outOfDate
        } else if mark.checkedAt == nil || counts.keptFiles < counts.files {
            self = .waiting
        } else {
            self = .kept
        }
    }
}

/// Whether a file or folder in a list is marked to be kept offline.
enum OfflineMarking: Sendable, Equatable {
    case none
    /// It was marked itself.
    case marked
    /// A folder above it was marked.
    case inherited
}

/// Why something is not kept offline, as its screen reports it.
enum OfflineFailure: String, Sendable, Equatable {
    /// It does not fit into `disk.offline_budget_mb` beside the contents that are kept already.
    case tooLarge = "too-large"
    /// More files and folders would be kept than `disk.offline_files` allows.
    case tooManyFiles = "too-many-files"
    /// The API does not say how large the file is, so that it cannot be checked.
    case sizeUnknown = "size-unknown"
    /// The API no longer accepts the account's token.
    case sessionExpired = "upstream-session-expired"
    case forbidden = "upstream-forbidden"
    case unavailable = "upstream-unavailable"
    /// The bytes are not those of the file: too few, too many, or with another checksum.
    case damaged
    case storageFull = "storage-full"
    /// It could not be stored here.
    case storage = "not-stored"

    /// Whether the same attempt may succeed later without a change of the file.
    var isRetryable: Bool {
        switch self {
        case .tooLarge, .tooManyFiles, .sizeUnknown, .forbidden: false
        case .sessionExpired, .unavailable, .damaged, .storageFull, .storage: true
        }
    }

    /// Whether it is the budget's fault.
    var isOfBudget: Bool { self == .tooLarge || self == .tooManyFiles }
}

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
            // The entry now requires another version, or was removed. In any other case, the pause keeps it from being
            // fetched again at once.
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

    static func date(attempts: Int, after now: Date, _ jitter: Double) -> Date {
        let pause = min(longest, first * Double(1 << min(max(attempts - 1, 0), 20)))
        return now.addingTimeInterval(pause * (1 + jitter / 4))
    }
}

/// Decides which files fit into the budget of offline contents.
struct OfflineAdmission: Sendable, Equatable {
    struct Candidate: Sendable, Equatable {
        let path: String
        /// Bytes that it needs in addition to those reserved for it already.
        let bytes: Int
    }

    let budget: Int
    /// Bytes that are reserved for other files.
    let reserved: Int

    /// Returns the candidates that are admitted, in their order.
    ///
    /// A marked file or folder is admitted as a whole or not at all, so that no part of a folder is fetched that cannot
    /// be kept completely. If a folder grows after it was admitted, each new file is admitted if it fits.
    ///
    /// - Parameter isWhole: Whether all of them are admitted, or none.
    func admitted(_ candidates: [Candidate], isWhole: Bool) -> [Candidate] {
        var free = budget - reserved
        var admitted: [Candidate] = []
        for candidate in candidates {
            guard candidate.bytes <= free else {
                if isWhole { return [] }
                continue
            }
            free -= candidate.bytes
            admitted.append(candidate)
        }
        return admitted
    }
}

/// Decides which jobs for offline contents begin now: `work, state of the API -> jobs`, without tasks or clocks.
///
/// At most ``limit`` jobs run at a time, and one check of an account. Accounts take turns, so that a large folder of
/// one does not hold up another.
struct OfflineSchedule: Sendable, Equatable {
    enum Job: Hashable, Sendable {
        /// Compares a marked file or folder with the API.
        case check(OfflineKey)
        /// Fetches the content of a file.
        case fetch(OfflineKey)

        var key: OfflineKey {
            switch self {
            case .check(let key), .fetch(let key): key
            }
        }

        var isCheck: Bool { if case .check = self { true } else { false } }
    }

    /// Most jobs that run at a time.
    let limit: Int
    private(set) var running: Set<Job> = []
    /// The account that began the last job. Jobs of other accounts are begun first.
    private var last: String?

    init(limit: Int) {
        self.limit = max(1, limit)
    }

    /// Begins the due jobs that the limits allow.
    ///
    /// - Parameters:
    ///   - due: Due jobs, in their order.
    ///   - isPaused: Whether the API must not be requested for an account at the moment.
    /// - Returns: The jobs to start; they run until ``end(_:)``.
    mutating func begin(_ due: [Job], isPaused: (_ account: String) -> Bool) -> [Job] {
        var queues = Dictionary(grouping: due.filter { !running.contains($0) && !isPaused($0.key.account) }) {
            $0.key.account
        }
        var begun: [Job] = []
        while running.count < limit, let account = next(of: queues.keys) {
            guard let index = queues[account]?.firstIndex(where: isPossible),
                let job = queues[account]?.remove(at: index)
            else {
                queues[account] = nil
                continue
            }
            running.insert(job)
            last = account
            begun.append(job)
        }
        return begun
    }

    mutating func end(_ job: Job) { running.remove(job) }

    /// Whether a job of its kind may run beside those that run.
    private func isPossible(_ job: Job) -> Bool {
        !job.isCheck || !running.contains { $0.isCheck && $0.key.account == job.key.account }
    }

    /// Returns the account that is served next: the first after the last one in the order of names.
    private func next(of accounts: some Collection<String>) -> String? {
        let ordered = accounts.sorted()
        return ordered.first { account in last.map { account > $0 } ?? true } ?? ordered.first
    }
}

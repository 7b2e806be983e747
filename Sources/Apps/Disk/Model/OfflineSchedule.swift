import Foundation

/// Decides which jobs for offline contents begin now: `work, state of the API -> jobs`, without tasks or clocks.
///
/// At most ``limit`` jobs run at a time, and one check of an account. Accounts take turns, so that a large folder of
/// one does not hold up another.
struct OfflineSchedule: Sendable, Equatable {
    /// A job.
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
    /// The account that began the last job: the others come first.
    private var last: String?

    init(limit: Int) {
        self.limit = max(1, limit)
    }

    /// Begins the due jobs that the limits allow.
    ///
    /// - Parameters:
    ///   - due: Jobs whose time has come, in their order.
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

    /// Ends a job, however it has ended.
    mutating func end(_ job: Job) { running.remove(job) }

    /// Whether a job of its kind may run beside those that run.
    private func isPossible(_ job: Job) -> Bool {
        !job.isCheck || !running.contains { $0.isCheck && $0.key.account == job.key.account }
    }

    /// Returns the account that is served next: the first behind the last one in the order of names.
    private func next(of accounts: some Collection<String>) -> String? {
        let ordered = accounts.sorted()
        return ordered.first { account in last.map { account > $0 } ?? true } ?? ordered.first
    }
}

import Crypto
import Foundation

/// Which calls become asynchronous, and the operations under way.
struct DiskOperations: Sendable, Codable {
    /// Set by the control API.
    struct Rules: Sendable, Equatable, Codable {
        /// Calls whose response is always 202.
        var calls: Set<DiskChange.Call> {
            get { Set(sortedCalls) }
            set { sortedCalls = newValue.sorted { $0.rawValue < $1.rawValue } }
        }
        private var sortedCalls: [DiskChange.Call] = []
        /// Whether copies, moves and deletions of folders with content are asynchronous, as recorded.
        var folders = true
        /// Number of times that an operation responds `in-progress`.
        var polls = 1
        var fails = false
    }

    struct Operation: Sendable, Codable {
        let account: Int
        let change: DiskChange
        /// Number of `in-progress` responses that are left; nil while the operation waits for something else.
        var polls: Int?
        /// The time at which it ends if no client polls it.
        let end: Date
        var fails: Bool
        /// `success` or `failed` once it has ended.
        var outcome: String?
    }

    var rules = Rules()
    private(set) var all: [String: Operation] = [:]
    /// The operations that have not ended, in the order in which they began.
    private var pending: [String] = []

    /// - Returns: its name, 64 hexadecimal digits.
    mutating func add(_ change: DiskChange, account: Int, now: Date, waits: Bool = false) -> String {
        let id = Hexadecimal.text(SHA256.hash(data: Array("operation \(all.count + 1)".utf8)))
        all[id] = Operation(
            account: account,
            change: change,
            polls: waits ? nil : rules.polls,
            end: end(rules.polls, now),
            fails: rules.fails
        )
        pending.append(id)
        return id
    }

    /// Ends an operation that waits for an upload, with a change that is still to be made or with none.
    mutating func resume(_ id: String, change: DiskChange?, now: Date) {
        guard let operation = all[id] else { return }
        let polls = change == nil ? 0 : rules.polls
        all[id] = Operation(
            account: operation.account,
            change: change ?? .nothing,
            polls: polls,
            end: end(polls, now),
            fails: change != nil && rules.fails
        )
        // An earlier attempt may have ended the operation.
        if !pending.contains(id) { pending.append(id) }
    }

    mutating func settle(_ id: String, _ outcome: String) {
        all[id]?.outcome = outcome
        pending.removeAll { $0 == id }
    }

    /// Removes all operations, as the service does with old ones.
    mutating func forget() { (all, pending) = ([:], []) }

    /// The operations whose time is over, oldest first.
    func due(at now: Date) -> [String] {
        pending.filter { id in all[id].map { $0.polls != nil && $0.end <= now } ?? false }
    }

    /// The end of an operation that no client polls: the time at which a client that polls every second would see its
    /// end.
    private func end(_ polls: Int, _ now: Date) -> Date { now.addingTimeInterval(TimeInterval(polls + 1)) }

    mutating func countPoll(_ id: String) {
        guard let polls = all[id]?.polls else { return }
        all[id]?.polls = polls - 1
    }
}

extension DiskModel {
    /// Returns the status of an operation for a poll. The poll that ends the operation makes its change.
    mutating func poll(_ id: String, account: Int, now: Date) throws(DiskFailure) -> String {
        guard let operation = operations.all[id], operation.account == account else { throw .operationNotFound }
        if let outcome = operation.outcome { return outcome }
        guard let polls = operation.polls else { return "in-progress" }
        if polls > 0 {
            operations.countPoll(id)
            return "in-progress"
        }
        return end(id, operation, at: now)
    }

    /// Ends the operations whose time is over. The service carries them out even if no client polls them.
    mutating func endDueOperations(at now: Date) {
        for id in operations.due(at: now) {
            guard let operation = operations.all[id] else { continue }
            _ = end(id, operation, at: now)
        }
    }

    private mutating func end(_ id: String, _ operation: DiskOperations.Operation, at now: Date) -> String {
        var outcome = "failed"
        if !operation.fails {
            do throws(DiskFailure) {
                try perform(operation.change, account: operation.account, at: now)
                outcome = "success"
            } catch {
                // The obstacle appeared after the call. The service sends no reason either.
                outcome = "failed"
            }
        }
        operations.settle(id, outcome)
        return outcome
    }

    /// Makes a change now, or later if the rules say so.
    /// - Parameter force: `force_async`.
    /// - Returns: the operation, if there is one.
    mutating func carryOut(_ change: DiskChange, call: DiskChange.Call, force: Bool, account: Int, now: Date)
        throws(DiskFailure) -> String?
    {
        try check(change, account: account)
        guard force || operations.rules.calls.contains(call) || (operations.rules.folders && isLong(change, account))
        else {
            try perform(change, account: account, at: now)
            return nil
        }
        return operations.add(change, account: account, now: now)
    }

    private func isLong(_ change: DiskChange, _ account: Int) -> Bool {
        switch change {
        case .discard(let path), .remove(let path), .move(let path, _, _), .copy(let path, _, _),
            .restore(let path, _, _):
            trees[account].node(at: path).map { !trees[account].isEmpty($0) } ?? false
        default: false
        }
    }
}

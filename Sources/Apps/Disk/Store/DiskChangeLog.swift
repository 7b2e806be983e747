import Storage
import Synchronization

/// The latest changes of one account, so that responses that were asked for before them can be brought up to date.
struct DiskChangeLog: Sendable {
    /// Most changes that are remembered: far more than happen while one response is on its way.
    static let longest = 1024

    private var changes: [DiskChange] = []
    /// Epoch of the account after the last of ``changes``.
    private var end: Int64 = 0

    /// Remembers a change that made the account's epoch this one.
    mutating func append(_ change: DiskChange, epoch: Int64) {
        if epoch != end + 1 { changes = [] }
        changes.append(change)
        if changes.count > Self.longest { changes.removeFirst(changes.count - Self.longest) }
        end = epoch
    }

    /// The changes that led from one epoch to another, in order.
    ///
    /// - Returns: Nil if they are not all known: the account was logged out in between, or there were too many.
    func changes(from start: Int64, to present: Int64) -> ArraySlice<DiskChange>? {
        if start == present { return [] }
        guard present == end, start < end, end - start <= changes.count else { return nil }
        return changes.suffix(Int(end - start))
    }
}

/// The change logs of all accounts, and of which epoch their stored lists are. In memory: no response on its way
/// outlives the process.
final class DiskChangeLogs: Sendable {
    /// Most lists of which the epoch is remembered.
    private static let mostLists = 10_000

    private struct State {
        var logs: [String: DiskChangeLog] = [:]
        /// Epoch of the account when the upstream was asked for a stored list.
        var lists: [PageKey: Int64] = [:]
    }

    private let state = Mutex(State())

    /// Remembers a change. To be called once its transaction is on the disk, before the next one begins.
    func append(_ change: DiskChange, epoch: Int64, account: String) {
        state.withLock { $0.logs[account, default: DiskChangeLog()].append(change, epoch: epoch) }
    }

    /// See ``DiskChangeLog/changes(from:to:)``.
    func changes(of account: String, from start: Int64, to present: Int64) -> ArraySlice<DiskChange>? {
        if start == present { return [] }
        return state.withLock { $0.logs[account]?.changes(from: start, to: present) }
    }

    /// Remembers that a list was stored which was asked for in this epoch.
    func stored(_ list: PageKey, epoch: Int64) {
        state.withLock { state in
            if state.lists.count >= Self.mostLists { state.lists = [:] }
            state.lists[list] = epoch
        }
    }

    /// Whether the stored list was asked for after this epoch, so that it may know what an earlier response does not.
    func isStoredLater(_ list: PageKey, than epoch: Int64, present: Int64) -> Bool {
        state.withLock { $0.lists[list].map { epoch < $0 && $0 <= present } ?? false }
    }

    /// Forgets an account that was logged out.
    func forget(_ account: String, owner: String) {
        state.withLock { state in
            state.logs[account] = nil
            state.lists = state.lists.filter { $0.key.account != owner }
        }
    }
}

import Foundation
import Storage
import Synchronization

/// The latest changes of one account, which are applied to responses that were requested before them.
struct DiskChangeLog: Sendable {
    /// Maximum number of changes: far more than happen during one request.
    static let longest = 1024

    private var changes: [DiskChange] = []
    /// Epoch of the account after the last of ``changes``.
    private var end: Int64 = 0

    /// Appends a change, with the epoch that it has begun.
    mutating func append(_ change: DiskChange, epoch: Int64) {
        if epoch != end + 1 { changes = [] }
        changes.append(change)
        if changes.count > Self.longest { changes.removeFirst(changes.count - Self.longest) }
        end = epoch
    }

    /// Returns the changes that led from one epoch to another, in order.
    ///
    /// - Returns: Nil if they are not all known: the account was logged out in between, or there were too many.
    func changes(from start: Int64, to present: Int64) -> ArraySlice<DiskChange>? {
        if start == present { return [] }
        guard present == end, start < end, end - start <= changes.count else { return nil }
        return changes.suffix(Int(end - start))
    }
}

/// The change logs of all accounts, and the epochs of their stored lists. In memory: no request outlives the process.
final class DiskChangeLogs: Sendable {
    /// Maximum number of lists whose epoch is remembered.
    private static let mostLists = 10_000

    private struct State {
        var logs: [String: DiskChangeLog] = [:]
        /// Epoch of the account when a stored list was requested.
        var lists: [PageKey: Int64] = [:]
        /// Accounts with a change that could not be stored.
        var missed: Set<String> = []
        var young: [String: YoungWrites] = [:]
    }

    private let state = Mutex(State())

    /// Appends a change. Must be called after its transaction has been committed, before the next one begins.
    func append(_ change: DiskChange, epoch: Int64, account: String) {
        state.withLock { state in
            state.logs[account, default: DiskChangeLog()].append(change, epoch: epoch)
            // With each change, everything that is stored must be revalidated.
            state.missed.remove(account)
        }
    }

    /// Records that a change could not be stored.
    func miss(_ account: String) { state.withLock { _ = $0.missed.insert(account) } }

    /// Whether a change could not be stored, and none was stored since.
    func hasMissed(_ account: String) -> Bool { state.withLock { $0.missed.contains(account) } }

    /// See ``DiskChangeLog/changes(from:to:)``.
    func changes(of account: String, from start: Int64, to present: Int64) -> ArraySlice<DiskChange>? {
        if start == present { return [] }
        return state.withLock { $0.logs[account]?.changes(from: start, to: present) }
    }

    /// Records the epoch in which a stored list was requested.
    func stored(_ list: PageKey, epoch: Int64) {
        state.withLock { state in
            if state.lists.count >= Self.mostLists { state.lists = [:] }
            state.lists[list] = epoch
        }
    }

    /// Whether the stored list was requested after an epoch, so that it may be newer than a response of that epoch.
    func isStoredLater(_ list: PageKey, than epoch: Int64, present: Int64) -> Bool {
        state.withLock { $0.lists[list].map { epoch < $0 && $0 <= present } ?? false }
    }

    /// Follows the acknowledgement of a write (``YoungWrites``).
    ///
    /// - Parameter isEmptyFolder: Whether it has made a folder, which has nothing in it.
    func acknowledge(_ change: DiskChange, isEmptyFolder: Bool, at now: Date, account: String) {
        state.withLock { $0.young[account, default: YoungWrites()].add(change, isEmptyFolder: isEmptyFolder, at: now) }
    }

    /// Follows a response about a path that shows it.
    func show(_ path: DiskPath, account: String) { state.withLock { $0.young[account]?.show(path) } }

    /// Returns the young writes of an account; nil if there are none.
    func young(of account: String, at now: Date) -> YoungWrites? {
        state.withLock { state in
            state.young[account]?.expire(at: now)
            if state.young[account]?.isEmpty == true { state.young[account] = nil }
            return state.young[account]
        }
    }

    /// Forgets an account that was logged out.
    func forget(_ account: String, owner: String) {
        state.withLock { state in
            state.logs[account] = nil
            state.young[account] = nil
            state.missed.remove(account)
            state.lists = state.lists.filter { $0.key.account != owner }
        }
    }
}

/// Writes that the API has acknowledged lately, and has not shown since in a response about their path. It may take a
/// while until all of its servers know a write: a 404 says nothing of such a path, and a list may lack it.
struct YoungWrites: Sendable {
    /// For how many seconds a write outweighs a 404.
    static let youth = 60.0

    private struct Write {
        let time: Date
        /// Whether it is a folder with nothing in it.
        let isEmptyFolder: Bool
    }

    private var writes: [DiskPath: Write] = [:]

    var isEmpty: Bool { writes.isEmpty }

    /// The paths that were written.
    var paths: [DiskPath] { Array(writes.keys) }

    /// Whether a path was written, or a folder above it with all that is in it.
    func covers(_ path: DiskPath) -> Bool {
        path.lineage.contains { above in writes[above].map { above == path || !$0.isEmptyFolder } ?? false }
    }

    /// Whether a folder was made.
    func hasMade(_ folder: DiskPath) -> Bool { writes[folder]?.isEmptyFolder == true }

    mutating func add(_ change: DiskChange, isEmptyFolder: Bool = false, at now: Date) {
        switch change {
        case .appeared(let path, _): writes[path] = Write(time: now, isEmptyFolder: isEmptyFolder)
        case .moved(let from, let to):
            remove(to)
            for (path, write) in writes {
                guard let moved = path.moved(from: from, to: to) else { continue }
                writes[path] = nil
                writes[moved] = write
            }
            let isEmptyFolder = writes[to]?.isEmptyFolder ?? false
            writes[to] = Write(time: now, isEmptyFolder: isEmptyFolder)
        case .deleted(let path), .restored(let path): remove(path)
        case .unpublished, .doubtful: break
        }
    }

    private mutating func remove(_ path: DiskPath) { writes = writes.filter { !path.covers($0.key) } }

    mutating func show(_ path: DiskPath) { writes[path] = nil }

    mutating func expire(at now: Date) {
        writes = writes.filter { (0..<Self.youth).contains(now.timeIntervalSince($0.value.time)) }
    }
}

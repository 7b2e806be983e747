import Foundation
import Storage
import Synchronization

/// A change that a write has made, which is applied to the store once the API says that it is done.
enum DiskChange: Sendable, Equatable {
    case deleted(DiskPath)
    case moved(from: DiskPath, to: DiskPath)
    case unpublished(DiskPath)
    case restored(DiskPath)
    /// An item is new or has changed; with its row, if that is known.
    case appeared(DiskPath, DiskItem?)
    /// Any item may have changed.
    case doubtful

    /// Whether it says at which paths the items are now.
    var isKnown: Bool {
        switch self {
        case .deleted, .moved, .unpublished, .appeared(_, _?): true
        case .restored, .appeared(_, nil), .doubtful: false
        }
    }
}

/// Applies changes to a response that was requested before they were acknowledged, and may have been made before or
/// after them.
///
/// The result is the same in both cases: removed items are gone, moved items are at their new path, and created items
/// look as they were created.
enum DiskReplay {
    /// Returns an item after these changes; nil if they delete it.
    static func item(_ original: DiskItem, after changes: some Sequence<DiskChange>) -> DiskItem? {
        var present: DiskItem? = original
        for change in changes.sinceLastSeen(original) {
            switch change {
            case .deleted(let path), .restored(let path):
                if let item = present, path.covers(item.path) { present = nil }
            case .moved(let from, let to):
                if let item = present, let path = item.path.moved(from: from, to: to) {
                    present = item.at(path)
                } else if present == nil, to.covers(original.path) {
                    present = original
                }
            case .unpublished(let path):
                if present?.path == path { present?.unpublish() }
            case .appeared(let path, let known):
                if present?.path == path || (present == nil && original.path == path) {
                    present = known ?? present ?? original
                }
            case .doubtful: break
            }
        }
        return present
    }

    /// Returns the rows of a list after these changes, in their order.
    ///
    /// Items that were created later than the response are not among them, since their position is not known: the list
    /// has to be requested again.
    static func rows(_ items: [DiskItem], after changes: ArraySlice<DiskChange>) -> [DiskItem] {
        guard !changes.isEmpty else { return items }
        let pairs = items.compactMap { old in item(old, after: changes).map { (old: old, new: $0) } }
        // An item that was moved here replaces the one that it has overwritten.
        let moved = Set(pairs.lazy.filter { $0.old.path != $0.new.path }.map(\.new.path))
        var seen = Set<DiskPath>()
        return pairs.filter { $0.old.path != $0.new.path || !moved.contains($0.new.path) }.map(\.new).filter {
            seen.insert($0.path).inserted
        }
    }

    /// Whether a folder is still the requested one: neither it nor a folder above it was removed, moved or replaced.
    static func isSame(_ folder: DiskPath, after changes: ArraySlice<DiskChange>) -> Bool {
        !changes.contains { change in
            switch change {
            case .deleted(let path), .restored(let path): path.covers(folder)
            case .moved(let from, let to): from.covers(folder) || to.covers(folder)
            case .appeared, .unpublished, .doubtful: false
            }
        }
    }
}

extension DiskPath {
    /// Whether another path is this one, or below it.
    func covers(_ other: DiskPath) -> Bool { self == other || contains(other) }

    /// This path after a move of itself, or of a folder above it; nil if the move does not touch it.
    func moved(from: DiskPath, to: DiskPath) -> DiskPath? {
        if self == from { return to }
        guard from.contains(self) else { return nil }
        return to.child(String(Substring(text.unicodeScalars.dropFirst(from.below.unicodeScalars.count))))
    }
}

extension DiskItem {
    func at(_ path: DiskPath) -> DiskItem {
        var item = self
        item.path = path
        item.name = path.name
        return item
    }
}

extension Sequence<DiskChange> {
    /// Returns the changes that an item of a response may not know: those after the last one that has created it as it
    /// is in the response. This distinguishes an item that has moved away from a later one of the same path.
    fileprivate func sinceLastSeen(_ item: DiskItem) -> [DiskChange] {
        let changes = Array(self)
        let last = changes.lastIndex { change in
            guard case .appeared(item.path, let created?) = change else { return false }
            return created.isSameVersion(as: item)
        }
        return last.map { Array(changes[$0...]) } ?? changes
    }
}

extension DiskItem {
    /// Whether both are known to be the same version of the same file or folder.
    fileprivate func isSameVersion(as other: DiskItem) -> Bool {
        guard kind == other.kind else { return false }
        if let resourceID, let otherID = other.resourceID, resourceID != otherID { return false }
        return kind == .dir ? resourceID != nil && other.resourceID != nil : version != nil && version == other.version
    }
}

/// The latest changes of one account, which are applied to responses that were requested before them.
struct DiskChangeLog: Sendable {
    /// Maximum number of changes: far more than happen during one request.
    static let longest = 1024

    private var changes: [DiskChange] = []
    /// Epoch of the account after the last of ``changes``.
    private var end: Int64 = 0

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
        var dirty: Set<String> = []
        var young: [String: YoungWrites] = [:]
    }

    private let state = Mutex(State())

    /// Appends a change. Must be called after its transaction has been committed, before the next one begins.
    func append(_ change: DiskChange, epoch: Int64, account: String) {
        state.withLock { state in
            state.logs[account, default: DiskChangeLog()].append(change, epoch: epoch)
            // With each change, everything that is stored must be revalidated.
            state.dirty.remove(account)
        }
    }

    func markDirty(_ account: String) { state.withLock { _ = $0.dirty.insert(account) } }

    /// Whether a change could not be stored, and none was stored since.
    func isDirty(_ account: String) -> Bool { state.withLock { $0.dirty.contains(account) } }

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
            state.dirty.remove(account)
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
        let isEmptyFolder: Bool
    }

    private var writes: [DiskPath: Write] = [:]

    var isEmpty: Bool { writes.isEmpty }

    var paths: [DiskPath] { Array(writes.keys) }

    func covers(_ path: DiskPath) -> Bool {
        path.lineage.contains { above in writes[above].map { above == path || !$0.isEmptyFolder } ?? false }
    }

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

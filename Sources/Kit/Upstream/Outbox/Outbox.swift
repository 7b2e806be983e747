package import Foundation
package import GRDB
import Synchronization

/// A journal of writes that wait for an upstream: a table, and its pending operations in memory.
///
/// The table is authoritative. All changes pass through `apply(_:in:)`, in the transaction of the other changes that
/// belong to them; memory follows when the transaction is committed, in the order of commits. So every committed change
/// survives a kill, and a read needs no query.
package final class Outbox<Work: OutboxWork>: Sendable {
    private let journal: OutboxJournal
    let states = Mutex<[String: OutboxAccount<Work>]>([:])
    /// Rows are read and taken over one reading after the other.
    private let following = Mutex(())
    private let listener = Mutex(OutboxListener())

    /// Creates an outbox over a table that ``OutboxJournal/creation`` has created.
    package init(_ journal: OutboxJournal) {
        self.journal = journal
    }

    /// Reads the pending operations, at the start. The outcome of an operation that a killed process was sending is
    /// unknown from now on.
    ///
    /// - Parameter now: Nil if another server may be sending.
    package func load(at now: Date?, _ db: Database) throws {
        var loaded: [String: OutboxAccount<Work>] = [:]
        for var entry: OutboxEntry<Work> in try journal.unfinished(db) {
            if let now { _ = entry.progress.apply(.interrupted, at: now) }
            loaded[entry.account, default: OutboxAccount()].apply(.put(entry))
        }
        states.withLock { states in
            for (account, state) in states where !state.unread.isEmpty {
                loaded[account, default: OutboxAccount()].unread = state.unread
            }
            states = loaded
        }
    }

    /// Registers the function that is notified of an account whose operations have changed, after the commit.
    package func listen(_ listener: @escaping @Sendable (_ account: String) -> Void) {
        self.listener.withLock { $0.notify = listener }
    }

    /// Returns the operations of an account that are not done; nil if there are none, which costs nothing.
    package func queue(of account: String) -> OutboxQueue<Work>? {
        states.withLock { states in states[account].flatMap { $0.queue.entries.isEmpty ? nil : $0.queue } }
    }

    /// Returns an operation that is not done; nil if there is none.
    package func entry(_ id: String, of account: String) -> OutboxEntry<Work>? {
        states.withLock { $0[account]?.entry(id) }
    }

    /// Returns the number of an account's latest change of ``OutboxQueue/structure``.
    package func structure(of account: String) -> Int { states.withLock { $0[account]?.queue.structure ?? 0 } }

    /// The accounts that have operations which are not done.
    package var accounts: [String] { states.withLock { $0.filter { !$0.value.queue.entries.isEmpty }.keys.sorted() } }

    /// The operations of all accounts that are not done.
    package var load: OutboxLoad {
        states.withLock { states in
            OutboxLoad(
                waiting: states.values.reduce(0) { $0 + $1.queue.entries.count },
                undecided: states.values.reduce(0) { $0 + $1.queue.undecided },
                oldest: states.values.compactMap { $0.queue.entries.first?.queuedAt }.min()
            )
        }
    }

    /// Returns the operation of an account that is to be sent next.
    ///
    /// - Parameter finished: An operation that ends now, and is taken for done.
    package func next(of account: String, at now: Date, after finished: String? = nil) -> OutboxNext<Work> {
        states.withLock { $0[account]?.next(at: now, after: finished) ?? .none }
    }

    /// Returns the operations that touch one of several places, one above or one below, in order.
    package func touching(_ places: [Work.Path], of account: String) -> [OutboxEntry<Work>] {
        states.withLock { $0[account]?.touching(places) ?? [] }
    }

    /// Whether an operation touches one of several places, one above or one below.
    package func isTouched(_ places: [Work.Path], of account: String) -> Bool {
        states.withLock { $0[account]?.order.isTouched(places) ?? false }
    }

    /// Returns an operation that is done; nil if there is none, or it was long ago.
    package func finished(_ id: String, account: String, _ db: Database) throws -> OutboxEntry<Work>? {
        try journal.entry(id, account: account, db)
    }

    /// Makes changes in the present transaction, and in memory after its commit.
    ///
    /// - Returns: The operations that were put, with their numbers.
    @discardableResult
    package func apply(_ changes: [OutboxChange<Work>], in db: Database) throws -> [OutboxEntry<Work>] {
        let made = try journal.make(changes, db)
        db.afterNextTransaction { [self, made] _ in committed(made) }
        return made.compactMap(\.put)
    }

    private func committed(_ changes: [OutboxChange<Work>]) {
        var accounts = Set<String>()
        states.withLock { states in
            for change in changes {
                states[change.entry.account, default: OutboxAccount()].apply(change)
                accounts.insert(change.entry.account)
            }
        }
        for account in accounts { notify(account) }
    }

    func notify(_ account: String) { listener.withLock { $0.notify }?(account) }

    /// Removes all operations of an account in the present transaction.
    package func removeAll(of account: String, in db: Database) throws {
        try journal.removeAll(of: account, db)
        db.afterNextTransaction { [self] _ in
            states.withLock { states in
                let structure = states[account]?.queue.structure ?? 0
                states[account] = OutboxAccount()
                states[account]?.queue.structure = structure + 1
            }
        }
    }
}

/// The operations of an outbox that are not done.
package struct OutboxLoad: Sendable, Equatable {
    package let waiting: Int
    /// Number of them that users are notified of, because they are stuck or fail again and again.
    package let undecided: Int
    /// When the first of them was queued; nil if there is none.
    package let oldest: Date?
}

/// The function to notify. A function that is itself the value of a mutex is wrapped once more by each access to it.
private struct OutboxListener: Sendable {
    var notify: (@Sendable (_ account: String) -> Void)?
}

/// The operation of an account that is to be sent next.
package enum OutboxNext<Work: OutboxWork>: Sendable {
    /// This operation can be sent.
    case run(OutboxEntry<Work>)
    /// Nothing is sent before this time: an operation that waits for it lets nothing pass, or none is left but those
    /// that let others pass.
    case wait(until: Date)
    /// There is nothing to send, or an operation is being sent.
    case none
}

/// The pending operations of one account, in memory.
struct OutboxAccount<Work: OutboxWork>: Sendable {
    var queue = OutboxQueue<Work>()
    private(set) var order = OutboxOrder<Work.Path>()
    /// The numbers of the operations whose rows were changed, here or by another server, and are to be read.
    var unread: Set<Int64> = []
    /// Those of them that are being read: until they are taken over, memory is behind.
    var beingRead: Set<Int64> = []
    var isBehind: Bool { !unread.isEmpty || !beingRead.isEmpty }
    private var numbers: [String: Int64] = [:]
    private var attempts = SortedElements<OutboxAttempt>(by: OutboxAttempt.precedes)

    func entry(_ id: String) -> OutboxEntry<Work>? { numbers[id].flatMap { queue.entries[number: $0] } }

    func touching(_ places: [Work.Path]) -> [OutboxEntry<Work>] {
        order.touching(places).compactMap { queue.entries[number: $0] }
    }

    mutating func apply(_ change: OutboxChange<Work>) {
        switch change {
        case .put(let entry) where entry.progress.state == .done: replace(entry, by: nil)
        case .put(let entry): replace(entry, by: entry)
        case .remove(let entry): replace(entry, by: nil)
        }
    }

    /// Takes over a row; nil if it was removed.
    mutating func follow(_ number: Int64, _ entry: OutboxEntry<Work>?) {
        let isDone = entry?.progress.state == .done
        // The number of one that was taken back may be given again.
        if let old = queue.entries[number: number], isDone || old.id != entry?.id { replace(old, by: nil) }
        if let entry, !isDone { replace(entry, by: entry) }
    }

    private mutating func replace(_ entry: OutboxEntry<Work>, by new: OutboxEntry<Work>?) {
        let changed: [Int64]
        if let new {
            let progress = new.progress
            changed = order.put(
                entry.number,
                new.work.places,
                letsOthersPass: progress.letsOthersPass,
                isRefused: progress.state == .failed
            )
            numbers[entry.id] = entry.number
        } else {
            changed = order.remove(entry.number)
            numbers[entry.id] = nil
        }
        let old = queue.replace(entry.number, by: new, order)
        for number in changed where number != entry.number { queue.refresh(number, order) }
        if let old = old.flatMap(OutboxAttempt.init) { attempts.remove(old) }
        if let new = new.flatMap(OutboxAttempt.init) { attempts.insert(new) }
    }

    func next(at now: Date, after finished: String?) -> OutboxNext<Work> {
        let finished = finished.flatMap { numbers[$0] }
        guard !queue.unsettled.contains(where: { $0.progress.state == .running && $0.number != finished }) else {
            return .none
        }
        let attempt = attempts.elements.first { $0.number != finished && !order.isHeldUp($0.number) }
        if let attempt, attempt.date <= now, let entry = queue.entries[number: attempt.number] { return .run(entry) }
        guard let next = order.first.first(where: { $0 != finished }), let entry = queue.entries[number: next] else {
            return attempt.map { .wait(until: $0.date) } ?? .none
        }
        guard let date = entry.progress.nextAttempt, date > now else { return .run(entry) }
        return .wait(until: min(date, attempt?.date ?? date))
    }
}

/// When an operation that lets others pass is tried next.
private struct OutboxAttempt: Sendable {
    let date: Date
    let number: Int64

    init?<Work>(_ entry: OutboxEntry<Work>) {
        guard entry.progress.letsOthersPass, let date = entry.progress.nextAttempt else { return nil }
        (self.date, number) = (date, entry.number)
    }

    static func precedes(_ one: OutboxAttempt, _ other: OutboxAttempt) -> Bool {
        (one.date, one.number) < (other.date, other.number)
    }
}

// Memory of a journal whose rows other servers change as well. It follows them once they are read: before operations
// are decided on, in the same transaction, and before a request is responded to.
extension Outbox {
    /// Notes that rows have changed, after the commit.
    ///
    /// - Parameter keys: Their primary keys.
    package func note(_ keys: [[DatabaseValue]]) {
        states.withLock { states in
            for key in keys {
                guard key.count == 2, let account = String.fromDatabaseValue(key[0]),
                    let number = Int64.fromDatabaseValue(key[1])
                else { continue }
                states[account, default: OutboxAccount()].unread.insert(number)
            }
        }
    }

    /// The accounts whose rows are ahead of memory.
    package var accountsBehind: [String] { states.withLock { $0.filter { $0.value.isBehind }.keys.sorted() } }

    /// Whether rows of an account are ahead of memory.
    package func isBehind(_ account: String) -> Bool { states.withLock { $0[account]?.isBehind == true } }

    /// Brings memory up to date with the rows of an account.
    ///
    /// - Parameter reading: Calls its argument with a transaction that sees all commits up to then.
    /// - Returns: Whether any rows had changed.
    /// - Throws: Errors of `reading` and of GRDB; memory stays behind then.
    @discardableResult
    package func follow(
        _ account: String,
        in reading: (_ read: (Database) throws -> Void) throws -> Void
    ) throws -> Bool {
        guard isBehind(account) else { return false }
        let hasChanged = try following.withLock { _ in
            // Before they are read: rows that are committed later are noted again.
            let numbers = states.withLock { states in
                let numbers = states[account]?.unread ?? []
                states[account]?.unread = []
                states[account]?.beingRead = numbers
                return numbers
            }
            var rows: [(number: Int64, entry: OutboxEntry<Work>?)] = []
            do {
                try reading { db in
                    rows = try numbers.sorted().map { ($0, try journal.entry($0, of: account, db)) }
                }
            } catch {
                states.withLock { states in
                    states[account]?.beingRead = []
                    states[account]?.unread.formUnion(numbers)
                }
                throw error
            }
            states.withLock { states in
                states[account]?.beingRead = []
                for (number, entry) in rows { states[account]?.follow(number, entry) }
            }
            return !rows.isEmpty
        }
        if hasChanged { notify(account) }
        return hasChanged
    }
}

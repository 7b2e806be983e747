import Database
public import Foundation
public import GRDB
import Synchronization

/// A journal of writes that wait for an upstream: a table, and what is not done of it in memory.
///
/// The table is the truth. All changes go through ``apply(_:in:)``, in the transaction of what else changes with them;
/// memory follows when the transaction is committed, in the order of commits. So whatever is committed survives a kill,
/// and a read needs no query.
public final class Outbox<Work: OutboxWork>: Sendable {
    private let journal: OutboxJournal
    private let queues = Mutex<[String: OutboxQueue<Work>]>([:])
    private let listener = Mutex<(@Sendable (_ account: String) -> Void)?>(nil)

    /// Creates an outbox over a table that ``OutboxJournal/creation`` has created.
    public init(_ journal: OutboxJournal) {
        self.journal = journal
    }

    /// Reads what is not done, at the start. An operation that a killed process was sending is doubtful from now on.
    ///
    /// - Throws: GRDB's errors.
    public func load(at now: Date, _ db: Database) throws {
        var loaded: [String: OutboxQueue<Work>] = [:]
        for var entry: OutboxEntry<Work> in try journal.unfinished(db) {
            _ = entry.progress.apply(.interrupted, at: now)
            loaded[entry.account, default: OutboxQueue()].apply(.put(entry))
        }
        queues.withLock { $0 = loaded }
    }

    /// Registers who is notified of an account whose operations have changed, after the commit.
    public func listen(_ listener: @escaping @Sendable (_ account: String) -> Void) {
        self.listener.withLock { $0 = listener }
    }

    /// Returns the operations of an account that are not done; nil if there are none, which costs nothing.
    public func queue(of account: String) -> OutboxQueue<Work>? {
        queues.withLock { queues in queues[account].flatMap { $0.entries.isEmpty ? nil : $0 } }
    }

    /// Returns the number of an account's latest change of ``OutboxQueue/structure``.
    public func structure(of account: String) -> Int { queues.withLock { $0[account]?.structure ?? 0 } }

    /// The accounts that have operations which are not done.
    public var accounts: [String] { queues.withLock { $0.filter { !$0.value.entries.isEmpty }.keys.sorted() } }

    /// Returns an operation that is done; nil if there is none, or it was long ago.
    ///
    /// - Throws: GRDB's errors.
    public func finished(_ id: String, account: String, _ db: Database) throws -> OutboxEntry<Work>? {
        try journal.entry(id, account: account, db)
    }

    /// Makes changes in the present transaction, and in memory after its commit.
    ///
    /// - Returns: The operations that were put, with their numbers.
    /// - Throws: GRDB's errors.
    @discardableResult
    public func apply(_ changes: [OutboxChange<Work>], in db: Database) throws -> [OutboxEntry<Work>] {
        var made: [OutboxChange<Work>] = []
        var put: [OutboxEntry<Work>] = []
        for change in changes {
            switch change {
            case .put(var entry):
                try journal.put(&entry, db)
                put.append(entry)
                made.append(.put(entry))
            case .remove(let entry):
                try journal.remove(entry.id, db)
                made.append(change)
            }
        }
        db.afterNextTransaction { [self, made] _ in committed(made) }
        return put
    }

    private func committed(_ changes: [OutboxChange<Work>]) {
        var accounts = Set<String>()
        queues.withLock { queues in
            for change in changes {
                let account =
                    switch change {
                    case .put(let entry), .remove(let entry): entry.account
                    }
                queues[account, default: OutboxQueue()].apply(change)
                accounts.insert(account)
            }
        }
        let listener = listener.withLock { $0 }
        for account in accounts { listener?(account) }
    }

    /// Removes all operations of an account in the present transaction.
    ///
    /// - Throws: GRDB's errors.
    public func removeAll(of account: String, in db: Database) throws {
        try journal.removeAll(of: account, db)
        db.afterNextTransaction { [self] _ in
            queues.withLock { queues in
                let (version, structure) = (queues[account]?.version ?? 0, queues[account]?.structure ?? 0)
                queues[account] = OutboxQueue()
                queues[account]?.version = version + 1
                queues[account]?.structure = structure + 1
            }
        }
    }
}

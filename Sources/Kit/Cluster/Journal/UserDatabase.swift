package import Concurrency
package import GRDB
package import Storage
import Synchronization

/// The rows that users made, in SQLite: of a server by itself, or of one of several, whose rows the journal keeps
/// alike.
///
/// A transaction is programmed once for both. Of several servers, it is rolled back and its changes are applied, and it
/// may run again: it has no effect elsewhere.
package struct UserDatabase: Sendable {
    /// The rows may lack changes of other servers, because PostgreSQL does not respond.
    package struct Lag: Sendable {
        /// How old the rows may be.
        package let age: Duration
        /// Why other servers' changes are not known.
        package let reason: any Error
        /// Whether this server has not reached PostgreSQL since its start: it may have been down for long.
        package let isOfEarlierRun: Bool
    }

    /// Whether a write deletes contents, for which a full disk has room, and whether they can be restored.
    package enum Deletion: Sendable { case nothing, toTrash, permanent }

    package let database: LarderDatabase
    let shared: (journal: Journal, kept: Duration)?

    /// The rows of a server by itself.
    package init(_ database: LarderDatabase) {
        (self.database, shared) = (database, nil)
    }

    /// The rows of several servers.
    ///
    /// - Parameter kept: how long a server may rely on the rows without asking for changes of others.
    package init(_ database: LarderDatabase, _ journal: Journal, kept: Duration) {
        (self.database, shared) = (database, (journal, kept))
    }

    /// Whether other servers change the rows, too.
    package var isShared: Bool { shared != nil }

    /// Grants the right to work on something to one server at a time.
    package var leases: Leases { shared?.journal.leases ?? Leases(nil) }

    /// Applies the changes of other servers, unless all are known that were made before the time that may be relied on.
    /// Call it before the reads of a request.
    ///
    /// - Returns: nil if the rows are current; how old they may be if PostgreSQL does not respond.
    /// - Throws: `ClusterError`, `StorageError`, `CancellationError`.
    package func catchUp() async throws -> Lag? {
        guard let (journal, kept) = shared else { return nil }
        do {
            try await journal.catchUp(unlessWithin: kept)
            return nil
        } catch {
            guard let lag = lag(after: error) else { throw Self.translated(error) }
            return lag
        }
    }

    /// Does the same for sessions and passwords, which another server may have ended while this one was down.
    ///
    /// - Throws: Also the reason of the lag, if the rows are those of an earlier run of this server.
    package func catchUpSinceStart() async throws -> Lag? {
        let lag = try await catchUp()
        if let lag, lag.isOfEarlierRun { throw lag.reason }
        return lag
    }

    /// How old the rows may be, if PostgreSQL did not respond when it was last asked; nil if they are current.
    package var lag: Lag? { shared?.journal.failure.flatMap { lag(after: $0) } }

    /// Applies all changes that other servers had committed before this call: for a row that has to be there.
    ///
    /// - Throws: `ClusterError` if PostgreSQL does not respond; `StorageError`, `CancellationError`.
    package func catchUpToEnd() async throws {
        do {
            try await shared?.journal.catchUp(unlessWithin: .zero)
        } catch {
            throw Self.translated(error)
        }
    }

    /// Returns how old the rows may be after an error that says that PostgreSQL does not respond; nil for others.
    package func lag(after error: any Error) -> Lag? {
        guard case .unavailable = error as? ClusterError, let journal = shared?.journal, let age = journal.age
        else { return nil }
        return Lag(age: age, reason: error, isOfEarlierRun: journal.isOfEarlierRun)
    }

    /// Reads one state of the rows in this server's file.
    ///
    /// - Throws: `StorageError`, errors of `value`.
    package func read<Value>(_ value: (Database) throws -> Value) throws -> Value { try database.read(value) }

    /// Changes rows in one transaction, and returns when no server can lose it any more.
    ///
    /// - Parameters:
    ///   - scope: the rows belong to this; writes of a scope see each other's changes, on all servers.
    ///   - locks: other names that it has to be alone with, such as a name that is registered.
    ///   - lease: that of the work whose end is written: no other server has taken it before the commit.
    ///   - deleting: whether contents are deleted: then a full disk has room for it, and nothing of them stays in the
    ///     file. Of several servers it has no effect: the journal has the values until it is cut.
    ///   - contents: finished files that the rows may name; several servers have them before the rows. `updates`
    ///     inserts those that are named (`BlobStore.insert`). They are discarded if the write fails.
    /// - Throws: ``LeaseLost``, `StorageError`, `ClusterError`, `CancellationError`, errors of `updates`.
    package func write<Value: Sendable>(
        scope: String,
        locks: [String] = [],
        holding lease: Lease? = nil,
        deleting: Deletion = .nothing,
        contents: [Blob] = [],
        _ updates: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        let companion = WriteCompanion.ofWrite(Value.self)
        let updates = companion?.accompanying(updates) ?? updates
        let locks = locks + (companion?.locks ?? [])
        do {
            // Listeners of the commit begin tasks of their own, whose writes have no companion.
            return try await WriteCompanion.$current.withValue(nil) {
                guard let (journal, _) = shared else {
                    // Nothing is changed for a client that has left.
                    if !contents.isEmpty { try Task.checkCancellation() }
                    return try await write(deleting, updates)
                }
                return try await journal.storing(contents) {
                    try await journal.write(scope: scope, locks: locks, holding: lease, updates)
                }
            }
        } catch {
            for blob in contents { database.blobs.discard(blob) }
            throw Self.translated(error)
        }
    }

    private func write<Value: Sendable>(
        _ deletion: Deletion,
        _ updates: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        switch deletion {
        case .nothing: try await database.write(updates)
        case .toTrash: try await database.writeFreeingRoom(updates)
        case .permanent: try await database.writeErasing(updates)
        }
    }

    /// Returns the id of a new row, in the transaction that inserts it: servers may insert rows of different scopes at
    /// the same time. Nil if SQLite may choose it.
    ///
    /// - Throws: An error that has the transaction run again.
    package func rowID(for table: String) throws -> Int64? { try shared?.journal.nextRowID(of: table) }

    /// Returns a token that limits how long responses of a topic's rows may be kept, as far as that depends on other
    /// servers. Take it before ``catchUp()``.
    package func changeToken(of topic: String) -> ChangeToken { shared?.journal.token(of: topic) ?? .unlimited }

    /// Registers a function that receives the keys of a table's rows after they were changed here or elsewhere. A
    /// server by itself tells nothing: it knows its own changes.
    package func onChange(of table: String, _ receive: @escaping @Sendable (_ keys: [[DatabaseValue]]) -> Void) {
        shared?.journal.onChange(of: table) { receive($0.map(\.key)) }
    }

    /// Registers a function that receives the keys of a table's removed rows, as ``onChange(of:_:)``. It must not
    /// block.
    package func onRemoval(of table: String, _ receive: @escaping @Sendable (_ keys: [[DatabaseValue]]) -> Void) {
        shared?.journal.onChange(of: table) { changes in
            // A snapshot deletes all rows, and inserts those that are left.
            let left = Set(changes.filter { $0.operation != .delete }.map(\.key))
            let gone = changes.filter { $0.operation == .delete && !left.contains($0.key) }.map(\.key)
            if !gone.isEmpty { receive(gone) }
        }
    }

    /// Whether a write failed for a temporary reason.
    package static func isTemporary(_ error: any Error) -> Bool {
        switch error {
        case StorageError.diskFull, ClusterError.diskFull, ClusterError.unavailable,
            ClusterError.outcomeUnknown:
            true
        default: false
        }
    }

    /// A server that has stopped at a row cannot serve users' data, as if PostgreSQL did not respond.
    private static func translated(_ error: any Error) -> any Error {
        switch error {
        case JournalError.stopped(let stop): ClusterError.unavailable(.notApplied(stop.description))
        case JournalError.outcomeUnknown: ClusterError.outcomeUnknown
        default: error
        }
    }
}

/// The functions that receive applied changes, by table.
final class ChangeObservers: Sendable {
    private let byTable = Mutex<[String: [@Sendable ([Changeset.Change]) -> Void]]>([:])

    func add(_ table: String, _ receive: @escaping @Sendable ([Changeset.Change]) -> Void) {
        byTable.withLock { $0[table, default: []].append(receive) }
    }

    func report(_ changes: [Changeset.Change]) {
        let observed = byTable.withLock(\.self)
        guard !observed.isEmpty else { return }
        for (table, changes) in Dictionary(grouping: changes, by: \.table) {
            for receive in observed[table] ?? [] { receive(changes) }
        }
    }
}

/// Writes a row in the transaction of a change that a task makes: both are committed, or neither.
package struct WriteCompanion: Sendable {
    /// That of the current task.
    @TaskLocal package static var current: WriteCompanion?

    /// The names that a write has to be alone with for its sake.
    let locks: [String]
    private let type: ObjectIdentifier
    private let before: @Sendable (Database) throws -> Void
    private let after: @Sendable (any Sendable, Database) throws -> Void

    /// Creates a companion of a write of one type; it ignores writes of others.
    ///
    /// - Parameters:
    ///   - type: the type of the value that the write returns.
    ///   - locks: names that the write has to be alone with.
    ///   - before: runs before the updates.
    ///   - after: runs after updates that have changed rows, with the value that they return.
    package init<Value: Sendable>(
        of type: Value.Type,
        locks: [String],
        before: @escaping @Sendable (Database) throws -> Void,
        after: @escaping @Sendable (Value, Database) throws -> Void
    ) {
        self.type = ObjectIdentifier(type)
        (self.locks, self.before) = (locks, before)
        self.after = { value, db in if let value = value as? Value { try after(value, db) } }
    }

    /// The companion of a write of the current task that returns a value of a type; nil if there is none.
    static func ofWrite<Value>(_ type: Value.Type) -> WriteCompanion? {
        current.flatMap { $0.type == ObjectIdentifier(type) ? $0 : nil }
    }

    /// Returns the updates with the companion's own.
    func accompanying<Value: Sendable>(
        _ updates: @escaping @Sendable (Database) throws -> Value
    ) -> @Sendable (Database) throws -> Value {
        { [before, after] db in
            try before(db)
            let changes = db.totalChangesCount
            let value = try updates(db)
            if db.totalChangesCount != changes { try after(value, db) }
            return value
        }
    }
}

import Concurrency
package import Foundation
package import GRDB
import Logging
import Storage
import Synchronization

// Writes of this server: to the journal first, then to its file.
extension Journal {
    private static let rowIDsPerBlock: Int64 = 1024
    private static let mostBlocks = 8
    /// Number of times that a write without a confirmed commit is looked up in the journal, and the pause between two.
    private static let (inquiries, inquiryPause) = (10, Duration.milliseconds(300))

    /// Returns a number for a row of a table that no other row has, on any server, to a transaction that is being
    /// written (``RowIDBlocks``).
    ///
    /// - Throws: An error that has the transaction rolled back and run again with a larger block.
    func nextRowID(of table: String) throws -> Int64 { try blocks.withLock { try $0.take(table) } }

    /// Changes replicated tables in one transaction, and returns when the journal has it.
    ///
    /// - Parameters:
    ///   - scope: the rows that it changes belong to this: writes of a scope run one after the other, on all servers,
    ///     and see each other's changes.
    ///   - locks: other names that it has to be alone with, such as a name that is registered.
    ///   - id: names the write, so that it is not made twice.
    ///   - lease: no other server may have taken it before the commit.
    ///   - updates: the transaction. It may run several times and is rolled back, so it has no effect elsewhere, and
    ///     waits for nothing.
    /// - Throws: ``JournalError``, ``LeaseLost``, `ClusterError`, `StorageError`, `CancellationError`, errors of
    ///   `updates`. Nothing was kept, except after ``JournalError/outcomeUnknown(write:)``.
    package func write<Value: Sendable>(
        scope: String,
        locks: [String] = [],
        id: UUID = UUID(),
        holding lease: Lease? = nil,
        _ updates: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        try checkResponding()
        let locks = locks + [scope]
        let end = ContinuousClock.now + store.database.options.timeout
        let timeout: @Sendable () async throws -> Void = { [sleep] in
            try await sleep(ContinuousClock.now.duration(to: end))
        }
        do {
            let committed = try await scopes.holding(locks, timeout: timeout) {
                let committed = try await share(of: scope).withPermit(before: end) {
                    try await PostgresDatabase.$end.withValue(end) {
                        try await self.commit(scope: scope, locks: locks, id: id, holding: lease, updates)
                    }
                }
                if let row = committed.row { await self.apply(row) }
                return committed
            }
            if committed.hasRemoved { await removeSomeContents() }
            return committed.value
        } catch is KeyedMutex.WaitTooLong {
            throw ClusterError.unavailable(.timedOut)
        } catch is AsyncSemaphore.WaitTooLong {
            throw ClusterError.unavailable(.timedOut)
        } catch is AsyncSemaphore.QueueFull {
            throw ClusterError.unavailable(.tooManyWaiting)
        }
    }

    /// Throws if PostgreSQL has just let a reading wait for its whole time: a request that reads and writes waits once.
    private func checkResponding() throws {
        try checkPrepared()
        guard let failure = reading.withLock(\.failure), failure.error == .unavailable(.timedOut) else { return }
        if failure.failedAt.duration(to: now()) < Self.retryPause { throw failure.error }
    }

    /// Throws after ``begin(without:)`` until ``prepare()`` has checked that PostgreSQL is the one of the rows.
    func checkPrepared() throws {
        let failure = reading.withLock { $0.isOfEarlierRun ? $0.failure?.error : nil }
        if let failure { throw failure }
    }

    /// Returns the part of the connections that writes of an app may have: those of one app, whose scopes another
    /// server holds, hold up no others.
    private func share(of scope: String) -> AsyncSemaphore {
        let options = store.database.options
        return shares.withLock { shares in
            let app = String(scope.prefix { $0 != "/" })
            let share =
                shares[app]
                ?? AsyncSemaphore(permits: max(1, options.connections / 2), maximumWaiting: options.maximumWaiting)
            shares[app] = share
            return share
        }
    }

    /// Runs a write up to its commit in PostgreSQL, with as many rowids as it needs.
    func commit<Value: Sendable>(
        scope: String,
        locks: [String],
        id: UUID,
        holding lease: Lease? = nil,
        _ updates: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Committed<Value> {
        var size = Self.rowIDsPerBlock
        var table = ""
        for _ in 0..<Self.mostBlocks {
            do {
                return try await attempt(
                    scope: scope,
                    locks: locks,
                    id: id,
                    holding: lease,
                    updates
                )
            } catch let lack as RowIDBlocks.UsedUp {
                if lack.table == table { size *= 4 }
                table = lack.table
                let block = try await store.reserveRowIDs(size, for: table, from: file.nextRowID(of: table))
                blocks.withLock { $0.add(block, for: lack.table) }
            } catch is JournalFile.NeedsSnapshot {
                try await snapshots.restore()
            }
        }
        throw JournalError.rowIDsUsedUp(table: table)
    }

    private func attempt<Value: Sendable>(
        scope: String,
        locks: [String],
        id: UUID,
        holding lease: Lease?,
        _ updates: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Committed<Value> {
        let captured = Mutex<Committed<Value>?>(nil)
        do {
            return try await store.database.write(locks: locks) { transaction in
                if let lease { try Leases.check(lease, in: transaction) }
                let (value, changeset) = try self.capture(in: transaction, updates)
                let contents = try self.file.contentChange(changeset)
                try ClusterContents.settle(contents, transaction)
                let row =
                    changeset.isEmpty
                    ? nil : try self.store.insert(changeset, scope: scope, write: id, in: transaction)
                let committed = Committed(value: value, row: row, hasRemoved: !contents.removed.isEmpty)
                captured.withLock { $0 = committed }
                return committed
            }
        } catch ClusterError.outcomeUnknown {
            guard let committed = captured.withLock(\.self) else { throw ClusterError.unavailable(.connectionLost) }
            // Not in the caller's task: if a client left, the outcome would be unknown.
            return try await Task {
                try await PostgresDatabase.$end.withValue(nil) {
                    try await self.decide(committed, id: id, locks: locks)
                }
            }.value
        } catch ClusterError.notUnique("journal_write") {
            throw JournalError.alreadyWritten(id)
        }
    }

    /// Reads the journal to its end under the locks, and runs the updates on that state.
    private func capture<Value>(
        in transaction: SQLTransaction,
        _ updates: @Sendable (Database) throws -> Value
    ) throws -> (value: Value, changeset: Changeset) {
        let start = now()
        do {
            var isComplete = false
            while !isComplete {
                let page = try store.page(after: file.position(), in: transaction)
                try file.apply(page)
                isComplete = page.isComplete
            }
        } catch {
            note(error)
            throw error
        }
        reading.withLock { $0.ended(start) }
        return try file.capture(updates)
    }

    /// Finds out whether a write was made whose commit was not confirmed.
    private func decide<Value: Sendable>(
        _ committed: Committed<Value>,
        id: UUID,
        locks: [String]
    ) async throws -> Committed<Value> {
        guard let row = committed.row else { return committed }
        for _ in 0..<Self.inquiries {
            let link: JournalLink?
            do {
                link = try await store.link(of: id, locks: locks)
            } catch ClusterError.outcomeUnknown, ClusterError.unavailable {
                try await sleep(Self.inquiryPause)
                continue
            }
            guard let link else { throw ClusterError.unavailable(.connectionLost) }
            let known = JournalRow(link: link, scope: row.scope, schema: row.schema, changeset: row.changeset)
            return Committed(value: committed.value, row: known, hasRemoved: committed.hasRemoved)
        }
        throw JournalError.outcomeUnknown(write: id)
    }
}

package import Concurrency
package import Foundation
package import GRDB
package import Logging
import NIOCore
package import Storage
import Synchronization

/// Keeps the SQLite files of several servers alike by a journal of changes in PostgreSQL.
///
/// A write runs on the server's own file, is rolled back, and its changes are inserted into the journal. Its row is
/// then applied like those of other servers, so there is one way by which a change gets into a file. Reads are local.
package final class Journal: Sendable {
    /// The value that a write returned, and the row that it added; nil if it changed nothing.
    struct Committed<Value: Sendable>: Sendable {
        let value: Value
        let row: JournalRow?
        /// Whether files have lost their rows.
        var hasRemoved = false
    }

    /// Tables that the shared store needs.
    package static var storeMigrations: [SharedMigration] { JournalStore.migrations }
    /// Tables that the server's own database needs.
    package static var fileMigrations: [SchemaMigration] { JournalFile.migrations }

    private static let rowIDsPerBlock: Int64 = 1024
    private static let mostBlocks = 8
    /// How often, and at which distance, the journal is asked for a write whose commit was not confirmed.
    private static let (inquiries, inquiryPause) = (10, Duration.milliseconds(300))
    /// After how many readings and writes this server says how far it is, and looks how long the journal is.
    private static let readingsPerAcknowledgement = 256
    /// How often a PostgreSQL that does not respond is asked again by reads.
    private static let retryPause = Duration.seconds(1)

    let store: JournalStore
    let file: JournalFile
    private let observers: ChangeObservers
    /// The messages of other servers; nil before ``hear(_:)``.
    private let changes = Mutex<SharedChanges?>(nil)
    private let (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let snapshots: JournalSnapshots
    let logger: Logger
    private let now: @Sendable () -> ContinuousClock.Instant
    let sleep: @Sendable (Duration) async throws -> Void
    /// Waiting for a scope holds no connection: only one write of this server waits in PostgreSQL for each.
    private let scopes = KeyedMutex()
    /// By app.
    private let shares = Mutex<[String: AsyncSemaphore]>([:])
    private let readings = KeyedMutex()
    /// By the file that is fetched.
    let fetches = KeyedMutex()
    private let applying = SerialQueue(label: "larder.journal")
    private let reading = Mutex(JournalReading())
    /// Readings and writes since this server last said how far it is.
    private let unacknowledged = Mutex(0)
    private let blocks = Mutex(RowIDBlocks())

    /// Creates a journal; ``prepare()`` comes first.
    ///
    /// - Parameters:
    ///   - database: the server's own, with the tables of ``fileMigrations``.
    ///   - store: the PostgreSQL of all servers, with those of ``storeMigrations``; its owner closes it.
    ///   - tables: the tables of all apps.
    ///   - server: a name that no other server has.
    ///   - schema: the version of the schema of this build; of rows of a higher one, it applies the tables and columns
    ///     that it knows.
    ///   - limits: how long the journal may become.
    package init(
        of database: LarderDatabase,
        in store: SharedDatabase,
        tables: JournalTables,
        server: String,
        schema: Int,
        limits: JournalLimits = JournalLimits(),
        logger: Logger,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        self.store = JournalStore(database: store, server: server, schema: schema)
        let observers = ChangeObservers()
        self.observers = observers
        file = JournalFile(database: database, tables: tables, schema: schema, logger: logger) {
            observers.report($0)
        }
        snapshots = JournalSnapshots(store: self.store, file: file, limits: limits, logger: logger)
        (self.logger, self.now, self.sleep) = (logger, now, sleep)
    }

    /// Grants leases to the servers.
    var leases: Leases { Leases(store.database) }

    /// The row at which this server has stopped; nil if it has not.
    package var stop: JournalStop? { reading.withLock(\.stop) }

    /// Why PostgreSQL could not be asked the last time; nil if it was.
    var failure: SharedStoreError? { reading.withLock { $0.failure?.error } }

    /// How long ago the journal was read to its end; nil if it never was by this process.
    package var age: Duration? { reading.withLock(\.end).map { $0.duration(to: now()) } }

    /// Checks the tables, reads the journal to its end, and makes this server known.
    ///
    /// - Throws: ``JournalError``, `SharedStoreError`, `StorageError`.
    package func prepare() async throws {
        try file.database.read(file.tables.check)
        guard try await store.isOfThisServer() else { throw JournalError.restoredElsewhere }
        try await catchUp()
        try await store.acknowledge(file.position())
    }

    /// Whether a file has rows of a journal. A damaged page is an error: it may have rows of another table.
    package static func isFollowed(_ db: Database) throws -> Bool { try identity(db) != nil }

    /// Returns the name of the journal that a file follows; nil if it follows none.
    package static func identity(_ db: Database) throws -> String? { try JournalFile.followed(db)?.identity }

    /// Registers a function that gets the changes of a table after their commit here, before the write returns. It must
    /// not block.
    func onChange(of table: String, _ receive: @escaping @Sendable ([Changeset.Change]) -> Void) {
        observers.add(table, receive)
    }

    // MARK: - Writing

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
    /// - Throws: ``JournalError``, ``LeaseLost``, `SharedStoreError`, `StorageError`, `CancellationError`, errors of
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
                    try await SharedDatabase.$end.withValue(end) {
                        try await self.commit(scope: scope, locks: locks, id: id, holding: lease, updates)
                    }
                }
                if let row = committed.row { await self.apply(row) }
                return committed
            }
            if committed.hasRemoved { await removeSomeContents() }
            return committed.value
        } catch is KeyedMutex.WaitTooLong {
            throw SharedStoreError.unavailable(.timedOut)
        } catch is AsyncSemaphore.WaitTooLong {
            throw SharedStoreError.unavailable(.timedOut)
        } catch is AsyncSemaphore.QueueFull {
            throw SharedStoreError.unavailable(.tooManyWaiting)
        }
    }

    /// Throws if PostgreSQL has just let a reading wait for its whole time: a request that reads and writes waits once.
    private func checkResponding() throws {
        guard let failure = reading.withLock(\.failure), failure.error == .unavailable(.timedOut) else { return }
        if failure.failedAt.duration(to: now()) < Self.retryPause { throw failure.error }
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
                try SharedContents.settle(contents, transaction)
                let row =
                    changeset.isEmpty
                    ? nil : try self.store.insert(changeset, scope: scope, write: id, in: transaction)
                let committed = Committed(value: value, row: row, hasRemoved: !contents.removed.isEmpty)
                captured.withLock { $0 = committed }
                return committed
            }
        } catch SharedStoreError.outcomeUnknown {
            guard let committed = captured.withLock(\.self) else { throw SharedStoreError.unavailable(.connectionLost) }
            // Not in the caller's task: a client that leaves must not make a guess of it.
            return try await Task {
                try await SharedDatabase.$end.withValue(nil) {
                    try await self.decide(committed, id: id, locks: locks)
                }
            }.value
        } catch SharedStoreError.notUnique("journal_write") {
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
            } catch SharedStoreError.outcomeUnknown, SharedStoreError.unavailable {
                try await sleep(Self.inquiryPause)
                continue
            }
            guard let link else { throw SharedStoreError.unavailable(.connectionLost) }
            let known = JournalRow(link: link, scope: row.scope, schema: row.schema, changeset: row.changeset)
            return Committed(value: committed.value, row: known, hasRemoved: committed.hasRemoved)
        }
        throw JournalError.outcomeUnknown(write: id)
    }

    /// Applies a row that was committed. If that fails, the write is made nevertheless, and the next reading of the
    /// journal reports it.
    private func apply(_ row: JournalRow) async {
        do {
            try await applying.run { try self.file.apply(row) }
            let count = unacknowledged.withLock { count in
                count += 1
                return count
            }
            if count >= Self.readingsPerAcknowledgement { signal.yield() }
        } catch {
            logger.error(
                "a change is in the journal, but not in the database of this server yet",
                metadata: ["number": .stringConvertible(row.link.number), "scope": "\(row.scope)", "error": "\(error)"]
            )
            fallBehind()
        }
    }

    // MARK: - Reading

    /// Applies the changes of other servers, unless that was done within some time and none was heard of since.
    ///
    /// While PostgreSQL does not respond it fails at once, and asks again in the background.
    ///
    /// - Throws: as ``catchUp()``. The file may be read nevertheless; its data is ``age`` old.
    package func catchUp(unlessWithin time: Duration) async throws {
        let now = self.now()
        // A server that does not hear the others does not know that it is behind.
        let time = changes.withLock { $0?.isConnected ?? true } ? time : .zero
        let (isFresh, failure, isDue) = reading.withLock { reading in
            let isFresh = !reading.isBehind && reading.end.map { $0.duration(to: now) < time } ?? false
            let isDue = reading.failure.map { $0.triedAt.duration(to: now) >= Self.retryPause } ?? false
            if isDue { reading.failure?.triedAt = now }
            return (isFresh, reading.failure?.error, isDue)
        }
        if isFresh { return }
        guard let failure else { return try await catchUp() }
        // Its error is noted for the next read.
        if isDue { Task { try? await self.catchUp() } }
        throw failure
    }

    /// Returns a token that limits how long responses of a topic's rows may be kept. Take it before reading the rows.
    package func token(of topic: String) -> ChangeToken {
        changes.withLock { $0?.token(of: topic) } ?? ChangeToken(until: .now())
    }

    /// Applies all that was committed before this call. Callers at the same time share one reading.
    ///
    /// - Throws: ``JournalError``, `SharedStoreError`, `StorageError`, `CancellationError`.
    package func catchUp() async throws {
        let request = reading.withLock { reading in
            reading.requests += 1
            return reading.requests
        }
        try await readings.holding(["end"]) {
            let covered = self.reading.withLock { $0.answered >= request ? nil : $0.requests }
            guard let covered else { return }
            let start = self.now()
            do {
                while try await !self.readPage() {}
            } catch {
                self.note(error)
                if case .unavailable = error as? SharedStoreError, let error = error as? SharedStoreError {
                    self.reading.withLock { $0.failure = (error, self.now(), self.now()) }
                }
                throw error
            }
            self.reading.withLock { reading in
                reading.answered = covered
                reading.ended(start)
            }
        }
    }

    /// Applies the next page.
    ///
    /// - Returns: whether that was the last one.
    private func readPage() async throws -> Bool {
        let page = try await store.page(after: file.position())
        do {
            return try await applying.run {
                try self.file.apply(page)
                return page.isComplete
            }
        } catch is JournalFile.NeedsSnapshot {
            try await snapshots.restore()
            return false
        }
    }

    /// Notes at which row a reading has stopped, and says so once.
    private func note(_ error: any Error) {
        guard case .stopped(let stop) = error as? JournalError else { return }
        let isNew = reading.withLock { reading in
            defer { reading.stop = stop }
            return reading.stop != stop
        }
        guard isNew else { return }
        logger.error(
            "the journal cannot be applied: this server has stopped at a row",
            metadata: ["number": .stringConvertible(stop.number), "scope": "\(stop.scope)", "error": "\(stop)"]
        )
    }

    /// Listens to the messages of other servers: of their rows, and that some may have been missed.
    ///
    /// A message that is sent after the commit of a change arrives after the message of the change's row.
    package func hear(_ changes: SharedChanges) {
        self.changes.withLock { $0 = changes }
        let own = JournalStore.message + store.sender
        changes.onText(JournalStore.message) { [weak self] text in if text != own { self?.fallBehind() } }
        changes.onGap { [weak self] in self?.fallBehind() }
    }

    /// Notes that rows are missing, and has them applied soon.
    private func fallBehind() {
        reading.withLock { $0.behind = now() }
        signal.yield()
    }

    /// Applies the changes that are heard of, until the task is cancelled.
    package func run() async { await follow(signals) }

    private func follow(_ signals: AsyncStream<Void>) async {
        for await _ in signals {
            do {
                try await catchUp()
                try await acknowledge()
            } catch {
                // The next message or read tries again; stops are logged where they are found.
                logger.debug("the journal is not read", metadata: ["error": "\(error)"])
            }
        }
    }

    /// Says how far this server is, now and then.
    private func acknowledge() async throws {
        let isDue = unacknowledged.withLock { count in
            count += 1
            defer { if count >= Self.readingsPerAcknowledgement { count = 0 } }
            return count >= Self.readingsPerAcknowledgement
        }
        guard isDue else { return }
        try await store.acknowledge(file.position())
        try await snapshots.cutIfLong()
    }
}

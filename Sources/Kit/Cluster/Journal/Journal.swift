package import Concurrency
import Foundation
package import GRDB
package import Logging
import NIOCore
package import Storage
import Synchronization

/// Keeps the SQLite files of several servers alike by a journal of changes in PostgreSQL.
///
/// A write runs on the server's own file, is rolled back, and its changes are inserted into the journal. Its row is
/// then applied like those of other servers, so there is one way by which a file is changed. Reads are local.
package final class Journal: Sendable {
    /// The value that a write returned, and the row that it added; nil if it changed nothing.
    struct Committed<Value: Sendable>: Sendable {
        let value: Value
        let row: JournalRow?
        /// Whether files have lost their rows.
        var hasRemoved = false
    }

    /// Tables that the shared store needs.
    package static var storeMigrations: [PostgresMigration] { JournalStore.migrations }
    /// Tables that the server's own database needs.
    package static var fileMigrations: [SchemaMigration] { JournalFile.migrations }

    /// After how many readings and writes this server says how far it is, and looks how long the journal is.
    private static let readingsPerAcknowledgement = 256
    /// How often a PostgreSQL that does not respond is asked again by reads.
    static let retryPause = Duration.seconds(1)

    let store: JournalStore
    let file: JournalFile
    private let observers: ChangeObservers
    /// The messages of other servers; nil before ``listen(to:)``.
    private let changes = Mutex<ClusterMessages?>(nil)
    private let (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let snapshots: JournalSnapshots
    let logger: Logger
    let now: @Sendable () -> ContinuousClock.Instant
    let sleep: @Sendable (Duration) async throws -> Void
    /// Waiting for a scope holds no connection: only one write of this server waits in PostgreSQL for each.
    let scopes = KeyedMutex()
    /// By app.
    let shares = Mutex<[String: AsyncSemaphore]>([:])
    private let readings = KeyedMutex()
    /// By the file that is fetched.
    let fetches = KeyedMutex()
    private let applying = SerialQueue(label: "larder.journal")
    let reading = Mutex(JournalReading())
    /// Readings and writes since this server last said how far it is.
    private let unacknowledged = Mutex(0)
    let blocks = Mutex(RowIDBlocks())

    /// Creates a journal. Call ``prepare()`` before any other function.
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
        in store: PostgresDatabase,
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
    var leases: Leases { Leases(store.database) { try self.checkPrepared() } }

    /// The row at which this server has stopped; nil if it has not.
    package var stop: JournalStop? { reading.withLock(\.stop) }

    /// Why PostgreSQL could not be asked the last time; nil if it was.
    var failure: ClusterError? { reading.withLock { $0.failure?.error } }

    /// How long ago the journal was read to its end; nil if it never was.
    package var age: Duration? { reading.withLock(\.end).map { $0.duration(to: now()) } }

    /// Whether the rows are those that an earlier run of this server has read (``begin(without:)``).
    package var isOfEarlierRun: Bool { reading.withLock(\.isOfEarlierRun) }

    /// Checks the tables, reads the journal to its end, and makes this server known.
    ///
    /// - Throws: ``JournalError``, `ClusterError`, `StorageError`.
    package func prepare() async throws {
        try file.database.read(file.tables.check)
        guard try await store.isOfThisServer() else { throw JournalError.restoredElsewhere }
        try await readToEnd()
        do {
            try await applying.run { try self.file.noteReading() }
        } catch StorageError.diskFull {
            // The error is ignored: the time only says how old the rows are, and the earlier one stays.
        }
        try await store.acknowledge(file.position())
    }

    /// Begins with the rows that an earlier run has read, as if PostgreSQL had just failed. Nothing else is read or
    /// written before ``prepare()``, whose checks are due.
    ///
    /// - Throws: `StorageError`.
    package func begin(without failure: ClusterError) throws {
        let (age, now) = (try file.age(), now())
        reading.withLock { reading in
            (reading.isOfEarlierRun, reading.failure) = (true, (failure, now, now))
            reading.end = age.map { now - $0 }
        }
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

    /// Applies the changes of other servers, unless that was done within some time and no message about others has
    /// arrived since.
    ///
    /// While PostgreSQL does not respond it fails at once, and asks again in the background.
    ///
    /// - Throws: as ``catchUp()``. The file may be read nevertheless; its data is ``age`` old.
    package func catchUp(unlessWithin time: Duration) async throws {
        let now = self.now()
        // A server that gets no messages does not know that it is behind.
        let time = changes.withLock { $0?.isConnected ?? true } ? time : .zero
        let (isFresh, failure, isDue) = reading.withLock { reading in
            let isFresh = !reading.isBehind && reading.end.map { $0.duration(to: now) < time } ?? false
            let isTried = reading.failure.map { $0.triedAt.duration(to: now) < Self.retryPause } ?? true
            // Before ``prepare()`` nothing is read.
            let isDue = !isTried && !reading.isOfEarlierRun
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
    /// - Throws: ``JournalError``, `ClusterError`, `StorageError`, `CancellationError`.
    package func catchUp() async throws {
        try checkPrepared()
        try await readToEnd()
    }

    private func readToEnd() async throws {
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
                if case .unavailable = error as? ClusterError, let error = error as? ClusterError {
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
    func note(_ error: any Error) {
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
    package func listen(to changes: ClusterMessages) {
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
    package func run() async {
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

    /// Applies a row that was committed. If that fails, the write is made nevertheless, and the next reading of the
    /// journal reports it.
    func apply(_ row: JournalRow) async {
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

    /// Records from time to time how far this server is.
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

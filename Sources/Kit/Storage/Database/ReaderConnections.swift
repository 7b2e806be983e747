import Foundation
import GRDB
import Synchronization

/// Connections for reads, each used by one thread at a time.
///
/// A read of `DatabasePool` compiles `BEGIN` and `COMMIT` each time, asks for the version of the schema, and passes
/// three queues: more work than a small query. Here statements stay prepared, and a connection is one lock away
/// (docs/decisions/0083-readers.md).
final class ReaderConnections: Sendable {
    private struct State {
        var idle: [DatabaseQueue] = []
        var isClosed = false
    }

    private final class Running {
        let connections: ReaderConnections
        let db: Database

        init(_ connections: ReaderConnections, _ db: Database) {
            (self.connections, self.db) = (connections, db)
        }
    }

    /// The read that runs on a thread.
    private static let running = ThreadSpecific<Running>()

    private let path: String
    private let configuration: Configuration
    private let maximum: Int
    private let slots: DispatchSemaphore
    /// Has the connection that is being opened ahead.
    private let preparation = DispatchGroup()
    private let state = Mutex(State())

    /// Describes connections to a database in WAL mode; they are opened when they are needed.
    init(path: String, configuration: Configuration) {
        var configuration = configuration
        configuration.readonly = true
        // The end of a transaction is checked in `transact`, without ending the process.
        configuration.allowsUnsafeTransactions = true
        self.path = path
        self.configuration = configuration
        maximum = configuration.maximumReaderCount
        slots = DispatchSemaphore(value: maximum)
    }

    /// Opens a connection on another thread. The first read waits for it, and opens one by itself if that has failed.
    func prepare() {
        preparation.enter()
        DispatchQueue.global().async { [self] in
            defer { preparation.leave() }
            if let connection = try? DatabaseQueue(path: path, configuration: configuration) { giveBack(connection) }
        }
    }

    /// Reads one state: that of the read within which it is called, if it is. Waits for a connection if all are in use.
    ///
    /// - Throws: `DatabaseError`; errors of `value`.
    func read<Value>(_ value: (Database) throws -> Value) throws -> Value {
        if let running = Self.running.value, running.connections === self { return try value(running.db) }
        slots.wait()
        defer { slots.signal() }
        let connection = try take()
        var isReusable = false
        defer { if isReusable { giveBack(connection) } }
        return try connection.unsafeRead { db in
            defer { isReusable = !db.isInsideTransaction }
            return try Self.running.with(Running(self, db)) { try Self.transact(db, value) }
        }
    }

    /// Waits for running reads and closes all connections. Later reads throw.
    func close() throws {
        preparation.wait()
        for _ in 0..<maximum { slots.wait() }
        defer { for _ in 0..<maximum { slots.signal() } }
        let idle = state.withLock { state in
            defer { state = State(isClosed: true) }
            return state.idle
        }
        for connection in idle { try connection.close() }
    }

    private func take() throws -> DatabaseQueue {
        if let connection = try takeIdle() { return connection }
        preparation.wait()
        return try takeIdle() ?? DatabaseQueue(path: path, configuration: configuration)
    }

    private func takeIdle() throws -> DatabaseQueue? {
        try state.withLock { state in
            guard !state.isClosed else { throw DatabaseError(resultCode: .SQLITE_MISUSE, message: "closed") }
            return state.idle.popLast()
        }
    }

    private func giveBack(_ connection: DatabaseQueue) {
        state.withLock { $0.idle.append(connection) }
    }

    /// Runs a read in a transaction, which begins with its first query.
    private static func transact<Value>(_ db: Database, _ value: (Database) throws -> Value) throws -> Value {
        try db.cachedStatement(sql: "BEGIN").execute()
        do {
            let value = try value(db)
            try db.cachedStatement(sql: "COMMIT").execute()
            return value
        } catch {
            // SQLite may have ended it. A connection whose transaction cannot be ended is not used again.
            if db.isInsideTransaction { try? db.execute(sql: "ROLLBACK") }
            throw error
        }
    }
}

/// A reference that each thread has of its own, for the time of a call (`pthread_setspecific`).
private final class ThreadSpecific<Value: AnyObject>: Sendable {
    private let key: pthread_key_t

    init() {
        var key = pthread_key_t()
        // A process has at least 128 keys, and this one takes one for all of its life.
        let status = pthread_key_create(&key, nil)
        precondition(status == 0, "no key for a thread's own value is left")
        self.key = key
    }

    /// The value of the running call on this thread; nil outside of one.
    var value: Value? {
        pthread_getspecific(key).map { Unmanaged<Value>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Runs a call that does not suspend, during which this thread has a value.
    ///
    /// - Throws: Errors of `body`.
    func with<Result>(_ value: Value, _ body: () throws -> Result) rethrows -> Result {
        let before = pthread_getspecific(key)
        pthread_setspecific(key, Unmanaged.passUnretained(value).toOpaque())
        defer {
            pthread_setspecific(key, before)
            withExtendedLifetime(value) {}
        }
        return try body()
    }
}

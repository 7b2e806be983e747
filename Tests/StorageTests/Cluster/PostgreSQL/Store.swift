import Cluster
import Dispatch
import Foundation
import Logging
import Synchronization
import TestKit
import Testing

/// A schema of a test's own, as one of several servers uses it.
struct Store {
    let options: PostgresOptions
    let database: PostgresDatabase

    /// Opens a new schema of a server.
    init(on server: RunningPostgres? = nil, _ configure: (inout PostgresOptions) -> Void = { _ in }) async throws {
        let shared = try await RunningPostgres.shared.value
        let server = server ?? shared
        let schema = try server.schema()
        var options = PostgresOptions(url: "\(server.address())&options=-csearch_path%3D\(schema)")
        // Longer than the slowest machine takes for anything that is not meant to be late.
        options.timeout = .seconds(60)
        (options.name, options.channel) = (schema, schema)
        configure(&options)
        self.options = options
        database = PostgresDatabase(options, logger: .quiet)
    }

    /// Opens the same schema as another server does.
    func other(_ configure: (inout PostgresOptions) -> Void = { _ in }) -> PostgresDatabase {
        var options = options
        configure(&options)
        return PostgresDatabase(options, logger: .quiet)
    }

    /// Creates the table of the tests.
    func withCounters() async throws -> Store {
        try await database.migrate([
            PostgresMigration("test/001", sql: "CREATE TABLE counter (name text PRIMARY KEY, value int8 NOT NULL)")
        ])
        return self
    }

    /// The counters of the table, by name.
    func counters() async throws -> [String: Int] {
        let rows = try await database.rows("SELECT name, value FROM counter") { row in
            (name: try row.value("name") as String, value: try row.value("value") as Int)
        }
        return Dictionary(uniqueKeysWithValues: rows.map { ($0.name, $0.value) })
    }
}

extension SQLTransaction {
    /// Reads a counter, and writes the next number: updates would be lost if two callers did it at the same time.
    func increment(_ name: String) throws {
        let value: Int? = try rows("SELECT value FROM counter WHERE name = $1", [name]).first?.value("value")
        try execute(
            "INSERT INTO counter VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            [name, (value ?? 0) + 1]
        )
    }
}

/// Holds a thread, such as one that a transaction blocks, until the test opens it.
final class ThreadGate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    private let arrivals = Watched(0)

    /// Holds the calling thread, unless the test forgets it.
    func hold() {
        arrivals.update { $0 += 1 }
        _ = semaphore.wait(timeout: .now() + .seconds(120))
        semaphore.signal()
    }

    /// Waits until this many threads have arrived.
    func arrived(_ count: Int = 1, sourceLocation: SourceLocation = #_sourceLocation) async {
        await arrivals.until("thread \(count) at a gate", sourceLocation: sourceLocation) { $0 >= count }
    }

    /// Lets all threads pass.
    func open() { semaphore.signal() }
}

/// Changes that callers make one after the other, each with a name of its own, and which of them were acknowledged:
/// those are there, whatever happened since.
final class AcknowledgedChanges: Sendable {
    /// Creates the table that the changes are in.
    static let migration = PostgresMigration(
        "acknowledged/001",
        sql: "CREATE TABLE acknowledged (name text PRIMARY KEY)"
    )

    /// Their names, in the order in which they were acknowledged.
    let names = Watched<[String]>([])
    private let database: PostgresDatabase
    private let prefix: String
    private let log: FileHandle?
    private let hasEnded = Watched(false)
    private let callers = Mutex<[Task<Void, Never>]>([])

    /// - Parameters:
    ///   - prefix: Begins each name, where several processes write.
    ///   - log: Receives a line for each of them.
    init(_ database: PostgresDatabase, prefix: String = "", log: FileHandle? = nil) {
        (self.database, self.prefix, self.log) = (database, prefix, log)
    }

    func begin(callers count: Int) {
        let tasks = (0..<count).map { caller in Task { await self.change(as: caller) } }
        callers.withLock { $0 = tasks }
    }

    /// Ends the callers, after their last change.
    func end() async {
        hasEnded.update { $0 = true }
        for caller in callers.withLock({ $0 }) { await caller.value }
    }

    /// Returns the acknowledged changes that are missing.
    func missing(in database: PostgresDatabase) async throws -> [String] {
        let kept = Set(try await database.rows("SELECT name FROM acknowledged") { try $0.value("name") as String })
        return names.value.filter { !kept.contains($0) }
    }

    private func change(as caller: Int) async {
        var number = 0
        while !hasEnded.value {
            number += 1
            let name = "\(prefix)\(caller)/\(number)"
            do {
                try await database.write(locks: [name]) { transaction in
                    try transaction.execute("INSERT INTO acknowledged VALUES ($1)", [name])
                }
                names.update { names in
                    names.append(name)
                    try? log?.write(contentsOf: Data("\(name)\n".utf8))
                }
            } catch {
                // A failed change is not recorded. As clients do, the caller waits a little: the store has work to do.
                try? await Task.sleep(for: .milliseconds(20))
            }
        }
    }
}

import Cluster
import Foundation
import Synchronization
import TestKit

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

    /// Starts the callers.
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
    ///
    /// - Throws: ``ClusterError``.
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

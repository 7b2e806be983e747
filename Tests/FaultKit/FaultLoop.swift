package import Database
import Foundation
import Logging
import ResponseStore
import TestKit

/// Lets each system call of a write fail, one after the other, in every way.
///
/// After each fault the write is either acknowledged and whole, or refused and all is as before; every file that a row
/// names is there; a process that was killed at this moment finds the same; and the next write works once the fault is
/// over.
package struct FaultLoop {
    /// What did not hold.
    package struct Violation: Error, CustomStringConvertible {
        package let description: String
    }

    package let scope: FaultScope
    package let database: LarderDatabase
    /// The steps of all apps whose tables are there.
    package let migrations: [SchemaMigration]

    /// Prepares a loop over writes to a database that was opened within the scope.
    package init(_ scope: FaultScope, _ database: LarderDatabase, migrations: [SchemaMigration] = []) {
        self.scope = scope
        self.database = database
        self.migrations = migrations
    }

    /// Runs the loop.
    ///
    /// - Parameters:
    ///   - mayBePartial: whether the write is several transactions, so that a part may be done where it is refused.
    ///   - prepare: brings about what the write needs, without faults.
    ///   - write: the write; throws where it is refused.
    /// - Returns: Number of system calls that failed or, in a sample, were passed over: the sum for all faults.
    /// - Throws: ``Violation``; the write's error if it is refused without a fault.
    package func run(
        mayBePartial: Bool = false,
        faults: [FaultScope.Fault] = FaultScope.Fault.all,
        prepare: () async throws -> Void,
        write: () async throws -> Void
    ) async throws -> Int {
        var count = 0
        for fault in faults {
            var last = 0
            var isAtEnd = false
            for step in FaultSteps(fault) {
                try await prepare()
                guard try await tryFault(fault, at: step, mayBePartial: mayBePartial, write: write) else {
                    isAtEnd = true
                    break
                }
                last = step
            }
            guard isAtEnd else { throw Violation(description: "\(fault): no end") }
            guard last > 0 else { throw Violation(description: "\(fault): no system call has failed") }
            count += last
        }
        return count
    }

    /// Writes once with a fault, and again if that was refused.
    ///
    /// - Returns: Whether a system call has failed: the write has fewer if not.
    private func tryFault(
        _ fault: FaultScope.Fault,
        at step: Int,
        mayBePartial: Bool,
        write: () async throws -> Void
    ) async throws -> Bool {
        let before = try StoredState(database)
        let (error, hasFailed) = await scope.failing(fault, at: step) { () -> (any Error)? in
            do {
                try await write()
                return nil
            } catch {
                return error
            }
        }
        let place = "\(fault) at step \(step), \(error.map { "refused: \($0)" } ?? "acknowledged")"
        do {
            let after = try StoredState(database)
            if error != nil, !mayBePartial, after != before {
                throw Violation(description: "changed: \(after.differences(from: before))")
            }
            if error == nil, after == before { throw Violation(description: "nothing was written") }
            try checkKilled()
            if error != nil { try await write() }
            _ = try StoredState(database)
        } catch {
            throw Violation(description: "\(place): \(error)")
        }
        if !hasFailed, let error { throw error }
        return hasFailed
    }

    /// Opens a copy of the files, which are those that a killed process would leave.
    private func checkKilled() throws {
        let copy = FileManager.default.temporaryDirectory.appending(path: "larder-killed-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: copy) }
        try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: true)
        let unsynchronized = try FaultScope(copy.path)
        defer { withExtendedLifetime(unsynchronized) {} }
        let folder = URL(filePath: database.directory.path)
        for name in ["larder.sqlite", "larder.sqlite-wal", "larder.key", "larder.key.next", "blobs"] {
            let file = folder.appending(path: name)
            guard FileManager.default.fileExists(atPath: file.path) else { continue }
            try FileManager.default.copyItem(at: file, to: copy.appending(path: name))
        }
        let quiet = Logger(label: "killed") { _ in SwiftLogNoOpLogHandler() }
        let killed = try LarderDatabase.withCacheTables(
            in: DataDirectory(at: copy),
            migrations: migrations,
            logger: quiet
        )
        _ = try StoredState(killed)
        _ = try SealedSecrets(killed).credentialHashKey()
        try killed.close()
    }

    /// Ends the loops: closes the database, and finds nothing missing, cut or left over.
    package func finish() throws {
        try database.close()
        let found = try DirectoryCheck(
            of: database.directory,
            migrations: CacheTables.migrations + migrations,
            options: .init(integrityCheck: .always)
        )
        guard found.faults() == nil, found.strangers() == nil else {
            throw Violation(description: "\(found.faults() ?? "") \(found.strangers() ?? "")")
        }
    }
}

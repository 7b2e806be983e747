import Foundation
import GRDB
import Logging
package import Storage

/// Makes each system call of a write fail in turn, with every fault.
///
/// After each fault the write is either acknowledged and whole, or refused and all is as before; every file that a row
/// names is there; a copy of the files, as a killed process leaves them, has the same and, once it was opened, no file
/// that no row names; and the next write works once the fault is over.
package struct FaultLoop {
    /// A condition that did not hold.
    package struct Violation: Error, CustomStringConvertible {
        package let description: String
    }

    package let scope: FaultScope
    package let database: LarderDatabase
    /// The migrations of all apps whose tables exist.
    package let migrations: [SchemaMigration]

    /// Creates a loop over writes to a database that was opened within the scope.
    package init(_ scope: FaultScope, _ database: LarderDatabase, migrations: [SchemaMigration] = []) {
        self.scope = scope
        self.database = database
        self.migrations = migrations
    }

    /// Runs the loop.
    ///
    /// - Parameters:
    ///   - mayBePartial: Whether the write is several transactions, so that a part may be done if it is refused.
    ///   - prepare: Prepares the data that the write needs, without faults.
    ///   - write: The write; throws if it is refused.
    /// - Returns: Number of system calls that failed or, in a sample, were skipped: the sum for all faults.
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

    /// Runs the write with a fault, and again if it was refused.
    ///
    /// - Returns: Whether a system call has failed: otherwise the write has fewer.
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

    /// Opens a copy of the files, as a killed process leaves them.
    ///
    /// - Throws: ``Violation``; errors of the database.
    private func checkKilled() throws {
        let temporary = TemporaryFolder.unmade()
        defer { withExtendedLifetime(temporary) {} }
        let copy = temporary.url
        let unsynchronized = try FaultScope(copy.path)
        defer { withExtendedLifetime(unsynchronized) {} }
        try KilledCopy.make(of: URL(filePath: database.directory.path), at: copy)
        let quiet = Logger.quiet
        let killed = try LarderDatabase.withCacheTables(
            in: DataDirectory(at: copy),
            migrations: migrations,
            logger: quiet
        )
        _ = try StoredState(killed)
        let named = try killed.read { try BlobID.fetchSet($0, sql: "SELECT id FROM blob") }
        let rest = Set(try killed.blobs.fileNames()).subtracting(named.map(\.description))
        guard rest.isEmpty else { throw Violation(description: "no row names \(rest.sorted())") }
        _ = try SealedSecrets(killed).credentialHashKey()
        try killed.close()
    }

    /// Closes the database and checks that no file is missing, truncated or left over.
    ///
    /// - Throws: ``Violation``; errors of the database.
    package func finish() throws {
        try database.close()
        let found = try DirectoryCheck(
            of: database.directory,
            migrations: CacheTables.migrations + migrations,
            options: .init(integrityCheck: .always)
        )
        guard found.files.faults() == nil, found.files.strangers() == nil else {
            throw Violation(description: "\(found.files.faults() ?? "") \(found.files.strangers() ?? "")")
        }
    }
}

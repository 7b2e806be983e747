package import Foundation
import GRDB
import Logging
package import Storage

/// Makes each system call of a write fail in turn, with every fault.
///
/// After each fault the write is either acknowledged and whole, or refused with nothing changed. Every file that a row
/// names exists. A copy of the files, as after the death of a process, has the same data; after it was opened, it has
/// no file without a row. The next write works once the fault is over.
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
        let (error, hasFailed) = await scope.error(of: fault, at: step) { try await write() }
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

/// The system calls of a write that are tried with a fault, counted from 1.
///
/// Usually these are a sample, the same in each run: the first call fails with every fault, each other one with one
/// fault or, at long intervals, with none. With `FAULT_POINTS=all` in the environment, by `script/check-faults`,
/// each call fails with every fault.
package struct FaultSteps: Sequence, Sendable {
    /// The most steps that are tried: a write has fewer.
    private static let limit = 500
    /// Whether every step is tried, which takes longer.
    package static let areAll = ProcessInfo.processInfo.environment["FAULT_POINTS"] == "all"

    private let first: Int
    private let interval: Int

    /// Selects the steps for one fault.
    ///
    /// - Parameters:
    ///   - fault: Its place among `FaultScope.Fault.all` determines where the sample begins.
    ///   - interval: The distance between two calls of the sample.
    ///   - areAll: Whether every step is selected.
    package init(_ fault: FaultScope.Fault, every interval: Int = 3, areAll: Bool = Self.areAll) {
        let faults = FaultScope.Fault.all.map(\.description)
        let place = faults.firstIndex(of: fault.description) ?? 0
        first = 2 + (areAll ? 0 : place * interval / faults.count)
        self.interval = areAll ? 1 : interval
    }

    package func makeIterator() -> some IteratorProtocol<Int> {
        ([1] + stride(from: first, to: Self.limit, by: interval)).makeIterator()
    }
}

/// A snapshot of everything stored, for comparison: each row of each table and each file that a row names.
package struct StoredState: Equatable, Sendable {
    /// A row names a file that is missing or truncated.
    package struct Broken: Error, CustomStringConvertible {
        package let description: String
    }

    private var tables: [String: [[String]]] = [:]
    private var files: [String: Data] = [:]

    /// Tables that are bookkeeping, not content.
    private static let bookkeeping: Set<String> = ["removed_blob", "sqlite_sequence"]

    /// Reads the state and checks pages, references and files.
    package init(_ database: LarderDatabase) throws {
        try database.checkIntegrity()
        let (tables, blobs) = try database.read { db in
            guard try Row.fetchAll(db, sql: "PRAGMA foreign_key_check").isEmpty else {
                throw Broken(description: "a reference leads nowhere")
            }
            let names = try String.fetchAll(
                db,
                // A full-text index without contents cannot be read; its own tables are compared instead.
                sql: """
                    SELECT name FROM sqlite_schema
                    WHERE type = 'table' AND sql NOT LIKE '%USING fts5%content = ''''%' ORDER BY name
                    """
            )
            var tables: [String: [[String]]] = [:]
            for name in names where !Self.bookkeeping.contains(name) {
                tables[name] = try Row.fetchAll(db, sql: "SELECT * FROM \"\(name)\"").map {
                    $0.databaseValues.map(Self.text)
                }
                .sorted { $0.lexicographicallyPrecedes($1) }
            }
            let blobs = try Row.fetchAll(db, sql: "SELECT id, length FROM blob").map { Blob(id: $0[0], length: $0[1]) }
            return (tables, blobs)
        }
        self.tables = tables
        for blob in blobs {
            do {
                files["\(blob.id)"] = try database.blobs.reader(blob).readAll()
            } catch {
                throw Broken(description: "a row names \(blob.id): \(error)")
            }
        }
    }

    private static func text(_ value: DatabaseValue) -> String {
        if case .blob(let data) = value.storage { data.base64EncodedString() } else { value.description }
    }

    /// Returns the tables whose rows differ, and `blobs` if files do.
    package func differences(from other: StoredState) -> [String] {
        let names = Set(tables.keys).union(other.tables.keys).sorted().filter { tables[$0] != other.tables[$0] }
        return names + (files == other.files ? [] : ["blobs"])
    }
}

/// Copies a data directory that is in use, as a killed process leaves it.
package enum KilledCopy {
    private static let names = ["larder.sqlite", "larder.sqlite-wal", "larder.key", "larder.key.next"]

    /// Copies database, key and blobs. Two names of one file are two names of one copy.
    package static func make(of folder: URL, at copy: URL) throws {
        let files = FileManager.default
        try files.createDirectory(at: copy.appending(path: "blobs"), withIntermediateDirectories: true)
        for name in names where files.fileExists(atPath: folder.appending(path: name).path) {
            try files.copyItem(at: folder.appending(path: name), to: copy.appending(path: name))
        }
        var copied: [UInt: URL] = [:]
        for name in try files.contentsOfDirectory(atPath: folder.appending(path: "blobs").path) {
            let (from, to) = (folder.appending(path: "blobs/\(name)"), copy.appending(path: "blobs/\(name)"))
            let attributes = try files.attributesOfItem(atPath: from.path)
            guard let file = attributes[.systemFileNumber] as? UInt else { throw POSIXError(.ENOENT) }
            if let first = copied[file] {
                try files.linkItem(at: first, to: to)
            } else {
                try files.copyItem(at: from, to: to)
                copied[file] = to
            }
        }
        // The files were there when the database was written.
        try files.setAttributes(
            [.modificationDate: Date() + 1],
            ofItemAtPath: copy.appending(path: "larder.sqlite").path
        )
    }
}

extension LarderDatabase {
    /// Checks the pages of the whole file.
    package func checkIntegrity() throws {
        try read { try IntegrityCheck.pages($0, path: directory.databasePath) }
    }
}

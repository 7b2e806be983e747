import Foundation
import GRDB
import Logging
import Synchronization

extension LarderDatabase {
    /// Checks the pages of the whole file (`PRAGMA quick_check`); takes as long as reading it.
    ///
    /// - Throws: ``StorageError/damagedDatabase(path:detail:)``.
    package func checkIntegrity() throws {
        try read { try IntegrityCheck.pages($0, path: directory.databasePath) }
    }

    /// Checks all pages on a connection of its own: neither reads nor writes wait for it. Takes as long as reading the
    /// file, and if something is wrong, twice as long: then each table and its indexes are checked by themselves.
    ///
    /// - Parameter thoroughly: Whether they are checked by themselves even if the pages seem whole.
    /// - Returns: The findings by name of the damaged table.
    /// - Throws: ``StorageError``, `CancellationError`.
    package func damagedTables(thoroughly: Bool = false) async throws -> [String: String] {
        var configuration = Configuration()
        configuration.label = "larder.check"
        configuration.readonly = true
        configuration.qos = .background
        configuration.busyMode = .timeout(options.busyTimeout)
        do {
            let connection = try DatabaseQueue(path: directory.databasePath, configuration: configuration)
            defer { try? connection.close() }
            // Without a transaction.
            return try await connection.unsafeRead { try IntegrityCheck.damagedTables(thoroughly: thoroughly, $0) }
        } catch {
            throw translating(error)
        }
    }

    /// Returns whether a read or a write has met a damaged page; true once for each process, so that its cause is
    /// looked for once.
    package func takeSuspicion() -> Bool {
        suspicion.compareExchange(expected: 1, desired: 2, ordering: .relaxed).exchanged
    }

    /// Makes ``checkReadiness()`` report damage that could not be removed, and logs it.
    ///
    /// - Parameter tables: The findings by name of the table.
    package func report(damaged tables: [String: String]) {
        guard !tables.isEmpty else { return }
        let detail = IntegrityCheck.text(of: tables).joined(separator: "; ")
        let error = StorageError.damagedDatabase(path: directory.databasePath, detail: detail)
        damage.withLock { $0 = error }
        logger.error(
            "pages of the database are damaged: stop the server, run larder doctor, restore a backup",
            metadata: ["error": "\(error)"]
        )
    }

    /// Returns free pages of the file to the file system, in transactions of 1 MiB, so that other writers have their
    /// turn between them.
    ///
    /// - Parameters:
    ///   - leaving: The part of the file that may stay free, to be used again; and at least 8 MiB.
    ///   - progress: Receives how much was returned.
    /// - Throws: ``StorageError`` other than a full disk, `CancellationError`. The pages returned until then stay
    ///   returned.
    package func shrink(leaving part: Double = 0.25, progress: @escaping ProgressReceiver = { _ in }) async throws {
        do {
            let free = try read { try Self.value("freelist_count", $0) * Self.value("page_size", $0) }
            var counter = ProgressCounter(.shrinking, total: free, progress)
            while try await pool.writeWithoutTransaction({ try Self.shrinkStep($0, leaving: part) }) {
                counter.add(Self.pagesPerStep * Self.usualPageSize)
            }
        } catch {
            let cause = translating(SpaceProbe(in: directory.path).explaining(error, path: directory.databasePath))
            guard case .diskFull = cause as? StorageError else { throw cause }
            // There is no space to move pages. The free ones can be used by new rows.
            logger.warning("free pages stay in the file: the disk is too full to move others")
        }
    }

    /// Returns a part of the free pages, and whether there are more.
    private static func shrinkStep(_ db: Database, leaving part: Double) throws -> Bool {
        let free = try value("freelist_count", db)
        let (all, size) = (try value("page_count", db), try value("page_size", db))
        let least = part > 0 ? shrinkingThreshold : 0
        guard free > 0, free * size >= least, Double(free) > Double(all) * part else { return false }
        try db.execute(sql: "PRAGMA incremental_vacuum(\(pagesPerStep))")
        // Without automatic vacuum, as in a database of another tool, nothing would ever change.
        return try value("freelist_count", db) < free
    }

    private static func value(_ pragma: String, _ db: Database) throws -> Int {
        try Int.fetchOne(db, sql: "PRAGMA \(pragma)") ?? 0
    }

    private static let shrinkingThreshold = 8 << 20
    private static let pagesPerStep = 256
    /// Size of a page of databases that SQLite creates, in bytes.
    private static let usualPageSize = 4096
}

package import Foundation
import GRDB

/// Inspects the cache of a data directory, also while a server uses it: reads only, takes no lock and changes nothing.
package struct CacheInspection: Sendable {
    /// All stored responses of one URL and method.
    package struct Entry: Sendable, Equatable {
        package var upstream: String
        package var method: String
        /// Absolute URL; its query may hold secrets.
        package var url: String
        /// Status of the newest variant.
        package var status: Int
        /// Bytes of all variants.
        package var bytes: Int
        /// When the newest variant was received or last validated.
        package var received: Date
        /// The last recorded use of any variant.
        package var lastUsed: Date
        /// Number of variants, by `Vary` and by credential.
        package var variants: Int
        /// Whether it is excluded from eviction.
        package var isPinned: Bool
    }

    package enum Order: String, Sendable, CaseIterable {
        /// By upstream, then URL.
        case url
        /// Largest first.
        case size
        /// Oldest first.
        case age
        /// Least recently used first: the order of eviction.
        case use

        fileprivate var sql: String {
            switch self {
            case .url: "upstream, url, method"
            case .size: "bytes DESC, upstream, url, method"
            case .age: "received, upstream, url, method"
            case .use: "used, upstream, url, method"
            }
        }
    }

    let database: DatabaseQueue
    let path: String
    /// Whether the file was complete without a log: then it is read alone, and no file is created beside it.
    private let wasComplete: Bool

    /// Opens the database of a data directory for reading; nil if there is none, or one without tables.
    ///
    /// - Throws: `StorageError/olderSchema(path:)`, `StorageError/damagedDatabase(path:detail:)` and others.
    package init?(at directory: URL) throws {
        guard Self.exists(at: directory) else { return nil }
        path = Self.path(in: directory)
        wasComplete = !DirectoryCheck.hasLog(path)
        do {
            database = try DirectoryCheck.openForReading(path)
            let migrator = try SchemaMigration.migrator(LarderDatabase.ownMigrations + CacheTables.migrations)
            let (path, database) = (path, database)
            let isCurrent: Bool? = try database.read { db in
                // Without tables, as after an interrupted first start, nothing is cached.
                try DirectoryCheck.isLarders(db, path: path) ? migrator.hasCompletedMigrations(db) : nil
            }
            guard let isCurrent else { return nil }
            guard isCurrent else { throw StorageError.olderSchema(path: path) }
        } catch {
            throw StorageError.translating(error, path: path)
        }
    }

    /// Returns whether a data directory has a database.
    package static func exists(at directory: URL) -> Bool {
        FileManager.default.fileExists(atPath: path(in: directory))
    }

    private static func path(in directory: URL) -> String { directory.appending(path: DataDirectory.databaseName).path }

    /// Calls `body` for each entry, or for those of an upstream and its mount, in one consistent state.
    ///
    /// - Throws: `StorageError`; errors of `body`.
    package func forEachEntry(sortedBy order: Order = .url, upstream: String? = nil, _ body: (Entry) throws -> Void)
        throws
    {
        try read { db in
            let rows = try Row.fetchCursor(db, sql: Self.selectEntries + order.sql, arguments: ["upstream": upstream])
            while let row = try rows.next() {
                try body(
                    Entry(
                        upstream: row.value(0),
                        method: row.value(1),
                        url: row.value(2),
                        status: row.value(3),
                        bytes: row.value(4),
                        received: row.date(5),
                        lastUsed: row.date(6),
                        variants: row.value(7),
                        isPinned: row.value(8)
                    )
                )
            }
        }
    }

    /// Returns the totals of each upstream, by name, and of the page lists.
    ///
    /// - Throws: `StorageError`.
    package func totals() throws -> (upstreams: [ResponseStore.Total], pages: Int, pageBytes: Int) {
        try read { db in
            let pages = try Row.fetchOne(db, sql: "SELECT pages, bytes FROM page_total WHERE one = 1")
            return try (ResponseStore.totals(in: db), pages?.value(0) ?? 0, pages?.value(1) ?? 0)
        }
    }

    /// Returns the responses that a purge would remove.
    ///
    /// - Throws: `StorageError`.
    package func preview(of purge: CachePurge) throws -> CachePurge.Report {
        try read { try purge.preview(in: $0) }
    }

    private func read<Value>(_ value: (Database) throws -> Value) throws -> Value {
        do {
            let value = try database.read(value)
            // A server that was started meanwhile may have changed the file while it was read.
            if wasComplete, DirectoryCheck.hasLog(path) { throw StorageError.databaseBusy(path: path) }
            return value
        } catch {
            throw StorageError.translating(error, path: path)
        }
    }

    // The status is in the last three digits after the time, so that the maximum is that of the newest variant.
    private static let selectEntries = """
        SELECT upstream, method, url, max(response_time * 1000 + status) % 1000, sum(size) AS bytes,
            max(response_time) AS received, max(last_used) AS used, count(*), max(pinned)
        FROM stored_response
        WHERE :upstream IS NULL OR upstream = :upstream OR substr(upstream, 1, length(:upstream) + 1) = :upstream || '.'
        GROUP BY upstream, url, method
        ORDER BY\u{20}
        """
}

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
    package func totals() throws -> (upstreams: [ResponseStore.Total], pages: Int, pageBytes: Int) {
        try read { db in
            let pages = try Row.fetchOne(db, sql: "SELECT pages, bytes FROM page_total WHERE one = 1")
            return try (ResponseStore.totals(in: db), pages?.value(0) ?? 0, pages?.value(1) ?? 0)
        }
    }

    /// Returns the responses that a purge would remove.
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

/// Removes cached data that meets all conditions that are not nil. Pinned responses stay: rows of an app were made of
/// them.
package struct CachePurge: Sendable, Equatable {
    /// The responses that were removed, or would be.
    package struct Report: Sendable, Equatable {
        /// Number and bytes of one upstream's responses.
        package struct Share: Sendable, Equatable {
            package var responses = 0
            package var bytes = 0
        }

        /// Removed responses by name of the upstream.
        package var upstreams: [String: Share] = [:]
        /// Page lists.
        package var pages = 0
        /// Responses that meet the conditions and stay because they are pinned.
        package var pinned = 0
    }

    /// Only responses of this upstream, including those of its mount, whose name begins with the upstream's and a dot.
    var upstream: String?
    /// Only responses whose URL has a path that begins with this.
    var pathPrefix: String?
    /// Only responses received or last validated before this.
    var receivedBefore: Date?

    /// Creates a purge; without conditions it removes everything.
    package init(upstream: String? = nil, pathPrefix: String? = nil, receivedBefore: Date? = nil) {
        self.upstream = upstream
        self.pathPrefix = pathPrefix
        self.receivedBefore = receivedBefore
    }

    /// Returns whether a response meets the conditions.
    func matches(upstream: String, url: String, received: Date) -> Bool {
        if let wanted = self.upstream, wanted != upstream, !upstream.hasPrefix("\(wanted).") { return false }
        if let receivedBefore, received >= receivedBefore { return false }
        return pathPrefix.map { Self.path(of: url).hasPrefix($0) } ?? true
    }

    /// Returns the path of an absolute URL, `/` if it has none.
    static func path(of url: String) -> Substring {
        guard let scheme = url.firstRange(of: "://") else { return url.prefix { $0 != "?" } }
        let path = url[scheme.upperBound...].drop { $0 != "/" && $0 != "?" }.prefix { $0 != "?" }
        return path.isEmpty ? "/" : path
    }

    /// Removes matching responses, in transactions of bounded length, and returns free pages of the file to the
    /// file system.
    ///
    /// - Parameter progress: Receives how much was examined and returned, in bytes.
    /// - Throws: `StorageError`, `CancellationError`. Responses removed until then stay removed.
    package func run(on database: LarderDatabase, progress: @escaping ProgressReceiver = { _ in }) async throws
        -> Report
    {
        var report = Report()
        let total = try database.read { try ResponseStore.totals(in: $0).reduce(0) { $0 + $1.bytes } }
        var counter = ProgressCounter(.removal, total: total, progress)
        var last: Int64? = 0
        while let after = last {
            let batch = try await database.writeFreeingRoom { db in
                let batch = try self.batch(after: after, in: db)
                for response in batch.matching {
                    try db.cachedStatement(sql: ResponseStore.deleteByID).execute(arguments: [response.id])
                }
                return batch
            }
            report.add(batch)
            counter.add(batch.bytes)
            last = batch.last
        }
        report.pages = try await database.writeFreeingRoom { db in
            let count = try countPages(in: db)
            if count > 0 { try db.execute(sql: "DELETE FROM page WHERE fetched_at < ?", arguments: [pageLimit]) }
            return count
        }
        try await database.shrink(leaving: 0, progress: progress)
        return report
    }

    func preview(in db: Database) throws -> Report {
        var report = Report()
        var last: Int64? = 0
        while let after = last {
            let batch = try self.batch(after: after, in: db)
            report.add(batch)
            last = batch.last
        }
        report.pages = try countPages(in: db)
        return report
    }

    struct Batch: Sendable {
        var matching: [(id: Int64, upstream: String, bytes: Int)] = []
        var pinned = 0
        /// Bytes of all examined responses.
        var bytes = 0
        /// The row that the next batch starts after; nil if this was the last.
        var last: Int64?
    }

    private func batch(after id: Int64, in db: Database) throws -> Batch {
        var batch = Batch()
        let rows = try Row.fetchAll(db.cachedStatement(sql: Self.selectBatch), arguments: [id, Self.batchSize])
        for row in rows {
            let (upstream, bytes): (String, Int) = try (row.value(1), row.size(4))
            batch.bytes += bytes
            guard try matches(upstream: upstream, url: row.value(2), received: row.date(3)) else { continue }
            if try row.value(5) {
                batch.pinned += 1
            } else {
                batch.matching.append((try row.value(0), upstream, bytes))
            }
        }
        batch.last = rows.count < Self.batchSize ? nil : try rows.last?.value(0)
        return batch
    }

    /// Counts the page lists. They belong to accounts, not to upstreams or paths, so only a purge by age or of
    /// everything removes them.
    private func countPages(in db: Database) throws -> Int {
        guard upstream == nil, pathPrefix == nil else { return 0 }
        return try Int.fetchOne(db, sql: "SELECT count(*) FROM page WHERE fetched_at < ?", arguments: [pageLimit]) ?? 0
    }

    private var pageLimit: Int64 { (receivedBefore ?? .distantFuture).millisecondsSince1970 }

    static let batchSize = 256
    static let selectBatch =
        "SELECT id, upstream, url, response_time, size, pinned FROM stored_response WHERE id > ? ORDER BY id LIMIT ?"
}

extension CachePurge.Report {
    mutating func add(_ batch: CachePurge.Batch) {
        pinned += batch.pinned
        for response in batch.matching {
            upstreams[response.upstream, default: Share()].responses += 1
            upstreams[response.upstream, default: Share()].bytes += response.bytes
        }
    }
}

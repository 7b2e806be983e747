package import Foundation
import GRDB

/// Removes cached data that meets all conditions that are not nil. Pinned responses stay: rows of an app were made of
/// them.
package struct CachePurge: Sendable, Equatable {
    /// The responses that were removed, or would be.
    package struct Report: Sendable, Equatable {
        /// Number and bytes of one upstream's responses.
        package struct Share: Sendable, Equatable {
            /// Number of stored responses.
            package var responses = 0
            /// Bytes of them.
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
    /// - Parameter progress: Receives how much was looked at and returned, in bytes.
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
        /// Bytes of all responses that were looked at.
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

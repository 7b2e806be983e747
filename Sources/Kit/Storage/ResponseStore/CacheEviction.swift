package import Foundation
import GRDB
import Synchronization

/// Removes the least recently used responses and page lists until the budget is kept. Sessions, rows of apps, secrets
/// and pinned responses are never removed.
package struct CacheEviction: Sendable {
    /// The number of removed responses, and their size.
    package struct Freed: Sendable, Equatable {
        package var responses = 0
        package var pages = 0
        /// Bytes of both.
        package var bytes = 0

        /// Number of responses and page lists.
        package var count: Int { responses + pages }
    }

    /// A response or page list that may be evicted.
    struct Candidate: Equatable {
        enum Kind { case response, page }
        let kind: Kind
        let id: Int64
        let size: Int
        let lastUsed: Int64
    }

    /// The most responses and page lists that one transaction removes: the next writer waits for the deletion of at
    /// most 6 MB, besides the files of blobs.
    static let batch = 64

    let budget: CacheBudget
    private let database: LarderDatabase

    package init(_ database: LarderDatabase, budget: CacheBudget) {
        self.database = database
        self.budget = budget
    }

    /// Evicts down to the low-water mark if the budget is exceeded, in transactions of bounded length, so that other
    /// writers have their turn between them.
    ///
    /// - Throws: `StorageError`, `CancellationError`. Responses evicted until then stay removed.
    package func run() async throws -> Freed {
        var freed = Freed()
        guard budget.isExceeded(by: try total()) else { return freed }
        while true {
            let step = try await database.writeFreeingRoom { try self.step(in: $0) }
            guard step.count > 0 else { return freed }
            freed.responses += step.responses
            freed.pages += step.pages
            freed.bytes += step.bytes
        }
    }

    /// Returns the bytes of everything that is cached.
    package func total() throws -> Int {
        try database.read { try Self.total(in: $0) }
    }

    static func total(in db: Database) throws -> Int {
        try Int.fetchOne(db.cachedStatement(sql: selectTotal)) ?? 0
    }

    private func step(in db: Database) throws -> Freed {
        let excess = budget.excess(of: try Self.total(in: db))
        guard excess > 0 else { return Freed() }
        let candidates =
            try Self.candidates(.response, sql: Self.selectResponses, in: db)
            + Self.candidates(.page, sql: Self.selectPages, in: db)
        var freed = Freed()
        for victim in Self.victims(freeing: excess, among: candidates) {
            switch victim.kind {
            case .response:
                try db.cachedStatement(sql: ResponseStore.deleteByID).execute(arguments: [victim.id])
                freed.responses += 1
            case .page:
                try db.cachedStatement(sql: Self.deletePage).execute(arguments: [victim.id])
                freed.pages += 1
            }
            freed.bytes += victim.size
        }
        return freed
    }

    /// Returns the least recently used that together free the excess; at most a batch.
    static func victims(freeing excess: Int, among candidates: [Candidate]) -> ArraySlice<Candidate> {
        let ordered = candidates.sorted { ($0.lastUsed, $0.id) < ($1.lastUsed, $1.id) }.prefix(batch)
        var rest = excess
        return ordered.prefix { candidate in
            defer { rest -= candidate.size }
            return rest > 0
        }
    }

    private static func candidates(_ kind: Candidate.Kind, sql: String, in db: Database) throws -> [Candidate] {
        try Row.fetchAll(db.cachedStatement(sql: sql), arguments: [batch])
            .map { try Candidate(kind: kind, id: $0.value(0), size: $0.size(1), lastUsed: $0.value(2)) }
    }

    static let selectTotal = """
        SELECT coalesce((SELECT sum(bytes) FROM stored_response_total), 0)
            + coalesce((SELECT bytes FROM page_total WHERE one = 1), 0)
        """
    static let selectResponses =
        "SELECT id, size, last_used FROM stored_response WHERE pinned = 0 ORDER BY last_used LIMIT ?"
    static let selectPages = "SELECT id, size, last_used FROM page ORDER BY last_used LIMIT ?"
    static let deletePage = "DELETE FROM page WHERE id = ?"

    static let migrations = [
        SchemaMigration(
            "storage/005 eviction",
            sql: """
                ALTER TABLE stored_response ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0; -- 1: never evicted
                DROP INDEX stored_response_by_last_use;
                CREATE INDEX stored_response_by_last_use ON stored_response (pinned, last_used, size);

                CREATE TABLE page_total (
                    one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
                    pages INTEGER NOT NULL,
                    bytes INTEGER NOT NULL
                ) STRICT;
                INSERT INTO page_total (one, pages, bytes) SELECT 1, count(*), coalesce(sum(size), 0) FROM page;

                CREATE TRIGGER page_inserted AFTER INSERT ON page BEGIN
                    UPDATE page_total SET pages = pages + 1, bytes = bytes + new.size WHERE one = 1;
                END;

                CREATE TRIGGER page_resized AFTER UPDATE OF size ON page WHEN new.size <> old.size BEGIN
                    UPDATE page_total SET bytes = bytes + new.size - old.size WHERE one = 1;
                END;

                CREATE TRIGGER page_deleted AFTER DELETE ON page BEGIN
                    UPDATE page_total SET pages = pages - 1, bytes = bytes - old.size WHERE one = 1;
                END;
                """
        )
    ]
}

/// The limit of the cache: stored responses with their bodies, and page lists. Sessions, rows of apps and secrets do
/// not count.
package struct CacheBudget: Sendable, Equatable {
    package static let unlimited = CacheBudget(bytes: .max)

    /// The limit in bytes as ``ResponseStore/Total`` counts them: bodies, header fields and keys, without the overhead
    /// of SQLite.
    package let bytes: Int

    package init(bytes: Int) {
        self.bytes = max(0, bytes)
    }

    /// Eviction continues until this is reached, so that the next response does not start it again: nine tenths.
    package var lowWaterMark: Int { bytes / 10 * 9 }

    /// Returns whether something has to be evicted.
    package func isExceeded(by total: Int) -> Bool { total > bytes }

    /// Returns the bytes to free once the budget is exceeded; 0 if enough is free.
    func excess(of total: Int) -> Int { max(0, total - lowWaterMark) }

    /// Returns whether a response of this size may be stored. One above the low-water mark would evict everything else
    /// and be the next to be evicted.
    package func admits(_ size: Int) -> Bool { size <= lowWaterMark }
}

/// Records uses of stored responses and page lists in memory and writes them in batches, so that no read waits for a
/// write or causes one.
///
/// Uses that are lost with the process only make the order of eviction less exact.
package final class AccessRecorder: Sendable {
    private struct Pending {
        var responses: [CachedResponse.ID: Date] = [:]
        var pages: [PageKey: Date] = [:]
        var count: Int { responses.count + pages.count }
    }

    private let pending = Mutex(Pending())
    private let limit: Int
    private let resolution: TimeInterval

    /// - Parameters:
    ///   - limit: The most responses and pages that are recorded between two flushes; uses of others are dropped.
    ///   - resolution: Seconds after a recorded use in which another is dropped, so that a hot response does not keep
    ///     the disk busy.
    package init(limit: Int = 16_384, resolution: TimeInterval = 10) {
        self.limit = limit
        self.resolution = resolution
    }

    /// Records that a stored response served a request. Costs a short lock; never waits for the database.
    package func note(_ response: StoredResponseMetadata, at time: Date) {
        guard let id = response.id, time.timeIntervalSince(response.lastUsed) >= resolution else { return }
        note(id, at: time)
    }

    /// Records a use of a response of which only the identity is known.
    package func note(_ id: CachedResponse.ID, at time: Date) {
        pending.withLock { pending in
            guard pending.responses[id] != nil || pending.count < limit else { return }
            pending.responses[id] = max(time, pending.responses[id] ?? time)
        }
    }

    /// Records that a page list served a request.
    package func note(_ page: PageKey, at time: Date) {
        pending.withLock { pending in
            guard pending.pages[page] != nil || pending.count < limit else { return }
            pending.pages[page] = max(time, pending.pages[page] ?? time)
        }
    }

    /// Writes the recorded uses in one transaction, if there are any. After an error they are still recorded.
    ///
    /// - Returns: The number of responses and pages that were written.
    @discardableResult
    package func flush(to database: LarderDatabase) async throws -> Int {
        let taken = pending.withLock { pending in
            defer { pending = Pending() }
            return pending
        }
        guard taken.count > 0 else { return 0 }
        do {
            try await database.write { db in
                try ResponseStore(database).touch(taken.responses, in: db)
                try PageStore().touch(taken.pages, in: db)
            }
            return taken.count
        } catch {
            for (id, time) in taken.responses { note(id, at: time) }
            for (key, time) in taken.pages { note(key, at: time) }
            throw error
        }
    }
}

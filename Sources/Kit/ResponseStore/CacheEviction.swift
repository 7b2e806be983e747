public import Database
import GRDB

/// Removes the least recently used responses and page lists until the budget is kept. Sessions, rows of apps, secrets
/// and pinned responses are never removed.
public struct CacheEviction: Sendable {
    /// What was removed.
    public struct Freed: Sendable, Equatable {
        /// Stored responses.
        public var responses = 0
        /// Page lists.
        public var pages = 0
        /// Bytes of both.
        public var bytes = 0

        /// Creates an empty result.
        public init() {}

        /// Number of responses and page lists.
        public var count: Int { responses + pages }
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

    /// The budget.
    public let budget: CacheBudget
    private let database: LarderDatabase

    /// Creates an eviction for a database.
    public init(_ database: LarderDatabase, budget: CacheBudget) {
        self.database = database
        self.budget = budget
    }

    /// Evicts down to the low-water mark if the budget is exceeded, in transactions of bounded length, so that other
    /// writers have their turn between them.
    ///
    /// - Throws: `StorageError`, `CancellationError`. What was evicted until then stays removed.
    public func run() async throws -> Freed {
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
    ///
    /// - Throws: `StorageError`.
    public func total() throws -> Int {
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

import Database
public import GRDB

extension ResponseStore {
    /// The stored responses of an upstream.
    public struct Total: Sendable, Equatable {
        /// Name of the upstream.
        public var upstream: String
        /// Number of stored responses.
        public var responses: Int
        /// Bytes of bodies, header fields and keys, blobs included, without the overhead of the database.
        public var bytes: Int
    }

    /// Returns the total of each upstream, by name. The cost grows with the number of upstreams only.
    ///
    /// - Throws: Errors of the database.
    public static func totals(in db: Database) throws -> [Total] {
        try Row.fetchAll(
            db.cachedStatement(sql: "SELECT upstream, responses, bytes FROM stored_response_total ORDER BY upstream")
        )
        .map { try Total(upstream: $0.value(0), responses: $0.value(1), bytes: $0.value(2)) }
    }

    /// Returns the total of each upstream, in a read of its own.
    ///
    /// - Throws: `StorageError`.
    public func totals() throws -> [Total] {
        try database.read { try Self.totals(in: $0) }
    }

    /// Returns the bytes of everything that is cached, and the total of each upstream.
    ///
    /// - Throws: `StorageError`.
    public func usage() throws -> (bytes: Int, upstreams: [Total]) {
        try database.read { (try CacheEviction.total(in: $0), try Self.totals(in: $0)) }
    }
}

import Database
public import GRDB

extension ResponseStore {
    /// How much an upstream has stored.
    public struct Total: Sendable, Equatable {
        /// Name of the upstream.
        public var upstream: String
        /// Number of stored responses.
        public var responses: Int
        /// Bytes of bodies, header fields and keys, blobs included; what the database needs around them is not.
        public var bytes: Int
    }

    /// What each upstream has stored, by name. Costs as much as there are upstreams.
    public static func totals(in db: Database) throws -> [Total] {
        try Row.fetchAll(
            db.cachedStatement(sql: "SELECT upstream, responses, bytes FROM stored_response_total ORDER BY upstream")
        )
        .map { Total(upstream: $0[0], responses: $0[1], bytes: $0[2]) }
    }

    /// The same, in a read of its own.
    public func totals() throws -> [Total] {
        try database.read { try Self.totals(in: $0) }
    }
}

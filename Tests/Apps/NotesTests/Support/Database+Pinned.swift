import GRDB

extension Database {
    /// URLs of stored responses that are never evicted, in order.
    func pinnedURLs() throws -> [String] {
        try String.fetchAll(self, sql: "SELECT url FROM stored_response WHERE pinned = 1 ORDER BY url")
    }
}

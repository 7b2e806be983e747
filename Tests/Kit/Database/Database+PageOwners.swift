package import GRDB

extension Database {
    /// Returns the table of each page but the first; nil for a page that is free or describes others.
    package func pageOwners() throws -> [(page: Int, table: String?)] {
        let rows = try Row.fetchAll(
            self,
            sql: """
                SELECT pageno, coalesce(object.tbl_name, dbstat.name) FROM dbstat
                LEFT JOIN sqlite_schema AS object ON object.name = dbstat.name
                """
        )
        let tables = Dictionary(rows.map { ($0[0] as Int, $0[1] as String) }) { first, _ in first }
        let count = try Int.fetchOne(self, sql: "PRAGMA page_count") ?? 0
        return (2...count).map { ($0, tables[$0]) }
    }
}

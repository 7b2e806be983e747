package import GRDB
package import Storage

/// How SQLite carries out a statement (`EXPLAIN QUERY PLAN`).
package struct QueryPlan: Sendable, CustomStringConvertible {
    /// The details of its steps, in order.
    package let steps: [String]

    /// Plans a statement; parameters without a value are null.
    ///
    /// - Throws: `DatabaseError` if it is no statement of this database.
    package init(_ sql: String, _ arguments: StatementArguments = StatementArguments(), in database: LarderDatabase)
        throws
    {
        steps = try database.read { db in
            let statement = try db.makeStatement(sql: "EXPLAIN QUERY PLAN " + sql)
            statement.setUncheckedArguments(arguments)
            return try Row.fetchAll(statement).map { $0["detail"] }
        }
    }

    /// Whether it walks a whole table or index.
    package var scans: Bool { steps.contains { $0.contains("SCAN") } }
    /// Whether it sorts rows because no index has their order.
    package var sorts: Bool { steps.contains { $0.contains("TEMP B-TREE") } }

    /// Its steps, for people.
    package var description: String { steps.joined(separator: "; ") }
}

package import GRDB

/// A table of the terms by which rows are found, the newest first.
///
/// It is a table of FTS5 without contents and without positions: an entry is a term of one owner and a rank, which
/// names a row and is greater for a newer one. The ranks of a term are read from the greatest on, so a search costs
/// what it returns, however many rows have the term. The owner is part of each term: what others have costs nothing.
///
/// Triggers may not write virtual tables, because the schema is not trusted (`PRAGMA trusted_schema = OFF`). Whatever
/// writes a row calls these functions in the same transaction.
package struct SearchIndex: Sendable {
    /// The name of the table.
    package let table: String
    private let insertion: String
    private let deletion: String
    private let optimization: String

    /// Names an index.
    package init(_ table: String) {
        self.table = table
        insertion = "INSERT INTO \(table) (rowid, terms) VALUES (?, ?)"
        // FTS5, "Contentless Tables": a row is deleted by its former values.
        deletion = "INSERT INTO \(table) (\(table), rowid, terms) VALUES ('delete', ?, ?)"
        optimization = "INSERT INTO \(table) (\(table)) VALUES ('optimize')"
    }

    /// The statement that creates the table.
    package var creation: String {
        """
        CREATE VIRTUAL TABLE \(table) USING fts5 (
            terms, content = '', columnsize = 0, detail = none, tokenize = 'ascii'
        );
        """
    }

    /// Adds a row. In one transaction rows are best added in ascending order of their ranks.
    ///
    /// - Throws: GRDB's errors.
    package func insert(_ terms: Set<String>, of owner: Int64, at rank: Int64, _ db: Database) throws {
        guard !terms.isEmpty else { return }
        try db.cachedStatement(sql: insertion).execute(arguments: [rank, Self.text(terms, of: owner)])
    }

    /// Removes a row.
    ///
    /// - Parameter terms: The terms with which it was added.
    /// - Throws: GRDB's errors.
    package func delete(_ terms: Set<String>, of owner: Int64, at rank: Int64, _ db: Database) throws {
        guard !terms.isEmpty else { return }
        try db.cachedStatement(sql: deletion).execute(arguments: [rank, Self.text(terms, of: owner)])
    }

    /// Merges the segments that insertions have left into one. A search reads each of them, of which many rows that
    /// are added at once leave a dozen; merging those takes a tenth of the time of adding them.
    ///
    /// - Throws: GRDB's errors.
    package func optimize(_ db: Database) throws { try db.execute(sql: optimization) }

    /// Removes all rows of all owners.
    ///
    /// - Throws: GRDB's errors.
    package func deleteAll(_ db: Database) throws {
        try db.execute(sql: "INSERT INTO \(table) (\(table)) VALUES ('delete-all')")
    }

    /// A search for the rows of an owner that have all of some terms.
    package struct Search: Sendable {
        let table: String
        /// The terms in the notation of FTS5.
        let expressions: [String]

        /// The expression for `MATCH`.
        var expression: String { expressions.joined(separator: " AND ") }
    }

    /// Returns a search.
    package func search(_ terms: [String], of owner: Int64) -> Search {
        let prefix = Self.prefix(of: owner)
        return Search(table: table, expressions: terms.map { "\"\(prefix)\($0)\"" })
    }

    private static func text(_ terms: Set<String>, of owner: Int64) -> String {
        let prefix = prefix(of: owner)
        return terms.map { prefix + $0 }.joined(separator: " ")
    }

    /// No term begins with a middle dot, so no owner has terms of another one.
    private static func prefix(of owner: Int64) -> String { String(owner, radix: 36) + "\u{B7}" }
}

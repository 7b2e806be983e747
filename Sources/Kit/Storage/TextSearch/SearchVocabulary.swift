package import GRDB

/// A table of the words that rows of an owner have, by which searches find other forms of a word. Whatever writes a row
/// calls these functions in the same transaction.
package struct SearchVocabulary: Sendable {
    package let table: String
    private let insertion: String
    private let (decrease, deletion): (String, String)
    let (byBeginning, byEnd): (String, String)

    /// The most entries that one look-up reads.
    static let mostEntries = 4000

    package init(_ table: String) {
        self.table = table
        insertion = """
            INSERT INTO \(table) (owner, word, reversed, rows) VALUES (?, ?, ?, 1)
            ON CONFLICT (owner, word) DO UPDATE SET rows = rows + 1
            """
        decrease = "UPDATE \(table) SET rows = rows - 1 WHERE owner = ? AND word = ?"
        deletion = "DELETE FROM \(table) WHERE owner = ? AND word = ? AND rows <= 0"
        func select(_ column: String) -> String {
            """
            SELECT word, rows FROM (
                SELECT word, rows FROM \(table) WHERE owner = ? AND \(column) >= ? AND \(column) < ?
                ORDER BY \(column) LIMIT \(Self.mostEntries)
            ) WHERE length(word) BETWEEN ? AND ?
            """
        }
        (byBeginning, byEnd) = (select("word"), select("reversed"))
    }

    /// The statements that create the table.
    package var creation: String {
        """
        CREATE TABLE \(table) (
            owner INTEGER NOT NULL,
            word TEXT NOT NULL, -- folded
            reversed TEXT NOT NULL, -- the word from its end
            rows INTEGER NOT NULL, -- that have it
            PRIMARY KEY (owner, word)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX \(table)_by_end ON \(table) (owner, reversed);
        """
    }

    /// Changes the words of a row.
    ///
    /// - Parameters:
    ///   - old: Those that it had; empty for a new row.
    ///   - new: Those that it has now; empty for a row that is deleted.
    package func change(_ old: Set<String>, to new: Set<String>, of owner: Int64, _ db: Database) throws {
        for word in new.subtracting(old) where !StoredWords.isNumber(word) {
            try db.cachedStatement(sql: insertion).execute(arguments: [owner, word, word.scalarsReversed])
        }
        for word in old.subtracting(new) where !StoredWords.isNumber(word) {
            try db.cachedStatement(sql: decrease).execute(arguments: [owner, word])
            try db.cachedStatement(sql: deletion).execute(arguments: [owner, word])
        }
    }

    /// Removes all words of an owner.
    package func deleteAll(of owner: Int64, _ db: Database) throws {
        try db.execute(sql: "DELETE FROM \(table) WHERE owner = ?", arguments: [owner])
    }

    package func words(of owner: Int64, _ db: Database) -> StoredWords {
        func lookup(_ sql: String, _ form: @escaping (String) -> String) -> StoredWords.Lookup {
            { part, lengths in
                let start = form(part)
                let arguments: StatementArguments = [
                    owner, start, start + "\u{10FFFF}", lengths.lowerBound, lengths.upperBound,
                ]
                return try Row.fetchAll(db.cachedStatement(sql: sql), arguments: arguments).map {
                    (try $0.value(0), try $0.value(1))
                }
            }
        }
        let count = "SELECT rows FROM \(table) WHERE owner = ? AND word = ?"
        return StoredWords(
            rows: { try Int.fetchOne(db.cachedStatement(sql: count), arguments: [owner, $0]) },
            beginning: lookup(byBeginning, \.self),
            ending: lookup(byEnd, \.scalarsReversed)
        )
    }
}

/// Whether two words differ by one typing error.
enum EditDistance {
    /// Whether the second word differs from the first by one letter that is changed, missing or added, or by two
    /// neighbours in the other order (a Damerau–Levenshtein distance of one). Takes time of one comparison.
    static func isOne(_ one: [Unicode.Scalar], _ other: [Unicode.Scalar]) -> Bool {
        guard abs(one.count - other.count) <= 1 else { return false }
        let shorter = min(one.count, other.count)
        var start = 0
        while start < shorter, one[start] == other[start] { start += 1 }
        var end = 0
        while end < shorter - start, one[one.count - 1 - end] == other[other.count - 1 - end] { end += 1 }
        let rest = (one.count - start - end, other.count - start - end)
        switch rest {
        case (1, 1), (0, 1), (1, 0): return true
        case (2, 2): return one[start] == other[start + 1] && one[start + 1] == other[start]
        default: return false
        }
    }
}

package import GRDB

/// A table of the terms by which rows are found, the newest first.
///
/// It is a table of FTS5 without contents and without positions. An entry is a term of one owner and a rank, which
/// names a row and is greater for a newer one. The ranks of a term are read from the greatest on, so the cost of a
/// search depends on its results, however many rows have the term. The owner is part of each term: rows of others cost
/// nothing.
///
/// Triggers may not write virtual tables, because the schema is not trusted (`PRAGMA trusted_schema = OFF`). Whatever
/// writes a row calls these functions in the same transaction.
package struct SearchIndex: Sendable {
    package let table: String
    private let insertion: String
    private let deletion: String
    private let optimization: String

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
    package func insert(_ terms: Set<String>, of owner: Int64, at rank: Int64, _ db: Database) throws {
        guard !terms.isEmpty else { return }
        try db.cachedStatement(sql: insertion).execute(arguments: [rank, Self.text(terms, of: owner)])
    }

    /// Removes a row.
    ///
    /// - Parameter terms: The terms with which it was added.
    package func delete(_ terms: Set<String>, of owner: Int64, at rank: Int64, _ db: Database) throws {
        guard !terms.isEmpty else { return }
        try db.cachedStatement(sql: deletion).execute(arguments: [rank, Self.text(terms, of: owner)])
    }

    /// Merges the segments that insertions have left into one. A search reads each of them, of which many rows that
    /// are added at once leave a dozen; merging those takes a tenth of the time of adding them.
    package func optimize(_ db: Database) throws { try db.execute(sql: optimization) }

    /// Removes all rows of all owners.
    package func deleteAll(_ db: Database) throws {
        try db.execute(sql: "INSERT INTO \(table) (\(table)) VALUES ('delete-all')")
    }

    /// A search for the rows of an owner that have all of some terms.
    package struct Search: Sendable {
        let table: String
        /// The terms in the notation of FTS5.
        let expressions: [String]

        /// The expression for `MATCH`.
        package var expression: String { expressions.joined(separator: " AND ") }
    }

    package func search(_ terms: [String], of owner: Int64) -> Search {
        let prefix = Self.prefix(of: owner)
        return Search(table: table, expressions: terms.map { "\"\(prefix)\($0)\"" })
    }

    /// Returns the search for rows of an owner whose words are those of a variant.
    package func wordSearch(_ variant: SearchVariant, of owner: Int64) -> Search {
        search(variant, of: owner) { [SearchTerms.whole($0.wordFolded)] }
    }

    /// Returns the search for names of an owner that may have the words of a variant; others are left out by
    /// ``SearchVariant/condition(on:)``.
    package func partSearch(_ variant: SearchVariant, of owner: Int64) -> Search {
        search(variant, of: owner) { WordQuery.grams(of: $0[...], limit: WordQuery.mostGrams) }
    }

    /// Returns the search for rows of an owner that have the words of a variant.
    ///
    /// - Parameter terms: The terms that a row with a word must have.
    package func search(_ variant: SearchVariant, of owner: Int64, _ terms: (String) -> [String]) -> Search {
        let prefix = Self.prefix(of: owner)
        let expressions = variant.words.map { alternatives in
            let each = alternatives.map { words in
                words.flatMap(terms).map { "\"\(prefix)\($0)\"" }.joined(separator: " AND ")
            }
            return "((" + each.joined(separator: ") OR (") + "))"
        }
        return Search(table: table, expressions: expressions)
    }

    private static func text(_ terms: Set<String>, of owner: Int64) -> String {
        let prefix = prefix(of: owner)
        return terms.map { prefix + $0 }.joined(separator: " ")
    }

    /// No term begins with a middle dot, so no owner has terms of another one.
    private static func prefix(of owner: Int64) -> String { String(owner, radix: 36) + "\u{B7}" }
}

/// The text of a search: each of its words must occur, the last one may be the beginning of a word. Of words in scripts
/// without spaces, and of Korean, each may be any part of a text; an emoji is a word.
package struct WordQuery: Sendable, Equatable {
    /// The terms that a text must have (``SearchTerms``), without those that others imply.
    package let terms: [String]
    /// Texts that must occur in its passages as well, because no term is that long.
    package let passages: [String]

    /// The most words that are used; the others are ignored.
    package static let mostWords = 16
    /// The most terms of passages: the rest is compared in ``passages``.
    static let mostGrams = 24

    /// - Parameter isComplete: Whether the last word is whole, too.
    package init(_ text: String, isComplete: Bool = false) {
        let tokens = SearchToken.tokens(of: text.wordFolded, limit: Self.mostWords)
        var (terms, passages): ([String], [String]) = ([], [])
        var grams = Self.mostGrams
        for (index, token) in tokens.enumerated() {
            switch token.kind {
            case .word:
                let word = SearchTerms.encoded(String(token.text) + token.suffix)
                let isLast = index == tokens.count - 1 && !isComplete
                terms.append(isLast ? SearchTerms.beginning(word) : SearchTerms.whole(word))
                guard SearchTerms.isLong(word) else { continue }
                passages.append(isLast ? SearchTerms.longBeginning(word) : SearchTerms.longWhole(word))
            case .run:
                let found = Self.grams(of: token.text, limit: max(1, grams))
                grams -= found.count
                terms += found
                if token.text.unicodeScalars.count > SearchTerms.longestGram { passages.append(String(token.text)) }
            case .pictographs: terms += EmojiSequence.sequences(in: token.text).prefix(Self.mostWords).map(\.term)
            }
        }
        var seen: Set<String> = []
        self.terms = terms.filter { seen.insert($0).inserted }
        self.passages = passages
    }

    /// Whether there is nothing to search for.
    package var isEmpty: Bool { terms.isEmpty }

    /// The search in a form that is equal for equal searches.
    package var normalized: String { (terms + passages).joined(separator: " ") }

    /// Returns the longest terms that a passage must have: itself, or its trigrams.
    static func grams(of text: Substring, limit: Int) -> [String] {
        let scalars = Array(text.unicodeScalars)
        guard scalars.count > SearchTerms.longestGram else { return [SearchTerms.encoded(String(text))] }
        return (0...(scalars.count - SearchTerms.longestGram)).prefix(limit).map { start in
            let part = scalars[start..<start + SearchTerms.longestGram]
            return SearchTerms.encoded(String(String.UnicodeScalarView(part)))
        }
    }
}

/// The text of a search for names: a name must have it anywhere, spaces and punctuation included.
package struct PartQuery: Sendable, Equatable {
    /// The text in the form in which it is compared (`Swift/String/partFolded`).
    package let text: String
    /// The terms that a name must have (``SearchTerms/parts(of:)``).
    package let terms: [String]

    package init(_ text: String) {
        self.text = text.partFolded
        terms = self.text.isEmpty ? [] : WordQuery.grams(of: self.text[...], limit: WordQuery.mostGrams)
    }

    /// Whether there is nothing to search for.
    package var isEmpty: Bool { terms.isEmpty }
}

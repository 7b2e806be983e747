import Foundation
import GRDB
import Screens
import Storage

/// Titles and texts as the index knows them.
enum SearchText {
    /// Stands behind each title, twice: no text that is looked for has it.
    static let end = "\u{2}"

    static func indexed(_ title: String) -> String { title.caseFolded.replacing(end, with: " ") + end + end }

    /// A text as a phrase of FTS5's query syntax.
    static func phrase(_ text: String) -> String { "\"" + text.replacing("\"", with: "\"\"") + "\"" }

    /// The first text behind all that begin with this one; nil where there is none.
    static func successor(of text: String) -> String? {
        var scalars = Array(text.unicodeScalars)
        while let last = scalars.popLast() {
            let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
            if let scalar = Unicode.Scalar(next) {
                scalars.append(scalar)
                return String(String.UnicodeScalarView(scalars))
            }
        }
        return nil
    }
}

extension ShopStore {
    /// Searches everything that was ever seen and is not known to be gone, by id: titles that contain the text,
    /// whatever the case, with the same filters as upstream.
    ///
    /// - Returns: One row more than the page has, where there is one.
    func search(_ query: SearchQuery, _ page: PageRequest) throws -> [KnownProduct] {
        try database.read { db in
            let plan = try SearchPlan(query, db)
            var arguments = plan.arguments
            _ = arguments.append(contentsOf: ["limit": page.limit + 1, "offset": page.offset])
            let ids = try Int.fetchAll(try db.cachedStatement(sql: plan.sql), arguments: arguments)
            return try ids.compactMap { try Self.known($0, db) }
        }
    }
}

/// How a search is carried out: by the filters where they leave few rows, else by the text, whose trigrams are indexed.
///
/// Either way the work is bounded by something small: the rows that the filters leave, or the rows up to the end of the
/// page.
struct SearchPlan: Sendable {
    /// So many rows are looked through one by one.
    static let fewRows = 2000
    /// So many trigrams that begin with a short text are asked for at once.
    static let fewTerms = 300

    let sql: String
    let arguments: StatementArguments

    init(_ query: SearchQuery, _ db: Database) throws {
        let (conditions, filterArguments) = Self.conditions(query.filters)
        var arguments = filterArguments
        guard let folded = query.folded else {
            self =
                try Self.areFew(conditions, arguments, db)
                ? Self(Self.byFilters(conditions), arguments) : Self(Self.all(conditions), arguments)
            return
        }
        if !conditions.isEmpty, try Self.areFew(conditions, arguments, db) {
            _ = arguments.append(contentsOf: ["text": folded])
            self.init(Self.byFilters(conditions + ["instr(folded, :text) > 0"]), arguments)
            return
        }
        if folded.unicodeScalars.count >= 3 {
            _ = arguments.append(contentsOf: ["phrase": SearchText.phrase(folded)])
            self.init(Self.byText(conditions), arguments)
            return
        }
        // Shorter than a trigram: all trigrams that begin with it.
        let terms = try String.fetchAll(
            try db.cachedStatement(sql: Self.selectTerms),
            arguments: [
                "from": folded, "to": SearchText.successor(of: folded) ?? "\u{10FFFF}", "most": Self.fewTerms + 1,
            ]
        )
        if terms.count <= Self.fewTerms {
            // No trigram begins with what is in no title.
            let phrases =
                terms.isEmpty
                ? [SearchText.phrase(String(repeating: SearchText.end, count: 3))] : terms.map(SearchText.phrase)
            _ = arguments.append(contentsOf: ["phrase": phrases.joined(separator: " OR ")])
            self.init(Self.byText(conditions), arguments)
        } else {
            // What so many trigrams begin with is in so many titles that a page is soon full.
            _ = arguments.append(contentsOf: ["text": folded])
            self.init(Self.all(conditions + ["instr(folded, :text) > 0"]), arguments)
        }
    }

    private init(_ sql: String, _ arguments: StatementArguments) {
        self.sql = sql
        self.arguments = arguments
    }

    static func conditions(_ filters: SearchFilters) -> ([String], StatementArguments) {
        var conditions: [String] = []
        var arguments: StatementArguments = [:]
        func add(_ condition: String, _ name: String, _ value: (any DatabaseValueConvertible)?) {
            guard let value else { return }
            conditions.append(condition)
            _ = arguments.append(contentsOf: [name: value])
        }
        add("category_id = :category", "category", filters.categoryID)
        add("price = :price", "price", filters.price?.approximation)
        add("price >= :minimum", "minimum", filters.minimum?.approximation)
        add("price <= :maximum", "maximum", filters.maximum?.approximation)
        return (conditions, arguments)
    }

    private static func areFew(_ conditions: [String], _ arguments: StatementArguments, _ db: Database) throws -> Bool {
        guard !conditions.isEmpty else { return false }
        return try Int.fetchOne(try db.cachedStatement(sql: count(conditions)), arguments: arguments) ?? 0 <= fewRows
    }

    private static func clause(_ conditions: [String], _ keyword: String) -> String {
        conditions.isEmpty ? "" : " \(keyword) " + conditions.joined(separator: " AND ")
    }

    static func count(_ conditions: [String]) -> String {
        "SELECT count(*) FROM (SELECT 1 FROM shop_search\(clause(conditions, "WHERE")) LIMIT \(fewRows + 1))"
    }

    /// `+id` keeps SQLite from walking the table in the order of ids instead of using the index of the filters.
    static func byFilters(_ conditions: [String]) -> String {
        "SELECT id FROM shop_search\(clause(conditions, "WHERE")) ORDER BY +id LIMIT :limit OFFSET :offset"
    }

    /// Ids ascending is the order in which FTS5 finds them.
    static func byText(_ conditions: [String]) -> String {
        """
        SELECT shop_text.rowid FROM shop_text JOIN shop_search ON shop_search.id = shop_text.rowid
        WHERE shop_text MATCH :phrase\(clause(conditions.map { "shop_search.\($0)" }, "AND")) ORDER BY shop_text.rowid LIMIT :limit OFFSET :offset
        """
    }

    /// In the order of ids, ending as soon as the page is full; `+` keeps the other indexes, and the sorting that they
    /// would need, away.
    static func all(_ conditions: [String]) -> String {
        "SELECT id FROM shop_search\(clause(conditions.map { "+\($0)" }.map { $0.replacing("+instr", with: "instr") }, "WHERE")) ORDER BY id LIMIT :limit OFFSET :offset"
    }

    static let selectTerms = "SELECT term FROM shop_term WHERE term >= :from AND term < :to LIMIT :most"
}

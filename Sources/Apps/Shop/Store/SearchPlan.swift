import GRDB
import Storage

/// The SQL of a search: by the filters if they select few rows, else by the text, whose trigrams are indexed.
///
/// Either way the work is bounded by a small number: the rows that the filters select, or the rows up to the end of the
/// page.
struct SearchPlan: Sendable {
    /// Number of rows that are scanned one by one.
    static let fewRows = 2000
    /// Number of trigrams that one query may ask for.
    static let fewTerms = 300

    /// Beginning of a page: at `:offset`, or after `:product`.
    enum Start: Sendable {
        case offset, product

        fileprivate func conditions(on id: String) -> [String] { self == .product ? ["\(id) > :product"] : [] }
        fileprivate var limit: String { self == .product ? "LIMIT :limit" : "LIMIT :limit OFFSET :offset" }
    }

    let sql: String
    let arguments: StatementArguments

    /// - Parameters:
    ///   - start: Beginning of the page.
    ///   - order: In another order than by id, pages begin at an offset.
    init(_ query: SearchQuery, _ start: Start, by order: [String] = ["id"], _ db: Database) throws {
        let (conditions, arguments) = Self.conditions(query.filters)
        guard let folded = query.folded else {
            let areFew = try Self.areFew(conditions, arguments, db)
            let sql = areFew ? Self.byFilters(conditions, start, order) : Self.all(conditions, start, order)
            self.init(sql, arguments)
            return
        }
        if !conditions.isEmpty, try Self.areFew(conditions, arguments, db) {
            self.init(Self.byFilters(conditions + [Self.containsText], start, order), arguments, ["text": folded])
        } else if let phrase = try Self.phrase(finding: folded, db),
            // The index of titles finds rows by id: others have to be sorted.
            try order == ["id"]
                || Int.fetchOne(db.cachedStatement(sql: Self.countTexts), arguments: [phrase]) ?? 0
                    <= Self.fewRows
        {
            self.init(Self.byText(conditions, start, order), arguments, ["phrase": phrase])
        } else {
            self.init(Self.all(conditions + [Self.containsText], start, order), arguments, ["text": folded])
        }
    }

    private static let containsText = "instr(folded, :text) > 0"

    /// Returns a phrase of FTS5 that finds all titles with a text; nil if a scan of all titles is faster. If many
    /// trigrams begin with a short text, many titles contain it, and a scan soon fills the page.
    private static func phrase(finding folded: String, _ db: Database) throws -> String? {
        guard folded.unicodeScalars.count < 3 else { return SearchText.phrase(folded) }
        // Shorter than a trigram: look for all trigrams that begin with it.
        let terms = try String.fetchAll(
            try db.cachedStatement(sql: selectTerms),
            arguments: ["from": folded, "to": SearchText.successor(of: folded) ?? "\u{10FFFF}", "most": fewTerms + 1]
        )
        guard terms.count <= fewTerms else { return nil }
        // If no trigram begins with the text, no title contains it: look for one that no title has.
        let wanted = terms.isEmpty ? [String(repeating: SearchText.end, count: 3)] : terms
        return wanted.map(SearchText.phrase).joined(separator: " OR ")
    }

    private init(_ sql: String, _ arguments: StatementArguments, _ ofText: [String: String] = [:]) {
        self.sql = sql
        var arguments = arguments
        _ = arguments.append(contentsOf: StatementArguments(ofText))
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

    static let countTexts =
        "SELECT count(*) FROM (SELECT 1 FROM shop_text WHERE shop_text MATCH ? LIMIT \(fewRows + 1))"

    /// `+` keeps SQLite from walking the table in the order of the rows instead of using the index of the filters.
    static func byFilters(_ conditions: [String], _ start: Start, _ order: [String] = ["id"]) -> String {
        let conditions = conditions + start.conditions(on: "+id")
        let columns = order.map { "+\($0)" }.joined(separator: ", ")
        return "SELECT id FROM shop_search\(clause(conditions, "WHERE")) ORDER BY \(columns) \(start.limit)"
    }

    /// FTS5 finds rows in ascending order of their ids.
    static func byText(_ conditions: [String], _ start: Start, _ order: [String] = ["id"]) -> String {
        let conditions = conditions.map { "shop_search.\($0)" } + start.conditions(on: "shop_text.rowid")
        let columns =
            order == ["id"] ? "shop_text.rowid" : order.map { "shop_search.\($0)" }.joined(separator: ", ")
        return """
            SELECT shop_text.rowid FROM shop_text JOIN shop_search ON shop_search.id = shop_text.rowid
            WHERE shop_text MATCH :phrase\(clause(conditions, "AND"))
            ORDER BY \(columns) \(start.limit)
            """
    }

    /// Scans in an order until the page is full; `+` keeps SQLite from using another index, which would need a sort.
    /// Indexes of filters have the order of prices.
    static func all(_ conditions: [String], _ start: Start, _ order: [String] = ["id"]) -> String {
        let isByPrice = order.first?.hasPrefix("price") == true
        let conditions =
            start.conditions(on: "id") + conditions.map { isByPrice || $0.hasPrefix("instr") ? $0 : "+\($0)" }
        let columns = order.joined(separator: ", ")
        return "SELECT id FROM shop_search\(clause(conditions, "WHERE")) ORDER BY \(columns) \(start.limit)"
    }

    static let selectTerms = "SELECT term FROM shop_term WHERE term >= :from AND term < :to LIMIT :most"
}

/// Titles and texts in the form of the search index.
enum SearchText {
    /// Ends each title, twice: no text that is searched for contains it.
    static let end = "\u{2}"

    /// Returns the indexed form of a title.
    static func indexed(_ title: String) -> String { title.caseFolded.replacing(end, with: " ") + end + end }

    /// Returns a text as a phrase of FTS5's query syntax.
    static func phrase(_ text: String) -> String { "\"" + text.replacing("\"", with: "\"\"") + "\"" }

    /// Returns the first text after all texts that begin with this one; nil if there is none.
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

import GRDB
import Storage

extension ShopStore {
    /// The most products that are sorted.
    static let mostSorted = 10_000
    /// The most titles that a text is compared with for suggestions, and the most suggestions.
    private static let (mostCompared, mostSuggestions) = (200, 8)

    /// Returns the ids of all products that a search finds among those that were ever seen, in an order.
    func sorted(_ query: SearchQuery, by order: SearchOrder) throws -> [Int] {
        try database.read { db in
            if order == .relevance, let text = query.text { return try Self.ranked(text, query.filters, db) }
            let (conditions, ofFilters) = SearchPlan.conditions(query.filters)
            let ofText = query.folded.map { ["text": $0] as StatementArguments } ?? [:]
            let sql = Self.selectSorted(conditions + (query.folded == nil ? [] : ["instr(folded, :text) > 0"]), order)
            return try Int.fetchAll(db.cachedStatement(sql: sql), arguments: ofFilters + ofText)
        }
    }

    static func selectSorted(_ conditions: [String], _ order: SearchOrder) -> String {
        let columns =
            switch order {
            case .price: "price, id"
            case .priceDescending: "price DESC, id"
            case .title: "folded, id"
            default: "id"
            }
        let filter = conditions.isEmpty ? "" : "WHERE \(conditions.joined(separator: " AND "))"
        return "SELECT id FROM shop_search \(filter) ORDER BY \(columns) LIMIT \(mostSorted)"
    }

    /// Products with all words of a text, in the title or the description, the most relevant first.
    private static func ranked(_ text: String, _ filters: SearchFilters, _ db: Database) throws -> [Int] {
        let query = RelevanceQuery(text)
        let (conditions, arguments) = SearchPlan.conditions(filters)
        let rows = try Row.fetchCursor(
            db.cachedStatement(sql: selectTexts(conditions.map { "search.\($0)" })),
            arguments: arguments
        )
        var found: [(rank: Int, id: Int)] = []
        while let row = try rows.next() {
            let texts = try RelevanceQuery.Texts(title: row.value("title"), others: [row.value("description")])
            if let rank = query.rank(of: texts) { found.append((rank, try row.value("id"))) }
        }
        return found.sorted { $0 < $1 }.map(\.id)
    }

    private static func selectTexts(_ conditions: [String]) -> String {
        let filter = conditions.isEmpty ? "" : "WHERE \(conditions.joined(separator: " AND "))"
        return """
            SELECT search.id, product.title, product.description
            FROM shop_search AS search JOIN shop_product AS product ON product.id = search.id \(filter)
            ORDER BY search.id LIMIT \(mostSorted)
            """
    }

    /// Returns known products in the order of their ids.
    func knownProducts(_ ids: some Sequence<Int>) throws -> [KnownProduct] {
        let ids = Array(ids)
        let known = try products(ids)
        return ids.compactMap { known[$0] }
    }

    /// Returns titles that a text which is being typed may become: those of stored products with its words, whole ones
    /// and beginnings first.
    func suggestions(_ text: String) throws -> [String] {
        let query = RelevanceQuery(text)
        let found = try products(beginning: text, limit: Self.mostCompared)
        var seen: Set<String> = []
        let titles = found.map(\.product.title).filter { seen.insert($0).inserted }
        let ranked = titles.compactMap { title in query.rank(of: .init(title: title)).map { (rank: $0, title: title) } }
        return ranked.filter { $0.rank < 2 }.sorted { $0 < $1 }.prefix(Self.mostSuggestions).map(\.title)
    }
}

import GRDB
import Storage

extension ShopStore {
    /// Searches all products that were ever seen and are not known to be gone, with the same text and filters as the
    /// upstream.
    ///
    /// - Parameter order: That of the page, if it begins at an offset.
    /// - Returns: The products of a page by id, and the one after them if there is one.
    func search(_ query: SearchQuery, from place: SearchStart, limit: Int, by order: [String] = ["id"]) throws
        -> [KnownProduct]
    {
        try database.read { db in
            let plan = try SearchPlan(query, place.productID == nil ? .offset : .product, by: order, db)
            var arguments = plan.arguments
            _ = arguments.append(contentsOf: ["limit": limit + 1])
            _ = arguments.append(contentsOf: place.productID.map { ["product": $0] } ?? ["offset": place.offset])
            let ids = try Int.fetchAll(try db.cachedStatement(sql: plan.sql), arguments: arguments)
            let known = try Self.products(ids, db)
            return ids.compactMap { known[$0] }
        }
    }

    /// Searches the same products, and returns a page in another order: by relevance of the first that are found by the
    /// text and by words, a hundred of each.
    func search(_ query: SearchQuery, by order: SearchOrder, from offset: Int, limit: Int) throws -> [KnownProduct] {
        guard order == .relevance, query.text != nil else {
            return try search(query, from: SearchStart(offset: offset), limit: limit, by: order.columns)
        }
        let byText = try search(query, from: SearchStart(offset: 0), limit: Self.mostOfVariant)
        let byWords = try variants(of: query)?.found ?? []
        let known = Dictionary((byText + byWords).map { ($0.product.id, $0) }) { first, _ in first }
        let found = order.found(by: query, among: known.values.map(\.product))
        return found.dropFirst(offset).prefix(limit + 1).compactMap { known[$0.id] }
    }

    /// Returns titles that a text which is being typed may become: of stored products with words that begin like its
    /// words, or if there is none, like similar ones.
    func suggestions(_ text: String) throws -> [String] {
        let query = SearchQuery(text: text)
        guard query.text != nil else { return [] }
        let variants = try variants(of: query)
        let found = try variants?.found ?? search(query, from: SearchStart(offset: 0), limit: 20)
        var seen: Set<String> = []
        let titles = found.map(\.product.title).filter { title in
            // Products are found by words of their descriptions, too.
            variants?.variant.matches(title.searchFolded) != false && seen.insert(title).inserted
        }
        return Array(titles.prefix(8))
    }
}

/// The words of titles and descriptions, by which products are found that no title contains the searched text of.
extension ShopStore {
    /// Which product has which word; title words are entered a second time as such.
    static let words = SearchIndex("shop_word")
    static let vocabulary = SearchVocabulary("shop_vocabulary")

    /// The most products that are found by other words.
    private static let mostOfVariant = 100
    /// The most products with the words whose filters are compared.
    private static let mostCompared = 3000
    /// The most words of a text that are entered.
    private static let mostWords = 500
    /// The catalogue is one for all.
    private static let owner: Int64 = 0
    /// Begins the terms of title words. No word begins with it.
    private static let titleMark = "\u{E103}"

    static let wordsMigration = SchemaMigration("shop/007 words") { db in
        try db.execute(sql: words.creation + vocabulary.creation)
        let products = try KnownProduct.fetchCursor(db, sql: "SELECT * FROM shop_product WHERE gone = 0 ORDER BY id")
        while let known = try products.next() { try indexWords(of: known.product, replacing: nil, db) }
    }

    /// Updates the words of a product that is new, changed or gone.
    static func indexWords(of new: Product?, replacing old: Product?, _ db: Database) throws {
        guard let id = (new ?? old)?.id, new?.title != old?.title || new?.description != old?.description else {
            return
        }
        let (before, after) = (old.map(titleAndAll), new.map(titleAndAll))
        func terms(_ words: (title: Set<String>, all: Set<String>)) -> Set<String> {
            words.all.union(words.title.map { titleMark + $0 })
        }
        try words.delete(before.map(terms) ?? [], of: owner, at: Int64(id), db)
        try words.insert(after.map(terms) ?? [], of: owner, at: Int64(id), db)
        try vocabulary.change(before?.all ?? [], to: after?.all ?? [], of: owner, db)
    }

    private static func titleAndAll(_ product: Product) -> (title: Set<String>, all: Set<String>) {
        let title = words(of: product.title)
        return (title, title.union(words(of: product.description)))
    }

    private static func words(of text: String) -> Set<String> {
        StoredWords.words(of: text.searchFolded, limit: mostWords)
    }

    /// Finds products by other words than those of a text: with all of them in the title before others, with the
    /// nearest words before others, by id.
    func variants(of query: SearchQuery) throws -> (variant: SearchVariant, found: [KnownProduct])? {
        guard let text = query.text else { return nil }
        return try database.read { db in
            try SearchVariants.first(for: text, among: Self.vocabulary.words(of: Self.owner, db)) { variant in
                let found = try Self.products(variant, query.filters, db)
                return found.isEmpty ? nil : found
            }
        }
    }

    private static func products(_ variant: SearchVariant, _ filters: SearchFilters, _ db: Database) throws
        -> [KnownProduct]
    {
        let (conditions, ofFilters) = SearchPlan.conditions(filters)
        let sql = selectVariant(conditions)
        func ids(_ terms: (String) -> [String]) throws -> [Int] {
            let arguments = ofFilters + ["terms": words.search(variant, of: owner, terms).expression]
            return try Int.fetchAll(db.cachedStatement(sql: sql), arguments: arguments)
        }
        let inTitle = try ids { [titleMark + $0] }
        let anywhere = try inTitle.count < mostOfVariant ? ids { [$0] } : []
        let known = try products(Array(Set(inTitle + anywhere)), db)
        return known.values.map { ($0, cost(of: $0.product, variant)) }
            .sorted { ($0.1, $0.0.product.id) < ($1.1, $1.0.product.id) }.prefix(mostOfVariant).map(\.0)
    }

    /// `+` keeps SQLite from using another index than that of the words.
    static func selectVariant(_ conditions: [String]) -> String {
        """
        SELECT id FROM shop_search
        WHERE id IN (SELECT rowid FROM shop_word WHERE shop_word MATCH :terms LIMIT \(mostCompared))
            \(conditions.map { "AND +" + $0 }.joined(separator: " "))
        ORDER BY id LIMIT \(mostOfVariant)
        """
    }

    /// Returns how far a product is from the words: a word of the description costs more than one of the title, another
    /// than the nearest one more than that.
    private static func cost(of product: Product, _ variant: SearchVariant) -> Int {
        let title = words(of: product.title)
        return variant.words.reduce(0) { sum, alternatives in
            let place = alternatives.firstIndex { $0.allSatisfy(title.contains) }
            return sum + (place.map { min($0, 1) } ?? 2)
        }
    }
}

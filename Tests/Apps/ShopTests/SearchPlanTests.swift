import Foundation
import GRDB
import Logging
import Screens
import Storage
import TestKit
import Testing

@testable import Sandbox
@testable import Shop

/// A database with generated products, and nothing else.
struct SeenCatalogue {
    let store: ShopStore

    init(_ count: Int, in directory: DataDirectory? = nil) throws {
        let logger = Logger.quiet
        store = ShopStore(
            try LarderDatabase.withCacheTables(
                in: try directory ?? .temporary(),
                migrations: ShopApp.migrations,
                logger: logger
            )
        )
        let generator = CatalogueGenerator(seed: 7, categories: [1, 2, 3, 4, 5])
        let save = store.save(fetchedAt: { Date(timeIntervalSince1970: 0) })
        try store.database.write { db in
            try save((0..<count).compactMap { number in Self.product(generator.product(number: number)) }, db)
        }
    }

    static func product(_ made: CatalogueProduct) -> Product? {
        Price(text: made.price).map {
            Product(
                id: made.id,
                title: made.title,
                description: made.description,
                price: $0,
                category: .init(id: made.categoryID, name: "c"),
                images: []
            )
        }
    }

    func plan(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws -> String {
        try QueryPlan(sql, arguments, in: store.database).steps.joined(separator: " | ")
    }
}

@Suite("Searching what was seen")
struct SearchPlanTests {
    private static let texts = [
        "red", "RED", "е", "ё", "z", "zq", "шар", "ШАРФ 1", "свитер 29", "%", "_", "\"", "'", "9", "99", "1 ", "mug 1",
        "sof", "чай", "*", "(", "AND", "ab\"cd",
        "й к",
    ]

    @Test(
        "SHOP-16 each plan finds just what the rule of the search says, in the order of ids, page by page",
        arguments: texts
    )
    func agrees(text: String) throws {
        let seen = try SeenCatalogue(3000)
        let all = try seen.store.search(SearchQuery(), from: SearchStart(offset: 0), limit: 100_000).map(\.product)
        #expect(all.count == 3000)
        let price = { (text: String) in Price(text: text) }
        for filters in [
            SearchFilters(), SearchFilters(categoryID: 3), SearchFilters(minimum: price("500")),
            SearchFilters(maximum: price("12.5")),
            SearchFilters(categoryID: 2, minimum: price("100"), maximum: price("200")),
            SearchFilters(price: all.first?.price),
            SearchFilters(minimum: price("1")),
        ] {
            let query = SearchQuery(text: text, filters: filters)
            let expected = all.filter(query.matches).map(\.id)
            func page(_ place: SearchStart, limit: Int) throws -> [Int] {
                try seen.store.search(query, from: place, limit: limit).map(\.product.id)
            }
            #expect(try page(SearchStart(offset: 0), limit: 100_000) == expected, "\(filters)")
            let second = Array(expected.dropFirst(4).prefix(5))
            #expect(try page(SearchStart(offset: 4), limit: 4) == second, "\(filters)")
            guard let fourth = expected.dropFirst(3).first else { continue }
            #expect(try page(SearchStart(offset: 4, productID: fourth), limit: 4) == second, "\(filters)")
        }
    }

    @Test("a changed title is found by its new words only, and removed products are not found")
    func changes() async throws {
        let seen = try SeenCatalogue(3)
        let save = seen.store.save(fetchedAt: { Date(timeIntervalSince1970: 1) })
        let price = try #require(Price(5))
        try await seen.store.database.write {
            try save([Product(id: 2, title: "Äther\u{2}Flasche", description: "", price: price, images: [])], $0)
        }
        func ids(_ text: String) throws -> [Int] {
            try seen.store.search(SearchQuery(text: text), from: SearchStart(offset: 0), limit: 10).map(\.product.id)
        }
        #expect(try ids("äTHER flasche") == [2] && ids("ä") == [2] && ids("he") == [2])
        #expect(try ids(" 2") == [])
        try await seen.store.markGone(2, at: .distantPast)
        #expect(try ids("äther") == [] && ids("ä") == [])
        try await seen.store.markPresent([2], at: .distantPast)
        #expect(try ids("äther") == [2])
    }

    @Test("every query of a search uses an index or ends with its page")
    func plans() throws {
        let seen = try SeenCatalogue(10)
        let category = ["category_id = :category", "price >= :minimum", "price <= :maximum"]
        let arguments: StatementArguments = ["category": 1, "minimum": 1, "maximum": 2]
        #expect(
            try seen.plan(SearchPlan.count(category), arguments).contains(
                "USING COVERING INDEX shop_search_by_category (category_id=? AND price>? AND price<?)"
            )
        )
        #expect(
            try seen.plan(SearchPlan.count(["price = :price"]), ["price": 1]).contains(
                "USING COVERING INDEX shop_search_by_price (price=?)"
            )
        )
        let paging: StatementArguments = ["limit": 1, "offset": 0]
        let byFilters = try seen.plan(SearchPlan.byFilters(["price >= :minimum"], .offset), paging + ["minimum": 1])
        #expect(
            byFilters.contains("USING COVERING INDEX shop_search_by_price (price>?)")
                || byFilters.contains("USING INDEX shop_search_by_price (price>?)")
        )
        let byText = try seen.plan(
            SearchPlan.byText(["category_id = :category"], .offset),
            paging + ["phrase": "\"abc\"", "category": 1]
        )
        #expect(
            byText.contains("SCAN shop_text VIRTUAL TABLE INDEX")
                && byText.contains("SEARCH shop_search USING INTEGER PRIMARY KEY")
                && !byText.contains("TEMP B-TREE")
        )
        let all = try seen.plan(SearchPlan.all(["category_id = :category"], .offset), paging + ["category": 1])
        #expect(all == "SCAN shop_search")
        let behind: StatementArguments = ["limit": 1, "product": 7]
        let byKey = try seen.plan(SearchPlan.all(["category_id = :category"], .product), behind + ["category": 1])
        #expect(byKey == "SEARCH shop_search USING INTEGER PRIMARY KEY (rowid>?)")
        let textByKey = try seen.plan(SearchPlan.byText([], .product), behind + ["phrase": "\"abc\""])
        #expect(textByKey.contains("SCAN shop_text VIRTUAL TABLE INDEX") && !textByKey.contains("TEMP B-TREE"))
        #expect(
            try seen.plan(SearchPlan.selectTerms, ["from": "a", "to": "b", "most": 1]).contains(
                "SCAN shop_term VIRTUAL TABLE INDEX"
            )
        )
    }

    @Test("every query of products, searches and categories that grows with the data uses an index")
    func otherPlans() throws {
        let seen = try SeenCatalogue(10)
        #expect(try seen.plan(ShopStore.selectProduct, [1]).contains("USING INTEGER PRIMARY KEY (rowid=?)"))
        #expect(try seen.plan(ShopStore.selectLastFetch).contains("USING INDEX shop_product_by_fetch"))
        #expect(
            try seen.plan(ShopStore.selectPosition, ["q", 1, 1]).contains(
                "USING PRIMARY KEY (query=? AND page_limit=? AND page_offset<?)"
            )
        )
        #expect(
            try seen.plan(ShopStore.selectProducts, ["[1]"]).hasPrefix(
                "SEARCH shop_product USING INTEGER PRIMARY KEY (rowid=?)"
            )
        )
        #expect(
            try seen.plan(ShopStore.selectRecorded, ["q", 1, 1]).contains(
                "USING PRIMARY KEY (query=? AND page_limit=? AND page_offset=?)"
            )
        )
        let page: StatementArguments = ["id": 1, "position": 1, "limit": 1]
        #expect(
            try seen.plan(ShopStore.selectCategories, page).contains(
                "SEARCH shop_category USING INDEX shop_category_by_position (position>?)"
            )
        )
        let count = try seen.plan(ShopStore.countCategories)
        #expect(count == "SEARCH shop_category USING COVERING INDEX shop_category_by_position")
    }

    @Test("every query of the list that grows with it uses an index")
    func listPlans() throws {
        let seen = try SeenCatalogue(10)
        let lines: StatementArguments = ["profile": "local", "favourites": "f", "products": "[1]", "slugs": "[]"]
        let cart = try seen.plan(ShopStore.selectCart, lines)
        #expect(cart.contains("item USING INDEX shop_list_item_by_product (<expr>=? AND profile=?)"))
        #expect(cart.contains("item USING INDEX shop_list_item_by_slug (slug=? AND profile=?)"))
        let pages: [(String, StatementArguments, String)] = [
            (ShopStore.pages.first, ["profile": "local", "limit": 1, "offset": 1], "(profile=?)"),
            (
                ShopStore.pages.next, ["profile": "local", "limit": 1, "key0": 1],
                "(profile=? AND position>?)"
            ),
        ]
        for (select, arguments, range) in pages {
            let list = try seen.plan(select, arguments)
            #expect(
                list.contains("item USING INDEX shop_list_item_by_position \(range)")
                    && list.contains("current USING INTEGER PRIMARY KEY")
                    && !list.contains("TEMP")
            )
        }
        let totals = try seen.plan(ShopStore.selectTotals, ["local"])
        #expect(
            totals.contains("USING COVERING INDEX shop_list_item_by_price (profile=?)") && !totals.contains("TEMP")
        )
        #expect(
            try seen.plan(ShopStore.selectLines, ["profile": "local", "product": 1]).contains(
                "item USING INDEX shop_list_item_by_product (<expr>=? AND profile=?)"
            )
        )
    }

    @Test("the renewal of lists reads the lines of the changed products by an index")
    func renewalPlans() throws {
        let seen = try SeenCatalogue(10)
        let renewals: [(String, StatementArguments)] = [
            (ShopStore.selectOutdated, ["ids": "[1]", "changed": "[1]"]),
            (ShopStore.renewItems, ["ids": "[1]", "changed": "[1]", "profile": nil]),
        ]
        for (sql, arguments) in renewals {
            let plan = try seen.plan(sql, arguments)
            #expect(plan.contains("current USING INTEGER PRIMARY KEY"), "\(plan)")
            #expect(!["item", "new", "other", "own"].contains { plan.contains("SCAN \($0)") }, "\(plan)")
        }
    }

    @Test("SHOP-22 ONE-08 an order is read from an index, and few rows are sorted")
    func orders() throws {
        let seen = try SeenCatalogue(10)
        let paging: StatementArguments = ["limit": 1, "offset": 1]
        for (order, index) in [(SearchOrder.price, "price"), (.priceDescending, "price"), (.title, "title")] {
            let plan = try seen.plan(SearchPlan.all([], .offset, order.columns), paging)
            #expect(plan.contains("INDEX shop_search_by_\(index)") && !plan.contains("TEMP"), "\(plan)")
        }
        let ofCategory = SearchPlan.all(["category_id = :category"], .offset, SearchOrder.price.columns)
        let plan = try seen.plan(ofCategory, paging + ["category": 1])
        #expect(plan.contains("INDEX shop_search_by_category (category_id=?)") && !plan.contains("TEMP"), "\(plan)")
        let byText = try seen.plan(SearchPlan.byText([], .offset, SearchOrder.title.columns), paging + ["phrase": "a"])
        #expect(byText.contains("VIRTUAL TABLE") && !byText.contains("SCAN shop_search"), "\(byText)")
    }

    @Test("ONE-08 products are found by other words through their index, however many there are")
    func variantPlan() throws {
        let seen = try SeenCatalogue(10)
        let arguments: StatementArguments = ["terms": "\"0·a\"", "category": 1]
        let plan = try seen.plan(ShopStore.selectVariant(["category_id = :category"]), arguments)
        #expect(plan.contains("SEARCH shop_search USING INTEGER PRIMARY KEY (rowid=?)"), "\(plan)")
        #expect(plan.contains("SCAN shop_word VIRTUAL TABLE INDEX") && !plan.contains("SCAN shop_search"), "\(plan)")
    }

    @Test("the place of a page is forgotten after a week, unless it is still used")
    func places() async throws {
        let store = try SeenCatalogue(0).store
        let (used, unused) = (SearchQuery(text: "а"), SearchQuery(text: "б"))
        func start(_ query: SearchQuery, isExact: Bool) throws -> ShopStore.Start {
            try store.start(of: query, offset: 5, limit: 5, isExact: isExact)
        }
        for (query, day) in [(used, 0), (unused, 0), (used, 2), (SearchQuery(text: "в"), 8)] {
            let places = [ShopStore.Position(offset: 5, position: 70)]
            try await store.record(
                places,
                of: query,
                limit: 5,
                isExact: false,
                at: Date(timeIntervalSince1970: Double(day) * 86_400)
            )
        }
        #expect(try start(used, isExact: false) == ShopStore.Start(position: 70, isKnown: true))
        #expect(try start(unused, isExact: false) == ShopStore.Start(position: 0, skipping: 5))
        #expect(try start(unused, isExact: true) == ShopStore.Start(position: 5))
    }

    @Test("the text behind all that begin with a text")
    func successor() {
        #expect(
            SearchText.successor(of: "ab") == "ac" && SearchText.successor(of: "я") == "ѐ"
                && SearchText.successor(of: "\u{D7FF}") == "\u{E000}"
        )
        #expect(SearchText.successor(of: "a\u{10FFFF}") == "b" && SearchText.successor(of: "\u{10FFFF}") == nil)
    }
}

import Foundation
import HTTPTypes
import Screens
import Storage
import TestKit
import Testing

@testable import Shop

@Suite("What the upstream is asked for")
struct CatalogueQueryTests {
    private func path(
        _ text: String? = nil,
        price: String? = nil,
        from: String? = nil,
        to: String? = nil,
        category: Int? = nil
    ) -> (String, Bool) {
        let filters = SearchFilters(
            categoryID: category,
            price: price.flatMap { Price(text: $0) },
            minimum: from.flatMap { Price(text: $0) },
            maximum: to.flatMap { Price(text: $0) }
        )
        let query = CatalogueQuery(SearchQuery(text: text, filters: filters))
        return (String(query.path(offset: 0, limit: 5).dropFirst("/products?offset=0&limit=5".count)), query.isExact)
    }

    @Test("never less than what is looked for")
    func superset() {
        #expect(path() == ("", true))
        #expect(path("Red Mug") == ("&title=Red%20Mug", true))
        #expect(path("a&b=c#") == ("&title=a%26b%3Dc%23", true))
        #expect(path("лампа") == ("", false))
        #expect(path("лампа LED") == ("&title=%25%20LED", false))
        #expect(path("5%") == ("&title=5%25", false))
        #expect(path("%") == ("", false))
        #expect(path("a_b") == ("&title=a_b", false))
        #expect(path(price: "5") == ("&price=5", true))
        #expect(path(price: "0") == ("", false))
        #expect(path(from: "10") == ("&price_min=10&price_max=1\(String(repeating: "0", count: 30))", true))
        #expect(path(from: "0") == ("", true))
        #expect(path(to: "10") == ("", false))
        #expect(path(from: "0", to: "10") == ("", false))
        #expect(path(from: "0.5", to: "10") == ("&price_min=0.5&price_max=10", true))
        #expect(path("x", price: "1.5", category: 3) == ("&title=x&price=1.5&categoryId=3", true))
    }
}

@Suite("Filling a page from parts")
struct CatalogueWalkTests {
    private static func product(_ id: Int) -> Product? {
        Price(1).map { Product(id: id, title: "p", description: "", price: $0, images: []) }
    }

    /// Walks a list of 1…count of which only these numbers are looked for.
    private func page(
        limit: Int,
        from position: Int = 0,
        skipping: Int = 0,
        isExact: Bool = false,
        count: Int,
        where isWanted: (Int) -> Bool
    ) -> (ids: [Int], next: Int?, parts: [Int]) {
        var walk = CatalogueWalk(limit: limit, from: position, skipping: skipping, isExact: isExact)
        var parts: [Int] = []
        while true {
            switch walk.next {
            case .done(let next): return (walk.products.map(\.id), next, parts)
            case .ask(let offset, let limit):
                parts.append(offset)
                let ids = offset < count ? Array(offset + 1...min(offset + limit, count)) : []
                walk.take(ids.map { isWanted($0) ? Self.product($0) : nil })
            }
        }
    }

    @Test("for an exact list, one row more than the page has is requested")
    func exact() {
        var walk = CatalogueWalk(limit: 3, from: 6, isExact: true)
        #expect(walk.next == .ask(offset: 6, limit: 4))
        walk.take((7...10).map(Self.product))
        #expect(walk.next == .done(nextPosition: 9) && walk.products.map(\.id) == [7, 8, 9])
        #expect(page(limit: 3, isExact: true, count: 3) { _ in true }.next == nil)
        #expect(page(limit: 3, isExact: true, count: 0) { _ in true }.ids == [])
    }

    @Test("rows that drop out are made up for by what follows, and the next page begins where this one ended")
    func dropped() {
        let first = page(limit: 3, isExact: true, count: 20) { $0 % 3 == 0 }
        #expect(first.ids == [3, 6, 9] && first.next == 11 && first.parts == [0, 4, 8])
        #expect(page(limit: 3, from: 11, isExact: true, count: 20) { $0 % 3 == 0 }.ids == [12, 15, 18])
    }

    @Test("parts of a list that is sorted out here begin at multiples of their size")
    func aligned() {
        let first = page(limit: 2, from: 150, count: 500) { $0 % 100 == 0 }
        #expect(first.ids == [200, 300] && first.next == 399 && first.parts == [0, 200])
        #expect(page(limit: 2, skipping: 3, count: 500) { $0 % 100 == 0 }.ids == [400, 500])
    }

    @Test("a page that finds nothing ends after the maximum number of parts, and says where to continue")
    func bounded() {
        let page = page(limit: 10, count: 100_000) { _ in false }
        #expect(
            page.parts.count == CatalogueWalk.maximumParts && page.ids == []
                && page.next == CatalogueWalk.maximumParts * CatalogueWalk.partRows
        )
    }

    @Test("a row that moved while paging is there once; more rows than were requested are not used")
    func moved() {
        var walk = CatalogueWalk(limit: 3, from: 0, isExact: true)
        walk.take([1, 1, 2, 2].map(Self.product))
        #expect(walk.next == .ask(offset: 4, limit: 4))
        walk.take([2, 3].map(Self.product))
        #expect(walk.products.map(\.id) == [1, 2, 3] && walk.next == .done(nextPosition: nil))
        var greedy = CatalogueWalk(limit: 1, from: 0, isExact: true)
        greedy.take((1...50).map(Self.product))
        #expect(greedy.products.map(\.id) == [1] && greedy.next == .done(nextPosition: 1))
    }
}

@Suite("The order of results, and suggestions")
struct CatalogueOrderTests {
    @Test("SHOP-22 results by price, descending price, title and relevance, page by page, offline too")
    func sorted() async throws {
        try await ShopHarness.run { (app) async throws in
            for state in ["online", "offline"] {
                let all = try await app.get("/v1/shop/search?limit=100&sort=price")
                let prices = all.all("price", in: "data.items").compactMap(\.number)
                #expect(prices.count > 40 && prices == prices.sorted(), "\(state)")
                let down = try await app.get("/v1/shop/search?limit=100&sort=-price")
                #expect(down.all("price", in: "data.items").compactMap(\.number) == prices.reversed())
                let titles = try await app.get("/v1/shop/search?limit=100&sort=title").strings(
                    "title",
                    in: "data.items"
                )
                let folded = titles.map { Array($0.caseFolded.utf8) }
                #expect(zip(folded, folded.dropFirst()).allSatisfy { !$1.lexicographicallyPrecedes($0) })
                var (seen, target): ([Int], String?) = ([], "/v1/shop/search?sort=price&limit=7")
                while let next = target {
                    let page = try await app.get(next)
                    seen += page.ids
                    let total = page["meta.page.total"]
                    #expect(total == .number(Double(prices.count)), "totals where known")
                    target = page["links.next"]?.string
                }
                #expect(seen == all.ids)
                #expect(all["meta.offline"] == .bool(state == "offline") && all["meta.partial"] == nil)
                try await app.goOffline()
            }
            try await app.get("/v1/shop/search?sort=size").expectProblem("invalid-parameter", 400)
        }
    }

    @Test("SHOP-22 without the catalogue the products that were seen are sorted, flagged as a part")
    func sortedPart() async throws {
        try await ShopHarness.run { (app) async throws in
            app.transport.goAway()
            #expect(try await app.get("/v1/shop/search?sort=price").status == 503)
            await app.recover()
            _ = try await app.get("/v1/shop/search?limit=30")
            try await app.goOffline()
            let seen = try await app.get("/v1/shop/search?price_min=0&limit=100")
            let prices = seen.all("price", in: "data.items").compactMap(\.number)
            #expect(prices.count >= 30 && seen["meta.partial"] == true)
            for (sort, sorted) in [("price", prices.sorted()), ("-price", prices.sorted { $0 > $1 })] {
                let page = try await app.get("/v1/shop/search?sort=\(sort)&limit=12")
                #expect(page.all("price", in: "data.items").compactMap(\.number) == Array(sorted.prefix(12)))
                #expect(page["meta.partial"] == true && page["meta.page.total"] == .null)
                let next = try await app.get(page.string("links.next"))
                #expect(next.all("price", in: "data.items").compactMap(\.number) == Array(sorted[12..<24]))
            }
            let shirts = try await app.get("/v1/shop/search?sort=title&q=shirt")
            #expect(shirts.ids.count > 1 && shirts["meta.partial"] == true)
            let relevant = try await app.get("/v1/shop/search?sort=relevance&q=shirt")
            #expect(Set(relevant.ids).isSuperset(of: shirts.ids))
        }
    }

    @Test("SHOP-22 ONE-08 by relevance whole words come first, then beginnings, other parts, and descriptions")
    func relevance() async throws {
        try await ShopHarness.run { (app) async throws in
            for (id, title, description) in [
                (901, "Zest of deskmate", ""), (902, "Sundesk", ""), (903, "Desk", "Oak."),
                (904, "Chair", "For a desk."),
            ] {
                try app.control(
                    .put,
                    "products/\(id)",
                    #"{"title":"\#(title)","description":"\#(description)","price":4,"categoryId":5}"#
                )
            }
            let found = try await app.get("/v1/shop/search?q=desk&sort=relevance&price=4&limit=50")
            #expect(found.ids == [903, 901, 902, 904], "\(found.ids)")
            let words = try await app.get("/v1/shop/search?q=oak%20desk&sort=relevance&limit=50")
            #expect(words.ids.first == 903)
            let typo = try await app.get("/v1/shop/search?q=keybord&sort=relevance")
            #expect(typo.ids == [16] && typo["meta.search.used"] == ["typo"])
        }
    }

    @Test("SHOP-22 what is typed is completed by titles that are stored, whole words first, offline too")
    func suggestions() async throws {
        try await ShopHarness.run { (app) async throws in
            _ = try await app.get("/v1/shop/search?limit=100")
            try await app.goOffline()
            let typed = try await app.get("/v1/shop/suggestions?q=la")
            typed.expectScreen("shop.suggestions", language: "ru")
            let texts = typed.strings("text", in: "data.items")
            #expect(!texts.isEmpty && texts.count <= 8 && typed["meta.fetched_at"] != .null)
            for text in texts { #expect(text.lowercased().split { !$0.isLetter }.contains { $0.hasPrefix("la") }) }
            let href = try #require(typed.strings("href", in: "data.items").first)
            #expect(try await app.get(href).strings("title", in: "data.items").contains(texts[0]))
            #expect(try await app.get("/v1/shop/suggestions")["data.items"] == [])
            #expect(try await app.get("/v1/shop/suggestions?q=keybo").strings("text", in: "data.items").count == 1)
            try await app.get("/v1/shop/suggestions?q=%00").expectProblem("invalid-parameter", 400)
        }
    }

    @Test("SHOP-22 titles with accents and ё complete what is typed with and without them")
    func foldedSuggestions() async throws {
        try await ShopHarness.run { (app) async throws in
            for (id, title) in [(901, "Café Press"), (902, "Ёлка живая")] {
                try app.control(.put, "products/\(id)", #"{"title":"\#(title)","description":"","price":4}"#)
            }
            _ = try await app.get("/v1/shop/search?limit=100")
            for (typed, title) in [
                ("cafe", "Café Press"), ("caf", "Café Press"), ("press%20caf%C3%A9", "Café Press"),
                ("%D0%B5%D0%BB%D0%BA", "Ёлка живая"), ("%D1%91%D0%BB%D0%BA%D0%B0", "Ёлка живая"),
            ] {
                let found = try await app.get("/v1/shop/suggestions?q=\(typed)").strings("text", in: "data.items")
                #expect(found == [title], "\(typed): \(found)")
            }
        }
    }
}

@Suite("Following the catalogue's list")
struct CatalogueSweepTests {
    private let start = Date(timeIntervalSince1970: 0)

    @Test("the list is complete with a part that has fewer rows than requested, if nothing before it is missing")
    func complete() {
        var sweep = CatalogueSweep()
        #expect(sweep.take([1, 2, 3], offset: 0, limit: 3, at: start) == nil)
        #expect(sweep.take([3, nil, 5], offset: 2, limit: 3, at: start) == nil)
        #expect(sweep.take([6], offset: 5, limit: 3, at: start) == [1, 2, 3, 5, 6])
        #expect(sweep.take([6], offset: 5, limit: 3, at: start) == nil, "only once")
        #expect(sweep.take([], offset: 0, limit: 3, at: start) == [])
    }

    @Test("a gap, too many rows and too long a time complete nothing")
    func incomplete() {
        var sweep = CatalogueSweep()
        #expect(sweep.take([5], offset: 3, limit: 3, at: start) == nil, "no beginning")
        _ = sweep.take([1, 2, 3], offset: 0, limit: 3, at: start)
        #expect(sweep.take([5], offset: 4, limit: 3, at: start) == nil)
        #expect(sweep.take([4, 5], offset: 3, limit: 1, at: start) == nil)
        let late = start.addingTimeInterval(CatalogueSweep.maximumDuration + 1)
        #expect(sweep.take([4], offset: 3, limit: 3, at: late) == nil)
        #expect(sweep.take([4], offset: 3, limit: 3, at: start) == [1, 2, 3, 4])
    }
}

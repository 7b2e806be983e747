import HTTPTypes
import Screens
import Storage
import TestKit
import Testing

@testable import Shop

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

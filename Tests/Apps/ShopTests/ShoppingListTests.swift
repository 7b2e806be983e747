import Concurrency
import Foundation
import HTTPTypes
import NIOCore
import Screens
import Storage
import TestKit
import Testing

@testable import Sandbox
@testable import Shop

@Suite("Lines of a shopping list")
struct ShoppingListTests {
    @Test("an id is read as it is written, and nothing else is one")
    func ids() {
        for id in [
            ListItemID(productID: 5), ListItemID(productID: 5, ordinal: 2), ListItemID(productID: .max, ordinal: 99),
        ] {
            #expect(ListItemID(id.text) == id)
        }
        #expect(ListItemID("5-2") == ListItemID(productID: 5, ordinal: 2))
        for text in [
            "", "-", "0", "05", "5-", "5-0", "5-1", "5-02", "5-2-3", "+5", "5 ", "x", "٥", "9223372036854775808",
        ] {
            #expect(ListItemID(text) == nil, "\(text)")
        }
    }

    @Test("SHOP-13 an order names every line once, by lines, or by products that are on the list once")
    func orders() {
        typealias Line = (id: ListItemID, product: Int)
        let (five, six): (Line, Line) = ((ListItemID(productID: 5), 5), (ListItemID(productID: 6), 6))
        let second: Line = (ListItemID(productID: 5, ordinal: 2), 5)
        #expect(ListOrder.products([6, 5]).ids(among: [five, six]) == [six.id, five.id])
        let order = ListOrder.items([six.id, second.id, five.id])
        #expect(order.ids(among: [five, second, six]) == [six.id, second.id, five.id])
        // A line is named by the present id of its product.
        let moved: Line = (five.id, 12)
        #expect(ListOrder.products([6, 12]).ids(among: [moved, six]) == [six.id, five.id])
        #expect(ListOrder.products([6, 5]).ids(among: [moved, six]) == nil)
        for order: ListOrder in [
            .products([6, 5]), .products([6, 5, 5]), .items([five.id, six.id]), .items([five.id, five.id, six.id]),
        ] {
            #expect(order.ids(among: [five, second, six]) == nil)
        }
    }
}

@Suite("Products that the list of the catalogue no longer has", .timeLimit(.minutes(10)))
struct ListedProductCheckTests {
    private func refreshAllPages(_ app: ShopHarness) async throws {
        var next: String? = "/v1/shop/search?limit=30&refresh=1"
        while let target = next {
            let page = try await app.get(target)
            next = if case .string(let link) = page["links.next"] { link + "&refresh=1" } else { nil }
        }
    }

    @Test("SHOP-16 after all pages were refreshed, a vanished product on the list is unavailable; the API was asked")
    func vanished() async throws {
        try await ShopHarness.run { (app) async throws in
            try await app.add(5)
            try await app.add(7)
            try app.control(.delete, "products/5")
            try await refreshAllPages(app)
            try await BoundedWait.poll(for: "a product that is gone") {
                try await app.get("/v1/shop/list")["data.items.0.difference"] == "gone"
            }
            let list = try await app.get("/v1/shop/list")
            #expect(list.all("available", in: "data.items") == [false, true])
            #expect(
                app.asked.filter { $0 == "/products/5" }.count == 2
                    && app.asked.filter { $0 == "/products/7" }.count == 1
            )
        }
    }

    @Test("a product that is missing from some pages only is not checked")
    func partly() async throws {
        try await ShopHarness.run { (app) async throws in
            try await app.add(60)
            try app.control(.delete, "products/60")
            for offset in [0, 30] { _ = try await app.get("/v1/shop/search?limit=30&offset=\(offset)") }
            _ = try await app.get("/v1/shop/search?category_id=1&limit=100")
            #expect(app.asked.filter { $0 == "/products/60" }.count == 1)
            #expect(try await app.get("/v1/shop/list")["data.items.0.available"] == true)
        }
    }
}

@Suite("Texts to be shared")
struct SharingTests {
    @Test("SHOP-18 one product is shared as text, by itself or in JSON, with the freshness of its card")
    func product() async throws {
        try await ShopHarness.run { (app) async throws in
            let card = try await app.get("/v1/shop/products/7")
            let json = try await app.get("/v1/shop/products/7/share")
            #expect(json["data.text"] == card["data.share_text"] && json["meta.screen"] == "shop.share")
            #expect(json["meta.source"] == card["meta.source"] || json.cacheStatus?.hasPrefix("larder; hit") == true)
            let plain = try await app.get("/v1/shop/products/7/share", as: nil, [.accept: "text/plain"])
            #expect(.string(plain.text) == card["data.share_text"] && plain.cacheStatus == "larder; hit; ttl=30")
            #expect(plain.headerFields[.contentType] == "text/plain; charset=utf-8" && plain.age == "0")
            let vary = "Authorization, Cookie, Accept-Language, Accept-Encoding, Larder-Profile, Accept"
            #expect(plain.headerFields[.vary] == vary && plain.headerFields[.contentLanguage] == "ru")
            let tag = try #require(plain.headerFields[.eTag])
            let fields: HTTPFields = [.accept: "text/plain", .ifNoneMatch: tag]
            #expect(try await app.get("/v1/shop/products/7/share", as: nil, fields).status == 304)
            try await app.get("/v1/shop/products/3333/share").expectProblem("not-found", 404)
            app.transport.goAway()
            try await app.get("/v1/shop/products/8/share").expectProblem("upstream-unavailable", 503)
            #expect(try await app.get("/v1/shop/products/7/share?refresh=1")["meta.offline"] == true)
        }
    }

    @Test("SHOP-18 a line of the list is shared with its quantity")
    func line() async throws {
        try await ShopHarness.run { (app) async throws in
            try await app.add(12, quantity: 3)
            let text = "Название: Canvas Belt_Brown\nЦена: 9,99$\nКоличество: 3"
            #expect(try await app.get("/v1/shop/list/items/12/share")["data.text"] == .string(text))
            #expect(try await app.get("/v1/shop/list/items/12/share", as: nil, [.accept: "text/plain"]).text == text)
            for id in ["13", "12-2", "x"] {
                try await app.get("/v1/shop/list/items/\(id)/share").expectProblem("not-found", 404)
            }
            try await app.get("/v1/shop/list/items/12/share", as: "other").expectProblem("not-found", 404)
        }
    }
}

@Suite("How long a response of the shopping list is kept")
struct KeptListTests {
    /// A cached response of a profile, and one of another profile and product.
    private struct Kept {
        let store: ShopStore
        let product: Product
        private(set) var token: ChangeToken
        let others: ChangeToken

        init(_ store: ShopStore) throws {
            self.store = store
            let price = try #require(Price(1))
            product = Product(id: 1, title: "A", description: "", price: price, images: [])
            token = store.changeToken("anna")
            others = store.changeToken("bert").and(store.changeToken(products: [2]))
        }

        var holds: Bool { token.holds(at: .now()) }

        /// Expects that a change has ended the response, and takes the next one.
        mutating func expectEnded(_ change: String) {
            #expect(!holds, "\(change)")
            token = store.changeToken("anna")
        }
    }

    @Test("TRUST-21 it ends with each change of the list, and with no other")
    func changes() async throws {
        try await ShopHarness.run { (app) async throws in
            let store = app.store
            var kept = try Kept(store)
            _ = try await store.add(kept.product, quantity: 1, to: "anna")
            kept.expectEnded("add")
            _ = try await store.change(.by(1), of: ListItemID(productID: 1), "anna")
            kept.expectEnded("quantity")
            _ = try await store.order(.products([1]), "anna")
            kept.expectEnded("order")
            _ = try await store.remove(ListItemID(productID: 1), "anna")
            kept.expectEnded("remove")
            _ = try await store.clear("anna")
            #expect(kept.holds, "an empty list is cleared")
            _ = try await store.add(kept.product, quantity: 1, to: "anna")
            kept.expectEnded("add again")
            _ = try await store.clear("anna")
            kept.expectEnded("clear")
            #expect(kept.others.holds(at: .now()), "nothing of this concerns another profile or product")
        }
    }

    @Test("TRUST-21 it ends with each change of the profile's searches and filters, and with no other")
    func searches() async throws {
        try await ShopHarness.run { (app) async throws in
            let store = app.store
            var kept = try Kept(store)
            try await store.record(SearchQuery(text: "a"), "anna", at: .distantPast)
            kept.expectEnded("search")
            try await store.record(SearchQuery(text: "a"), "anna", at: .distantFuture)
            #expect(kept.holds, "the same search once more")
            _ = try await store.setFilters(SearchFilters(categoryID: 1), "anna")
            kept.expectEnded("filters")
            _ = try await store.resetSettings("anna")
            kept.expectEnded("reset")
            _ = try await store.clearHistory("anna")
            kept.expectEnded("history")
            #expect(kept.others.holds(at: .now()), "nothing of this concerns another profile or product")
        }
    }

    @Test("TRUST-21 it ends with each change of a listed product, as a response of its card, and with no other")
    func products() async throws {
        try await ShopHarness.run { (app) async throws in
            let store = app.store
            var kept = try Kept(store)
            _ = try await store.add(kept.product, quantity: 1, to: "anna")
            kept.expectEnded("add")
            let (card, save) = (store.changeToken(products: [1]), store.save(fetchedAt: { .distantPast }))
            try await store.database.write { [product = kept.product] in try save([product], $0) }
            kept.expectEnded("product")
            #expect(!card.holds(at: .now()))
            try await store.database.write { [product = kept.product] in try save([product], $0) }
            #expect(kept.holds, "the same product once more")
            try await store.markGone(1, at: .distantPast)
            kept.expectEnded("gone")
            try await store.markPresent([1], at: .distantPast)
            kept.expectEnded("back")
            try await store.markPresent([1], at: .distantPast)
            #expect(kept.holds, "it was there already")
            #expect(kept.others.holds(at: .now()), "nothing of this concerns another profile or product")
        }
    }
}

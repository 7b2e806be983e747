import Foundation
import GRDB
import HTTPTypes
import Screens
import Storage
import TestKit
import Testing

@testable import Shop

@Suite("The filter sheet, related products, favourites, and lines that follow their products")
struct CatalogueSheetTests {
    @Test("SHOP-24 one response has the filter sheet: categories with pictures as options, and bounds of prices")
    func sheet() async throws {
        try await ShopHarness.run { (app) async throws in
            _ = try await app.get("/v1/shop/search?limit=50")
            let sheet = try await app.get("/v1/shop/filters")
            #expect(sheet["data.actions.0.fields.0.name"] == "category_id")
            let options = "data.actions.0.fields.0.options"
            let categories = try await app.get("/v1/shop/categories")
            #expect(sheet.strings("title", in: options) == categories.strings("name", in: "data.items"))
            #expect(sheet.strings("value", in: options).first == "1")
            let picture = try #require(sheet.strings("image_url", in: options).first)
            #expect(picture == categories.strings("image_url", in: "data.items").first)
            let shown = try await app.get(picture)
            #expect(shown.status == 200 && shown.headerFields[.contentType] == "image/png")
            #expect(shown.headerFields[.cacheControl] == "private, no-cache")
            try await app.get("/v1/shop/categories/99/image").expectProblem("not-found", 404)
            // Prices of all products that were seen, then of one category.
            let all = try #require(sheet["data.price_bounds.max"]?.number)
            #expect(sheet["data.price_bounds.min"]?.number ?? 0 < all)
            let chosen = try await app.ask(.put, "/v1/shop/filters", json: #"{"category_id":1}"#)
            #expect(chosen["data.actions.0.fields.0.value"] == "1")
            #expect(chosen["data.actions.0.fields.0.options.0.value"] == "1")
            let rows = try await app.get("/v1/shop/search?category_id=1&limit=50")
            let prices = rows.all("price", in: "data.items").compactMap(\.number)
            #expect(chosen["data.price_bounds.max"]?.number == prices.max())
            #expect(chosen["data.price_bounds.min_text"] != nil)
        }
    }

    @Test("SHOP-24 without the upstream the sheet is there, with what is known of the catalogue")
    func sheetOffline() async throws {
        try await ShopHarness.run { (app) async throws in
            app.transport.goAway()
            let empty = try await app.get("/v1/shop/filters")
            #expect(empty.status == 200 && empty["data.actions.0.fields.0.options"] == nil)
            #expect(empty["data.price_bounds"] == .null && empty["meta.offline"] == true)
            await app.recover()
            let sheet = try await app.get("/v1/shop/filters")
            #expect(sheet.all("value", in: "data.actions.0.fields.0.options").count > 1)
            app.transport.goAway()
            let offline = try await app.get("/v1/shop/filters?refresh=1")
            #expect(offline["data"] == sheet["data"] && offline["meta.offline"] == true)
            #expect(offline["meta.fetched_at"] == sheet["meta.fetched_at"] && offline["meta.fetched_at"] != .null)
        }
    }

    @Test("SHOP-24 beside a product are others of its category, the nearest price first, offline too")
    func related() async throws {
        try await ShopHarness.run { (app) async throws in
            let card = try await app.get("/v1/shop/products/4")
            let (category, price) = (try #require(card["data.category.id"]?.number), card["data.price"]?.number ?? 0)
            let rows = try await app.get("/v1/shop/search?category_id=\(Int(category))&limit=50")
            let prices = zip(rows.ids, rows.all("price", in: "data.items").compactMap(\.number)).filter { $0.0 != 4 }
            let nearest = prices.map { (abs($0.1 - price), $0.0) }.sorted { $0 < $1 }.prefix(6).map(\.1)
            let href = try card.string("data.related_href")
            let related = try await app.get(href)
            related.expectScreen("shop.related", language: "ru")
            #expect(related.ids == nearest && nearest.count == 6)
            #expect(related["data.items.0.href"] == .string("/v1/shop/products/\(nearest[0])"))
            try await app.goOffline()
            let offline = try await app.get(href)
            #expect(offline.ids == nearest && offline["meta.offline"] == true)
            try await app.get("/v1/shop/products/x/related").expectProblem("not-found", 404)
        }
    }

    @Test("SHOP-24 beside a product without a category is none; a part of the catalogue is told as one")
    func fewRelated() async throws {
        try await ShopHarness.run { (app) async throws in
            _ = try await app.get("/v1/shop/products/4")
            let alone = Product(
                id: 950,
                title: "Lamp",
                description: "",
                price: try #require(Price(text: "5")),
                category: nil,
                images: []
            )
            let save = app.store.save(fetchedAt: { Date(timeIntervalSince1970: 1) })
            try await app.database.write { try save([alone], $0) }
            try await app.goOffline()
            let none = try await app.get("/v1/shop/products/950/related")
            #expect(none.status == 200 && none.ids == [] && none["meta.state"] == "empty")
            #expect(none["meta.partial"] == nil && none["meta.offline"] == true)
            let part = try await app.get("/v1/shop/products/4/related")
            #expect(part.ids == [] && part["meta.partial"] == true)
            #expect(part["data.empty.title"] == "Каталог сейчас недоступен")
        }
    }

    @Test("SHOP-24 favourites are the profile's: added on the card, in order of adding, kept over a restart, offline")
    func favourites() async throws {
        let directory = try DataDirectory.temporary()
        try await ShopHarness.run(directory: directory) { (app) async throws in
            let none = try await app.get("/v1/shop/favourites")
            #expect(none["meta.screen"] == "shop.favourites")
            #expect(none["meta.state"] == "empty" && none["data.empty.action.href"] == "/v1/shop/search")
            let card = try await app.get("/v1/shop/products/4")
            #expect(card["data.favourite.id"] == "favourite")
            #expect(card["data.favourite.method"] == "POST" && card["data.favourite.body.product_id"] == 4)
            for id in [4, 7, 9] { #expect(try await add(id, app).status == 201) }
            for screen in ["favourites", "card"] {
                #expect(app.events.published.contains { $0.json.contains(#""shop.\#(screen)","revision":3"#) })
            }
            let chosen = try await app.get("/v1/shop/products/4")
            #expect(chosen["data.favourite.id"] == "unfavourite" && chosen["data.cart.in_list"] == false)
            #expect(chosen["data.favourite.href"] == "/v1/shop/favourites/4")
            let again = try await add(4, app)
            #expect(again.status == 200 && again.listed == [4, 7, 9] && again["meta.revision"] == 3)
            #expect(try await app.get("/v1/shop/favourites", as: "other").listed == [])
            #expect(try await app.get("/v1/shop/list")["meta.state"] == "empty")
            try await add(4444, app).expectProblem("not-found", 404)
            #expect(try await app.ask(.delete, "/v1/shop/favourites/7").listed == [4, 9])
            try await app.ask(.delete, "/v1/shop/favourites/7").expectProblem("not-found", 404)
            let stale = try await app.ask(.delete, "/v1/shop/favourites/9", as: nil, [.ifMatch: "\"1\""])
            stale.expectProblem("precondition-failed", 412)
        }
        try await ShopHarness.run(directory: directory) { (app) async throws in
            app.transport.goAway()
            let kept = try await app.get("/v1/shop/favourites?limit=1")
            #expect(kept.listed == [4] && kept["meta.page.total"] == 2)
            let next = try #require(kept["links.next"]?.string)
            #expect(try await app.get(next).listed == [9])
            #expect(kept["data.items.0.actions.0.id"] == "unfavourite")
        }
    }

    private func add(_ product: Int, _ app: ShopHarness) async throws -> Exchanged {
        try await app.ask(.post, "/v1/shop/favourites", json: #"{"product_id":\#(product)}"#)
    }

    @Test("SHOP-24 SHOP-21 a favourite follows its product to another id; the product that has its id is another one")
    func reseededFavourite() async throws {
        try await ShopHarness.run { (app) async throws in
            _ = try await add(10, app)
            try app.control(.put, "reseeded", #"{"shift":7}"#)
            _ = try await app.get("/v1/shop/products/10?refresh=1")
            let row = try await app.get("/v1/shop/favourites")
            #expect(row["data.items.0.difference"] == "replaced" && row["data.items.0.image_url"] == .null)
            #expect(try await app.get("/v1/shop/products/10")["data.favourite.id"] == "favourite")
            _ = try await app.get("/v1/shop/products/17?refresh=1")
            let found = try await app.get("/v1/shop/favourites")
            #expect(found.listed == [17] && found["data.items.0.available"] == true)
            #expect(try await app.get("/v1/shop/products/17")["data.favourite.href"] == "/v1/shop/favourites/10")
            let both = try await add(10, app)
            #expect(both.listed == [17, 10] && both.all("id", in: "data.items") == ["10", "10-2"])
        }
    }

    @Test("SHOP-21 after a reseed each line of the list finds its product by slug, wherever it is; quantities stay")
    func reseeded() async throws {
        try await ShopHarness.run { (app) async throws in
            for (id, quantity) in [(10, 2), (3, 1), (17, 5)] { try await app.add(id, quantity: quantity) }
            let titles = try await app.get("/v1/shop/list").strings("title", in: "data.items")
            let prices = try await app.get("/v1/shop/list")["data.totals.price"]
            try app.control(.put, "reseeded", #"{"shift":7}"#)
            _ = try await app.get("/v1/shop/search?refresh=1&limit=50")
            let list = try await app.get("/v1/shop/list")
            #expect(list.strings("title", in: "data.items") == titles && list.listed == [17, 10, 24])
            #expect(list.all("quantity", in: "data.items") == [2, 1, 5] && list["data.totals.price"] == prices)
            #expect(list.all("available", in: "data.items") == [true, true, true])
            // The addresses stay: a page that was open meanwhile changes the same products.
            #expect(list.all("item_id", in: "data.items") == ["10", "3", "17"])
            let pressed = try await app.ask(.patch, "/v1/shop/list/items/17", json: #"{"by":1}"#)
            #expect(pressed["data.item.product_id"] == 24 && pressed["data.item.quantity"] == 6)
            #expect(try await app.add(24)["data.already_in_list"] == true)
            let order = try await app.ask(.put, "/v1/shop/list/order", json: #"{"product_ids":[17,10,24]}"#)
            #expect(order.listed == [17, 10, 24])
            await app.events.published("screen-changed", containing: #""shop.list","revision":4"#)
            #expect(try await app.get("/v1/shop/products/17")["data.cart.quantity"] == 2)
            #expect(try await app.get("/v1/shop/products/10")["data.cart.quantity"] == 1)
        }
    }

    @Test("SHOP-21 a line that moves by products of which none was known is told to those who watch the list")
    func movedByNew() async throws {
        try await ShopHarness.run { (app) async throws in
            try await app.add(10, quantity: 2)
            try app.control(.put, "reseeded", #"{"shift":100}"#)
            _ = try await app.get("/v1/shop/search?refresh=1&limit=50")
            #expect(try await app.get("/v1/shop/list").listed == [110])
            await app.events.published("screen-changed", containing: #""shop.list","revision":2"#)
        }
    }

    @Test("SHOP-21 a product whose line has followed it to another id is on the list under its earlier id, too")
    func followed() async throws {
        try await ShopHarness.run { (app) async throws in
            let price = try #require(Price(text: "5"))
            let old = Product(
                id: 905,
                title: "Lamp",
                description: "",
                price: price,
                category: .init(id: 901, name: "Light"),
                images: [],
                slug: "lamp",
                madeAt: "1"
            )
            var new = old
            (new.id, new.madeAt) = (912, "2")
            for product in [old, new] {
                let save = app.store.save(fetchedAt: { Date(timeIntervalSince1970: 1) })
                try await app.database.write { try save([product], $0) }
                for list in ["local", ListKind.favourites.key("local")] {
                    let added = try await app.store.add(old, quantity: 2, to: list).changedLine
                    #expect((added == nil) == (product == new))
                }
            }
            for list in ["local", ListKind.favourites.key("local")] {
                #expect(try app.store.list(list).items.map(\.product.id) == [912])
            }
            let cart = try app.store.cart(of: [old, new], "local")
            for id in [905, 912] {
                #expect(cart[id]?.id.productID == 905 && cart.favourites[id]?.quantity == 2)
            }
        }
    }

    @Test("SHOP-21 without a slug, title and category decide; a product of another category is another one")
    func withoutSlug() async throws {
        try await ShopHarness.run { (app) async throws in
            let price = try #require(Price(text: "5"))
            func product(_ id: Int, _ title: String, _ category: String, _ madeAt: String) -> Product {
                Product(
                    id: id,
                    title: title,
                    description: "",
                    price: price,
                    category: .init(id: id, name: category),
                    images: [],
                    madeAt: madeAt
                )
            }
            func see(_ products: Product...) async throws {
                let save = app.store.save(fetchedAt: { Date(timeIntervalSince1970: 1) })
                try await app.database.write { try save(products, $0) }
            }
            try await see(product(901, "Lamp", "Light", "1"), product(902, "Lamp", "Toys", "1"))
            for id in [901, 902] {
                let known = try #require(try app.store.product(id)).product
                _ = try await app.store.add(known, quantity: 1, to: "local")
            }
            try await see(product(901, "Sofa", "Seats", "2"), product(903, "Lamp", "Toys", "2"))
            #expect(try app.store.list("local").items.map(\.product.id) == [901, 902])
            try await see(product(905, "Lamp", "Light", "2"))
            #expect(try app.store.list("local").items.map(\.product.id) == [905, 902])
            // Nobody knows which of two products of one title and category it is, or which of two lines.
            try await see(product(911, "Cup", "Light", "1"), product(921, "Bag", "Toys", "1"))
            try await see(product(922, "Bag", "Toys", "1"))
            for id in [911, 921, 922] {
                let known = try #require(try app.store.product(id)).product
                _ = try await app.store.add(known, quantity: 1, to: "local")
            }
            try await see(product(912, "Cup", "Light", "2"), product(913, "Cup", "Light", "2"))
            try await see(product(911, "Sofa", "Seats", "2"), product(921, "Desk", "Seats", "2"))
            try await see(product(922, "Desk", "Seats", "2"), product(923, "Bag", "Toys", "2"))
            #expect(try app.store.list("local").items.map(\.product.id) == [905, 902, 911, 921, 922])
            try await app.store.markGone(913, at: .distantPast)
            #expect(try app.store.list("local").items.map(\.product.id) == [905, 902, 912, 921, 922])
        }
    }

    @Test("SHOP-21 a changed price is told with the one before, until it is as before or the user changes the line")
    func price() async throws {
        try await ShopHarness.run { (app) async throws in
            try await app.add(20, quantity: 2)
            let before = try await app.get("/v1/shop/list")
            #expect(before["data.items.0.previous_price"] == .null)
            func see(_ price: String) async throws -> Exchanged {
                try app.control(.put, "products/20", #"{"price":\#(price)}"#)
                _ = try await app.get("/v1/shop/products/20?refresh=1")
                return try await app.get("/v1/shop/list")
            }
            let old = try #require(before["data.items.0.price"]?.number)
            let changed = try await see("28.5")
            #expect(changed["data.items.0.previous_price"]?.number == old && changed["data.items.0.price"] == 28.5)
            #expect(changed["data.items.0.previous_price_text"] == before["data.items.0.price_text"])
            // The price that the user has seen, not the one in between.
            #expect(try await see("30")["data.items.0.previous_price"]?.number == old)
            #expect(try await see("\(old)")["data.items.0.previous_price"] == .null)
            _ = try await see("31")
            let pressed = try await app.ask(.patch, "/v1/shop/list/items/20", json: #"{"by":1}"#)
            #expect(pressed["data.items.0.previous_price"] == .null && pressed["data.items.0.price"] == 31)
        }
    }
}

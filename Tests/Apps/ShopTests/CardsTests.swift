import Concurrency
import HTTP
import HTTPTypes
import Screens
import TestKit
import Testing
import Upstream

@testable import Sandbox
@testable import Shop

@Suite("The product card over HTTP")
struct CardsTests {
    @Test("SHOP-10 title, description, price, category, pictures in order, button and the text to share")
    func card() async throws {
        try await ShopHarness.run { (app) async throws in
            let card = try await app.get("/v1/shop/products/7")
            #expect(card.status == 200 && card["meta.screen"] == "shop.card" && card["meta.source"] == "upstream")
            let varying = "Authorization, Cookie, Accept-Language, Accept-Encoding, Larder-Profile"
            #expect(card.headerFields[.vary] == varying)
            #expect(
                card["data.title"] == "Olive Field Trousers" && card["data.price"] == 48
                    && card["data.price_text"] == "48$"
            )
            #expect(
                card["data.category.name"] == "Clothes" && card["data.layout"] == "wide"
                    && card["data.currency"] == "USD"
            )
            // The upstream sends these three as the pieces of a JSON text.
            #expect(card["data.image_urls"] == ["/v1/shop/images/7/0", "/v1/shop/images/7/1", "/v1/shop/images/7/2"])
            #expect(
                card["data.cart.in_list"] == false && card["data.button.id"] == "add"
                    && card["data.button.title"] == "Добавить в корзину"
            )
            #expect(
                card["data.share_text"]
                    == .string(
                        "Название: Olive Field Trousers\nЦена: 48$\n"
                            + "Описание: Five pockets, a little stretch, hem to be cut to length."
                    )
            )
            #expect(app.asked == ["/products/7"])
        }
    }

    @Test("SHOP-10 without a description or pictures: the app's words, and one placeholder")
    func bare() async throws {
        try await ShopHarness.run { (app) async throws in
            let card = try await app.get("/v1/shop/products/11")
            #expect(card["data.description"] == "" && card["data.description_text"] == "Описание отсутствует")
            #expect(try await app.get("/v1/shop/products/39")["data.image_urls"] == ["/v1/shop/images/39/0"])
            #expect(try await app.get("/v1/shop/products/12")["data.price_text"] == "9,99$")
        }
    }

    @Test("SHOP-17 a missing product is 404 where the upstream says so in its own form; other refusals are not")
    func missing() async throws {
        try await ShopHarness.run { (app) async throws in
            for id in ["3333", "abc", "0", "-1", "1.5", "99999999999999999999", "%D1%84"] {
                try await app.get("/v1/shop/products/\(id)").expectProblem("not-found", 404)
            }
            #expect(app.asked == ["/products/3333"])
            app.transport.always { (_) throws(UpstreamError) in
                .json(#"{"message":"x","error":"Not Found","statusCode":404}"#, status: .notFound)
            }
            try await app.get("/v1/shop/products/1").expectProblem("upstream-bad-response", 502)
            for body in [
                #"{"message":["x"],"error":"Bad Request","statusCode":400}"#,
                #"{"name":"QueryFailedError","message":"x"}"#, "x",
            ] {
                app.transport.always { (_) throws(UpstreamError) in .json(body, status: .badRequest) }
                try await app.get("/v1/shop/products/2").expectProblem("upstream-bad-response", 502)
            }
        }
    }

    @Test(
        "a product that is gone leaves the results, and comes back when the upstream has it again",
        arguments: [true, false]
    )
    func gone(comesBackUnchanged: Bool) async throws {
        try await ShopHarness.run { (app) async throws in
            #expect(try await app.get("/v1/shop/search?limit=3").ids == [1, 2, 3])
            _ = try await app.get("/v1/shop/products/2")
            try app.control(.delete, "products/2")
            try await app.get("/v1/shop/products/2?refresh=1").expectProblem("not-found", 404)
            // The stored page still has the product; it is not shown, and the next product fills the page.
            #expect(try await app.get("/v1/shop/search?limit=3").ids == [1, 3, 4])
            app.catalogue.reset()
            if !comesBackUnchanged { try app.control(.put, "products/2", #"{"price":1}"#) }
            #expect(try await app.get("/v1/shop/products/2?refresh=1").status == 200)
            #expect(try await app.get("/v1/shop/search?limit=3").ids == [1, 2, 3])
        }
    }

    @Test("a new card is shown from the search results while the upstream is slow, and says how old that is")
    func fromResults() async throws {
        try await ShopHarness.run { (app) async throws in
            _ = try await app.get("/v1/shop/search")
            app.clock.advance(by: .seconds(100))
            app.transport.goAway()
            let card = try await app.get("/v1/shop/products/3")
            #expect(
                card.status == 200 && card["meta.offline"] == true && card["meta.stale"] == true
                    && card["meta.source"] == "upstream"
            )
            #expect(card.cacheStatus == "larder; fwd=uri-miss; detail=unreachable" && card.age == "100")
            #expect(card["meta.banner.code"] == "offline")
            let stored = try await app.get("/v1/shop/products/4", as: nil, [.cacheControl: "only-if-cached"])
            #expect(stored.status == 200 && stored["meta.stale"] == true)
            try await app.get("/v1/shop/products/60", as: nil, [.cacheControl: "only-if-cached"]).expectProblem(
                "not-in-cache",
                504
            )
        }
    }
}

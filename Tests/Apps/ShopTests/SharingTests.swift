import HTTPTypes
import Screens
import TestKit
import Testing

@testable import Sandbox
@testable import Shop

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

import HTTPTypes
import TestKit
import Screens
import Database
import Testing

@testable import Shop

@Suite("The last search and its filters over HTTP")
struct FiltersTests {
    @Test(
        "SHOP-09 the last text and filters outlive a restart, are replayed with the same pages, and can be reset"
    )
    func saved() async throws {
        let directory = try DataDirectory.temporary()
        try await ShopHarness.run(directory: directory) { (app) async throws in
            _ = try await app.get("/v1/shop/search?q=t&category_id=1&price_min=20&price_max=59.5&limit=2")
        }
        try await ShopHarness.run(directory: directory) { (app) async throws in
            let filters = try await app.get("/v1/shop/filters")
            #expect(filters["data.q"] == "t" && filters["data.category_id"] == 1 && filters["data.price"] == .null)
            #expect(filters["data.price_min"] == 20 && filters["data.price_max"] == 59.5)
            let first = try await app.get("/v1/shop/search?saved=1&limit=2")
            #expect(first["data.query.q"] == "t" && first.ids == [1, 2])
            #expect(
                first["links.next"] == "/v1/shop/search?q=t&category_id=1&price_min=20&price_max=59.5&limit=2&offset=2"
            )
            #expect(try await app.ask(.delete, "/v1/shop/filters")["data.category_id"] == .null)
            #expect(try await app.get("/v1/shop/filters")["data.q"] == .null)
            let plain = try await app.get("/v1/shop/search?saved=1")
            #expect(plain.ids == Array(1...10) && plain["data.query.price_min"] == .null)
        }
    }

    @Test("SHOP-09 filters can be put without a search; what makes no sense is 422 with every field at fault")
    func put() async throws {
        try await ShopHarness.run { (app) async throws in
            _ = try await app.get("/v1/shop/search?q=lamp&price=5")
            let put = try await app.ask(
                .put,
                "/v1/shop/filters",
                json: #"{"category_id":3,"price_min":10,"price_max":null}"#
            )
            #expect(
                put.status == 200 && put["data.q"] == "lamp" && put["data.price"] == .null
                    && put["data.price_min"] == 10
            )
            #expect(try await app.get("/v1/shop/search?saved=1").ids == [34])
            let wrong = try await app.ask(
                .put,
                "/v1/shop/filters",
                json: #"{"category_id":"3","price_min":-1,"price_max":[],"price":"5"}"#
            )
            wrong.expectProblem("validation-failed", 422)
            #expect(wrong.all("pointer", in: "errors") == ["/category_id", "/price", "/price_min", "/price_max"])
            for body in [
                #"{"price":1,"price_max":2}"#, #"{"price_min":3,"price_max":2}"#, #"{"category_id":1.5}"#,
                #"{"category_id":0}"#,
            ] {
                try await app.ask(.put, "/v1/shop/filters", json: body).expectProblem("validation-failed", 422)
            }
            try await app.ask(.put, "/v1/shop/filters", json: "[").expectProblem("malformed-json", 400)
            #expect(try await app.get("/v1/shop/filters")["data.category_id"] == 3)
        }
    }
}

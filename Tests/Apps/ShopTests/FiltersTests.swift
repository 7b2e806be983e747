import HTTPTypes
import Screens
import Storage
import TestKit
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
            guard case .string(let next) = first["links.next"] else { return #expect(Bool(false), "no next page") }
            #expect(next.hasPrefix("/v1/shop/search?q=t&category_id=1&price_min=20&price_max=59.5&limit=2&cursor="))
            let second = try await app.get("/v1/shop/search?saved=1&limit=2&offset=2").ids
            #expect(try await app.get(next).ids == second && second.count == 2)
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

    @Test("TRUST-05 changes of filters honour If-Match and If-None-Match; Content-Range is refused")
    func preconditions() async throws {
        try await ShopHarness.run { (app) async throws in
            _ = try await app.get("/v1/shop/search?q=lamp&price=5")
            let tag = try #require(try await app.get("/v1/shop/filters").headerFields[.eTag])
            let filters = #"{"category_id":3}"#
            for method in [HTTPRequest.Method.put, .delete] {
                for fields: HTTPFields in [
                    [.ifMatch: "\"0\""], [.ifMatch: "W/\(tag)"], [.ifNoneMatch: "W/\(tag)"], [.ifNoneMatch: "*"],
                ] {
                    let refused = try await app.ask(method, "/v1/shop/filters", as: nil, fields, json: filters)
                    refused.expectProblem("precondition-failed", 412)
                }
            }
            try await app.ask(.put, "/v1/shop/filters", as: nil, [.contentRange: "bytes 0-1/2"], json: filters)
                .expectProblem("invalid-parameter", 400)
            #expect(try await app.get("/v1/shop/filters").headerFields[.eTag] == tag)
            let changed = try await app.ask(.put, "/v1/shop/filters", as: nil, [.ifMatch: tag], json: filters)
            #expect(changed.status == 200 && changed["data.category_id"] == 3 && changed["meta.revision"] == 2)
            // Another client with the older version does not overwrite it.
            try await app.ask(.delete, "/v1/shop/filters", as: nil, [.ifMatch: tag]).expectProblem(
                "precondition-failed",
                412
            )
            #expect(try await app.ask(.delete, "/v1/shop/filters", as: nil, [.ifMatch: "*"]).status == 200)
        }
    }
}

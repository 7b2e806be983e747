import Concurrency
import GRDB
import HTTP
import HTTPTypes
import Screens
import Storage
import Synchronization
import TestKit
import Testing
import Upstream

@testable import Shop

@Suite("TRUST-06 What is stored of the catalogue goes only when the API itself says so")
struct CatalogueAPITests {
    private static let screens = ["search?limit=3", "categories", "products/1"]

    private static func warmed(_ test: @Sendable (ShopHarness) async throws -> Void) async throws {
        try await ShopHarness.run { app in
            for screen in screens { #expect(try await app.get("/v1/shop/\(screen)").status == 200) }
            app.clock.advance(by: .seconds(7200))
            try await test(app)
        }
    }

    private static func expectEverything(_ app: ShopHarness) async throws {
        app.transport.goAway()
        let search = try await app.get("/v1/shop/search?limit=3&refresh=1")
        #expect(search.ids == [1, 2, 3] && search["meta.offline"] == true)
        #expect(try await app.get("/v1/shop/categories").all("id", in: "data.items").count > 3)
        let card = try await app.get("/v1/shop/products/1")
        #expect(card["data.id"] == 1 && card["meta.offline"] == true)
    }

    @Test(
        "TRUST-06 a 4xx that is not about the product in the API's own form is a failure: stale, then offline",
        arguments: [400, 401, 403, 404, 407, 410]
    )
    func page(status: Int) async throws {
        for own in [false, true] {
            try await Self.warmed { app in
                let nest = IncomingResponse.json(
                    #"{"message":"m","error":"e","statusCode":\#(status)}"#,
                    status: .init(code: status)
                )
                app.transport.always { (_) throws(UpstreamError) in own ? nest : .page(status) }
                for screen in Self.screens {
                    let response = try await app.get("/v1/shop/\(screen)")
                    #expect(
                        response.status == 200 && response["meta.stale"] == true && response["meta.offline"] == false,
                        "\(screen): \(response.text)"
                    )
                    #expect(
                        response.cacheStatus == "larder; fwd=stale; fwd-status=\(status); detail=bad-response",
                        "\(screen)"
                    )
                }
                try await app.get("/v1/shop/products/9").expectProblem("upstream-bad-response", 502)
                try await Self.expectEverything(app)
            }
        }
    }

    @Test("TRUST-06 that another product is missing says nothing of this one")
    func otherProduct() async throws {
        try await Self.warmed { app in
            let missing = #"{"path":"/api/v1/products/11","timestamp":"t","name":"EntityNotFoundError","message":"m"}"#
            app.transport.always { (_) throws(UpstreamError) in .json(missing, status: .badRequest) }
            #expect(try await app.get("/v1/shop/products/1")["meta.stale"] == true)
            try await Self.expectEverything(app)
        }
    }

    @Test(
        "TRUST-06 a list without a single product or category replaces nothing",
        arguments: ["[null]", #"[{"name":1}]"#, #"[[],7,"x"]"#]
    )
    func unusable(body: String) async throws {
        try await Self.warmed { app in
            app.transport.always { (_) throws(UpstreamError) in .json(body) }
            for screen in ["search?limit=3", "categories"] {
                let response = try await app.get("/v1/shop/\(screen)")
                #expect(
                    response.cacheStatus == "larder; fwd=stale; fwd-status=200; detail=bad-response"
                        && response["meta.state"] == "content",
                    "\(screen)"
                )
            }
            try await Self.expectEverything(app)
        }
    }

    @Test("TRUST-06 a row that cannot be used shows the product as it was, and the page says that it is stale")
    func unusableRow() async throws {
        try await ShopHarness.run { app in
            @Sendable func row(_ id: Int, _ price: String) -> String {
                #"{"id":\#(id),"title":"Product \#(id)","price":\#(price)}"#
            }
            app.transport.always { (_) throws(UpstreamError) in .json("[\(row(1, "44")),\(row(2, "5"))]") }
            let first = try await app.get("/v1/shop/search?limit=3")
            #expect(first["meta.stale"] == false)
            app.clock.advance(by: .milliseconds(60_500))
            let junk = #"{"id":1,"title":"Renamed","price":null}"#
            app.transport.always { (_) throws(UpstreamError) in .json("[\(junk),\(row(2, "6")),{\"id\":3}]") }
            for expected in [
                "larder; fwd=stale; fwd-status=200; stored; detail=bad-response",
                "larder; hit; ttl=30; detail=bad-response",
            ] {
                let page = try await app.get("/v1/shop/search?limit=3")
                #expect(page.ids == [1, 2] && page.cacheStatus == expected)
                #expect(page.age == "0" && page["meta.fetched_at"] == "2026-01-05T10:01:00Z")
                #expect(
                    page["data.items.0.title"] == "Product 1" && page["data.items.0.price"] == 44
                        && page["data.items.1.price"] == 6
                )
                #expect(page["meta.stale"] == true && page["meta.offline"] == false)
            }
            app.clock.advance(by: .seconds(60))
            app.transport.always { (_) throws(UpstreamError) in .json("[\(row(1, "45")),\(row(2, "6"))]") }
            let whole = try await app.get("/v1/shop/search?limit=3")
            #expect(
                whole["meta.stale"] == false && whole["data.items.0.price"] == 45
                    && whole["meta.fetched_at"] == "2026-01-05T10:02:00Z"
            )
        }
    }

    @Test("TRUST-06 an empty list of all products or categories replaces nothing; one of a search is believed")
    func empty() async throws {
        try await Self.warmed { app in
            app.transport.always { (_) throws(UpstreamError) in .json("[]") }
            for screen in ["search?limit=3", "categories"] {
                let response = try await app.get("/v1/shop/\(screen)")
                #expect(
                    response.cacheStatus == "larder; fwd=stale; fwd-status=200; detail=bad-response"
                        && response["meta.state"] == "content" && response["meta.stale"] == true,
                    "\(screen)"
                )
            }
            let search = try await app.get("/v1/shop/search?q=mug")
            #expect(search["meta.state"] == "empty" && search["meta.partial"] == nil)
            try await Self.expectEverything(app)
        }
        try await ShopHarness.run { (app) async throws in
            app.transport.always { (_) throws(UpstreamError) in .json("[]") }
            for screen in ["search", "categories"] {
                #expect(try await app.get("/v1/shop/\(screen)")["meta.state"] == "empty")
            }
        }
    }

    @Test("TRUST-19 of a part with more rows than requested, no more than those are stored")
    func tooLong() async throws {
        try await ShopHarness.run { (app) async throws in
            let rows = (1...20_000).map { #"{"id":\#($0),"title":"P\#($0)","price":1}"# }.joined(separator: ",")
            app.transport.always { (_) throws(UpstreamError) in .json("[\(rows)]") }
            #expect(try await app.get("/v1/shop/search?limit=3").ids == [1, 2, 3])
            let count = try app.database.integer("SELECT count(*) FROM shop_product")
            #expect(count == 4)
        }
    }

    @Test("TRUST-19 more categories than are written within a quarter of a second are refused, and the known ones stay")
    func tooManyCategories() async throws {
        try await Self.warmed { app in
            let known = try await app.get("/v1/shop/categories").ids
            let count = Mutex(10_001)
            app.transport.always { (_) throws(UpstreamError) in
                let rows = (1...count.withLock { $0 }).map { #"{"id":\#($0),"name":"C\#($0)"}"# }
                return .json("[\(rows.joined(separator: ","))]")
            }
            let refused = try await app.get("/v1/shop/categories?refresh=1")
            #expect(refused.cacheStatus == "larder; fwd=request; fwd-status=200; detail=bad-response")
            #expect(refused.ids == known && refused["meta.stale"] == true)
            count.withLock { $0 = 10_000 }
            let allowed = try await app.get("/v1/shop/categories?refresh=1")
            #expect(allowed["meta.page.total"] == 10_000 && allowed.ids.count == 100)
        }
    }
}

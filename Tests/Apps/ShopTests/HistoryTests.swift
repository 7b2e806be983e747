import HTTPTypes
import Screens
import Storage
import TestKit
import Testing

@testable import Shop

@Suite("The history over HTTP")
struct HistoryTests {
    @Test("SHOP-02 at most five texts, newest first; a repeat moves up in any case; blanks and later pages are out")
    func history() async throws {
        try await ShopHarness.run { (app) async throws in
            for q in ["one", "two", "three", "four", "five", "six", "%20%20", "TWO", ""] {
                _ = try await app.get("/v1/shop/search?q=\(q)")
            }
            _ = try await app.get("/v1/shop/search?q=later&offset=10")
            let response = try await app.get("/v1/shop/history")
            #expect(
                response.status == 200 && response["meta.source"] == "local"
                    && response["meta.screen"] == "shop.history"
            )
            let varying = "Authorization, Cookie, Accept-Language, Accept-Encoding, Larder-Profile"
            #expect(response.headerFields[.vary] == varying)
            #expect(response.all("q", in: "data.items") == ["TWO", "six", "five", "four", "three"])
            #expect(response.names(in: "data.items.0") == ["id", "q", "filters", "searched_at", "href", "actions"])
            #expect(
                response["data.items.0.searched_at"] == "2026-01-05T10:00:00Z"
                    && response["data.items.1.actions.0.href"] == "/v1/shop/history/1"
            )
            #expect(response["data.actions.0.href"] == "/v1/shop/history" && response["data.actions.0.id"] == "clear")
        }
    }

    @Test("SHOP-23 a search as one types leaves one entry; another text, and the same after a minute, leave their own")
    func typed() async throws {
        try await ShopHarness.run { (app) async throws in
            for q in ["l", "La", "lam", "lamp"] { _ = try await app.get("/v1/shop/search?q=\(q)") }
            #expect(try await app.get("/v1/shop/history").all("q", in: "data.items") == ["lamp"])
            for q in ["mug", "lamp shade"] { _ = try await app.get("/v1/shop/search?q=\(encoded(q))") }
            #expect(try await app.get("/v1/shop/history").all("q", in: "data.items") == ["lamp shade", "mug", "lamp"])
            app.clock.advance(by: .seconds(61))
            _ = try await app.get("/v1/shop/search?q=\(encoded("lamp shades"))")
            #expect(
                try await app.get("/v1/shop/history").all("q", in: "data.items")
                    == ["lamp shades", "lamp shade", "mug", "lamp"]
            )
        }
    }

    @Test("SHOP-02 HARN-29 The address of a row is that search, its action forgets it")
    func rows() async throws {
        try await ShopHarness.run { (app) async throws in
            _ = try await app.get("/v1/shop/search?q=\(encoded("Кружка"))&price_max=9")
            let row = try await app.get("/v1/shop/history")
            let again = try await app.get(try row.string("data.items.0.href"))
            #expect(again["meta.screen"] == "shop.search" && again["data.query.q"] == "Кружка")
            #expect(again["data.query.price_max"] == 9)
            #expect(row["data.items.0.actions.0.method"] == "DELETE")
            let left = try await app.ask(.delete, try row.string("data.items.0.actions.0.href"))
            #expect(left.status == 200 && left["data.items"] == [] && left["data.actions"] == [])
        }
    }

    @Test("TRUST-20 HEAD, a 504 and a page of another origin change neither the history nor the last search")
    func withoutEffects() async throws {
        try await ShopHarness.run { (app) async throws in
            _ = try await app.get("/v1/shop/search?q=own&price_max=9")
            let site = HTTPField.Name("Sec-Fetch-Site") ?? .accept
            let planted = try await app.ask(.get, "/v1/shop/search?q=planted&price_max=7", [site: "cross-site"])
            #expect(planted.status == 200)
            _ = try await app.ask(.get, "/v1/shop/search?q=evil", [.origin: "http://evil.example"])
            _ = try await app.ask(.head, "/v1/shop/search?q=head")
            let absent = try await app.ask(.get, "/v1/shop/search?q=absent", [.cacheControl: "only-if-cached"])
            #expect(absent.status == 504)
            #expect(try await app.get("/v1/shop/history").all("q", in: "data.items") == ["own"])
            #expect(try await app.get("/v1/shop/search?saved=1")["data.query.q"] == "own")
        }
    }

    @Test("SHOP-02 A search with peek=1 finds the same and changes neither the history nor the last search")
    func peek() async throws {
        try await ShopHarness.run { (app) async throws in
            let own = try await app.get("/v1/shop/search?q=mug")
            #expect(try await app.get("/v1/shop/search?q=cap&peek=1").ids == app.get("/v1/shop/search?q=cap").ids)
            _ = try await app.get("/v1/shop/search?q=mug")
            let peeked = try await app.get("/v1/shop/search?q=ca&peek=1")
            #expect(peeked.status == 200 && peeked.ids != own.ids)
            #expect(try await app.get("/v1/shop/history").all("q", in: "data.items") == ["mug", "cap"])
            #expect(try await app.get("/v1/shop/search?saved=1")["data.query.q"] == "mug")
        }
    }

    @Test("SHOP-02 it narrows as text is typed, keeps the filters, and can be cleared, one by one or whole")
    func narrowing() async throws {
        try await ShopHarness.run { (app) async throws in
            for q in ["Кружка", "mug&price_max=9", "КРУЖКИ"] {
                _ = try await app.get("/v1/shop/search?q=\(q.hasPrefix("m") ? q : encoded(q))")
            }
            let narrowed = try await app.get("/v1/shop/history?q=\(encoded("круж"))")
            #expect(
                narrowed.all("q", in: "data.items") == ["КРУЖКИ", "Кружка"]
                    && narrowed["data.items.1.actions.0.href"] == "/v1/shop/history/2"
            )
            #expect(try await app.get("/v1/shop/history?q=m")["data.items.0.filters.price_max"] == 9)
            let none = try await app.get("/v1/shop/history?q=zz")
            #expect(
                none["meta.state"] == "empty" && none["data.empty.title"] == "Таких запросов ещё не было"
                    && narrowed["data.empty"] == nil
            )
            #expect(
                try await app.ask(.delete, "/v1/shop/history/1").all("q", in: "data.items") == ["КРУЖКИ", "Кружка"]
            )
            for n in ["5", "x", "-1", "2", "01x", "99999999999999999999"] {
                try await app.ask(.delete, "/v1/shop/history/\(n)").expectProblem("not-found", 404)
            }
            let cleared = try await app.ask(.delete, "/v1/shop/history")
            #expect(
                cleared.status == 200 && cleared["meta.state"] == "empty"
                    && cleared["data.empty.title"] == "История поиска пуста"
            )
            #expect(try await app.get("/v1/shop/history").all("q", in: "data.items") == [])
            try await app.get("/v1/shop/history?q=%00").expectProblem("invalid-parameter", 400)
        }
    }

    @Test("SHOP-02 The action of a row forgets that search and no other, pressed twice or after another search")
    func pressedTwice() async throws {
        try await ShopHarness.run { (app) async throws in
            for q in ["one", "two", "three"] { _ = try await app.get("/v1/shop/search?q=\(q)") }
            let shown = try await app.get("/v1/shop/history")
            let href = try shown.string("data.items.1.actions.0.href")
            let fields: HTTPFields = [.ifMatch: try shown.string("data.items.1.actions.0.headers.If-Match")]
            let left = try await app.ask(.delete, href, as: nil, fields)
            #expect(left.status == 200 && left.all("q", in: "data.items") == ["three", "one"])
            try await app.ask(.delete, href, as: nil, fields).expectProblem("precondition-failed", 412)
            let again = try left.string("data.items.1.actions.0.headers.If-Match")
            _ = try await app.get("/v1/shop/search?q=four")
            try await app.ask(.delete, href, as: nil, [.ifMatch: again]).expectProblem("precondition-failed", 412)
            #expect(try await app.get("/v1/shop/history").all("q", in: "data.items") == ["four", "three", "one"])
        }
    }

    @Test("TRUST-20 HEAD, and a search that is not stored, are not remembered")
    func unchanged() async throws {
        try await ShopHarness.run { (app) async throws in
            _ = try await app.get("/v1/shop/search?q=first")
            let before = try await app.get("/v1/shop/history")
            _ = try await app.ask(.head, "/v1/shop/search?q=second")
            let fields: HTTPFields = [.cacheControl: "only-if-cached"]
            try await app.get("/v1/shop/search?q=third", as: nil, fields).expectProblem("not-in-cache", 504)
            #expect(try await app.get("/v1/shop/history").body == before.body)
            #expect(try await app.get("/v1/shop/filters")["data.q"] == "first")
            _ = try await app.get("/v1/shop/search?q=fourth")
            _ = try await app.get("/v1/shop/search?q=first", as: nil, fields)
            #expect(try await app.get("/v1/shop/history").all("q", in: "data.items") == ["first", "fourth"])
        }
    }

    @Test("TRUST-05 removals from the history honour If-Match and If-None-Match")
    func preconditions() async throws {
        try await ShopHarness.run { (app) async throws in
            for q in ["one", "two", "three"] { _ = try await app.get("/v1/shop/search?q=\(q)") }
            let history = try await app.get("/v1/shop/history")
            let tag = try #require(history.headerFields[.eTag])
            #expect(history["meta.revision"] == 3 && tag.hasPrefix("\"3."))
            for target in ["/v1/shop/history", "/v1/shop/history/0"] {
                for fields: HTTPFields in [[.ifMatch: "\"2\""], [.ifNoneMatch: tag], [.ifNoneMatch: "*"]] {
                    try await app.ask(.delete, target, as: nil, fields).expectProblem("precondition-failed", 412)
                }
            }
            #expect(try await app.get("/v1/shop/history").headerFields[.eTag] == tag)
            // A place that does not exist is 404, whatever the preconditions (RFC 9110 §13.2.1).
            try await app.ask(.delete, "/v1/shop/history/4", as: nil, [.ifMatch: "\"2\""]).expectProblem(
                "not-found",
                404
            )
            #expect(try await app.ask(.delete, "/v1/shop/history/0", as: nil, [.ifMatch: tag]).status == 200)
            try await app.ask(.delete, "/v1/shop/history", as: nil, [.ifMatch: tag]).expectProblem(
                "precondition-failed",
                412
            )
            #expect(try await app.ask(.delete, "/v1/shop/history", as: nil, [.ifMatch: "\"4\""])["meta.revision"] == 5)
        }
    }

    @Test("profiles know nothing of each other; a name that is none is 400 everywhere")
    func apart() async throws {
        try await ShopHarness.run { (app) async throws in
            _ = try await app.get("/v1/shop/search?q=mug", as: "anna")
            try await app.add(1, as: "anna")
            #expect(try await app.get("/v1/shop/history", as: "bob")["meta.state"] == "empty")
            #expect(try await app.get("/v1/shop/filters")["data.q"] == .null)
            #expect(try await app.get("/v1/shop/list", as: "bob").listed == [])
            #expect(try await app.get("/v1/shop/search", as: "bob")["data.items.0.cart.in_list"] == false)
            #expect(try await app.get("/v1/shop/search", as: "anna")["data.items.0.cart.in_list"] == true)
            for target in [
                "launch", "search", "history", "filters", "list", "list/share", "products/1", "list/items/1/image",
            ] {
                try await app.get("/v1/shop/\(target)", as: "a b").expectProblem("invalid-parameter", 400)
            }
        }
    }

    @Test("a cold start shows the search")
    func launch() async throws {
        try await ShopHarness.run { (app) async throws in
            let response = try await app.get("/v1/shop/launch")
            #expect(
                response["data.route.screen"] == "shop.search"
                    && response["data.route.href"] == "/v1/shop/search?saved=1"
                    && response["meta.source"] == "local"
            )
        }
    }
}

@Suite("The last search and its filters over HTTP")
struct FiltersTests {
    @Test("SHOP-09 the last text and filters outlive a restart, are replayed with the same pages, and can be reset")
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

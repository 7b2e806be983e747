import Foundation
import TestKit
import Testing

extension ContractScenario {
    private static let shopReads = [
        "GET /v1/shop/search", "GET /v1/shop/categories", "GET /v1/shop/products/{id}", "GET /v1/shop/images/{id}/{n}",
        "GET /v1/shop/products/{id}/share", "GET /v1/shop/products/{id}/related",
    ]

    /// Bodies that reach the rules of an operation.
    static let shopBodies = [
        "PUT /v1/shop/filters": #"{"category_id":1}"#, "POST /v1/shop/list/items": #"{"product_id":1}"#,
        "PATCH /v1/shop/list/items/{item_id}": #"{"quantity":2}"#, "POST /v1/shop/favourites": #"{"product_id":1}"#,
        "PUT /v1/shop/list/order": #"{"product_ids":[1]}"#,
    ]

    /// The shop before anything was fetched.
    func shopUnseen() async throws {
        for operation in Self.shopReads {
            #expect(try await ask(operation, ["Cache-Control": "only-if-cached"]).status == 504, "\(operation)")
        }
        #expect(try await ask("GET /v1/shop/filters", ["Cache-Control": "only-if-cached"]).status == 504)
        let image = "GET /v1/shop/list/items/{item_id}/image"
        try await ask(image)
        // On a list, but without its picture.
        let profile = ["Larder-Profile": "contract-unseen"]
        try await ask("POST /v1/shop/list/items", profile, body: #"{"product_id":1}"#)
        #expect(
            try await ask(image, ["Cache-Control": "only-if-cached"].merging(profile) { own, _ in own }).status == 504
        )
    }

    /// Search, history, filters, categories, card and pictures.
    func shopSearch() async throws {
        let profile = ["Larder-Profile": "contract"]
        let queries = [
            "", "?q=mug", "?q=%D0%9B%D0%90%D0%9C%D0%9F%D0%90", "?category_id=2&limit=3&offset=3", "?price=24",
            "?price_min=0&price_max=9.5&refresh=1",
            "?price_min=100",
            "?q=zzz", "?offset=1000", "?offset=\(Int.max)", "?saved=1", "?sort=price", "?sort=-price&limit=3&offset=3",
            "?sort=title&saved=1", "?q=mug&sort=relevance", "?q=mug&peek=1",
        ]
        for query in queries {
            #expect(try await ask("GET /v1/shop/search", query: query, profile).status == 200, "\(query)")
        }
        for operation in ["GET /v1/shop/search", "GET /v1/shop/categories"] {
            try await askPages(operation, query: "?limit=1&offset=1", profile)
        }
        for query in ["?price=-1", "?limit=101", "?saved=1&q=a", "?q=%00", "?sort=size"] {
            #expect(try await ask("GET /v1/shop/search", query: query).status == 400, "\(query)")
        }
        for query in ["?refresh=1", "?refresh=maybe"] { try await ask("GET /v1/shop/filters", query: query, profile) }
        let local = ["launch", "history", "filters", "suggestions"].map { "GET /v1/shop/\($0)" }
        for operation in local + Self.shopReads {
            for isHead in [false, true] { try await ask(operation, profile, isHead: isHead) }
        }
        for screen in ["history", "suggestions"] {
            for query in ["?q=m", "?q=%00"] { try await ask("GET /v1/shop/\(screen)", query: query, profile) }
        }
        for query in ["?refresh=1", "?refresh=maybe"] { try await ask("GET /v1/shop/categories", query: query) }
        try await shopCards(profile)
        try await shopPictures()
    }

    /// Cards, and changes of the filters and of the history.
    private func shopCards(_ profile: [String: String]) async throws {
        for id in ["7", "11", "12", "39"] {
            try await ask("GET /v1/shop/products/{id}", query: "?refresh=1", ship: id, profile)
        }
        for screen in ["", "/share", "/related"] { try await ask("GET /v1/shop/products/{id}\(screen)", ship: "3333") }
        try await ask("GET /v1/shop/products/{id}/share", ["Accept": "text/plain"].merging(profile) { own, _ in own })
        try await ask("GET /v1/shop/products/{id}/share", query: "?refresh=maybe", profile)
        for body in [#"{"category_id":1,"price_min":5}"#, "{}", #"{"price":1,"price_min":1}"#, "["] {
            try await ask("PUT /v1/shop/filters", profile, body: body)
        }
        try await ask("DELETE /v1/shop/filters", profile)
        for _ in 0..<7 { try await ask("DELETE /v1/shop/history/{n}", profile) }
        try await ask("DELETE /v1/shop/history", profile)
    }

    /// Pictures of products and categories.
    private func shopPictures() async throws {
        // One that is redirected, one that is none, one of an unknown product.
        for id in ["22", "22", "39", "3333"] {
            for isHead in [false, true] { try await ask("GET /v1/shop/images/{id}/{n}", ship: id, isHead: isHead) }
        }
        _ = try await ask("GET /v1/shop/products/{id}", ship: "22")
        for query in ["", "?refresh=1", "?refresh=maybe", "?width=9"] {
            try await ask("GET /v1/shop/images/{id}/{n}", query: query, ship: "22")
        }
        let category = "GET /v1/shop/categories/{id}/image"
        try await ask(category, ["Cache-Control": "only-if-cached"])
        for query in ["", "?refresh=1", "?refresh=maybe", "?width=9"] {
            for isHead in [false, true] { try await ask(category, query: query, isHead: isHead) }
        }
        try await ask(category, ship: "99")
        _ = try await ask("GET /v1/shop/products/{id}", ship: "39")
        try await ask("GET /v1/shop/images/{id}/{n}", ship: "39")
        _ = try await ask("GET /v1/shop/products/{id}", ship: "40")
        try await ask("GET /v1/shop/images/{id}/{n}", ship: "40", ["Cache-Control": "only-if-cached"])
    }

    /// The favourites, with changes of them that are refused.
    func shopFavourites() async throws {
        let profile = ["Larder-Profile": "contract-favourites"]
        let (all, add, remove) = (
            "GET /v1/shop/favourites", "POST /v1/shop/favourites", "DELETE /v1/shop/favourites/{item_id}"
        )
        try await ask(all, profile)
        try await ask(remove, profile)
        for id in [1, 2, 1, 3333] { try await ask(add, profile, body: #"{"product_id":\#(id)}"#) }
        try await askPages(all, query: "?limit=1", profile)
        for query in ["?limit=1", "?limit=1&offset=1", "?offset=9", "?limit=0", "?cursor=x"] {
            for operation in [all, add, remove] {
                try await ask(operation, query: query, profile, body: Self.shopBodies[operation])
            }
        }
        try await ask(all, profile, isHead: true)
        for _ in 0..<2 { try await ask(remove, profile) }
    }

    /// The list, with changes of it that are refused.
    func shopList() async throws {
        let profile = ["Larder-Profile": "contract-list"]
        let list = "GET /v1/shop/list"
        let (item, image) = ("/v1/shop/list/items/{item_id}", "GET /v1/shop/list/items/{item_id}/image")
        try await ask("GET /v1/shop/list/share", profile)
        try await ask("DELETE /v1/shop/list", profile)
        let share = "GET \(item)/share"
        for operation in [list, "PATCH \(item)", "DELETE \(item)", image, share] {
            try await ask(operation, profile, body: Self.shopBodies[operation])
        }
        for body in [
            #"{"product_id":1}"#, #"{"product_id":1,"quantity":5}"#, #"{"product_id":2,"quantity":3}"#,
            #"{"product_id":3333}"#,
        ] {
            try await ask("POST /v1/shop/list/items", profile, body: body)
        }
        try await askPages(list, query: "?limit=1", profile)
        try await shopWrongPages(profile)
        for query in ["?limit=1", "?limit=1&offset=1", "?offset=9", "?limit=0", "?cursor=x"] {
            for operation in [list, "PATCH \(item)"] {
                try await ask(operation, query: query, profile, body: Self.shopBodies[operation])
            }
        }
        for query in ["", "?refresh=1", "?refresh=maybe", "?width=9"] { try await ask(image, query: query, profile) }
        for operation in [image, share] { try await ask(operation, profile, isHead: true) }
        try await ask(share, ["Accept": "text/plain"].merging(profile) { own, _ in own })
        try await shopWrongBodies(profile)
        for order in [#"{"product_ids":[2,1]}"#, #"{"item_ids":["1","2"]}"#, #"{"item_ids":[],"product_ids":[]}"#] {
            try await ask("PUT /v1/shop/list/order", profile, body: order)
        }
        for (body, status) in [(#"{"quantity":9}"#, 200), (#"{"by":-1}"#, 200), (#"{"by":-8}"#, 422)] {
            #expect(try await ask("PATCH \(item)", profile, body: body).status == status, "\(body)")
        }
        try await shopPreconditions(profile)
        try await shopReseeded(profile)
        try await ask("DELETE \(item)", profile)
        try await ask("DELETE /v1/shop/list", profile)
    }

    private func shopWrongPages(_ profile: [String: String]) async throws {
        // A write with a wrong page in its query is refused and changes nothing.
        for write in [
            "DELETE /v1/shop/list", "POST /v1/shop/list/items", "DELETE /v1/shop/list/items/{item_id}",
            "PUT /v1/shop/list/order",
        ] {
            for query in ["?limit=0", "?offset=-1", "?cursor=x"] {
                let refused = try await ask(write, query: query, profile, body: Self.shopBodies[write])
                #expect(refused.status == 400, "\(write) \(query)")
            }
        }
    }

    private func shopWrongBodies(_ profile: [String: String]) async throws {
        let large = String(repeating: " ", count: 70_000)
        for (operation, body) in Self.shopBodies {
            for wrong in ["[", "{}", large + body] { try await ask(operation, profile, body: wrong) }
            try await ask(operation, ["Content-Type": "text/plain"].merging(profile) { own, _ in own }, body: body)
        }
        try await ask("PUT /v1/shop/filters", profile, body: #"{"price":"1"}"#)
    }

    /// The list after the catalogue has given ids to other products.
    private func shopReseeded(_ profile: [String: String]) async throws {
        let list = "GET /v1/shop/list"
        // An id on the list is given to another product, and one product is gone.
        try await larder.control("PUT", "/catalogue/reseeded", #"{"shift":1}"#)
        for id in ["1", "2"] { try await ask("GET /v1/shop/products/{id}", query: "?refresh=1", ship: id, profile) }
        for isHead in [false, true] {
            for operation in [list, "GET /v1/shop/list/share"] { try await ask(operation, profile, isHead: isHead) }
        }
        // The first line has found its product again: that of the id is on the list beside the old one.
        #expect(try await ask("POST /v1/shop/list/items", profile, body: #"{"product_id":2}"#).status == 200)
        try await ask(list, profile)
        try await ask("GET /v1/shop/list/share", ["Accept": "text/plain"].merging(profile) { own, _ in own })
        try await larder.control("POST", "/reset")
        // Products that the list showed as gone are known again after the upstream was asked for them.
        for id in ["1", "2"] {
            #expect(try await ask("GET /v1/shop/products/{id}", query: "?refresh=1", ship: id, profile).status == 200)
        }
    }

    /// Writes whose preconditions fail.
    private func shopPreconditions(_ profile: [String: String]) async throws {
        try await ask("GET /v1/shop/search", query: "?q=mug", profile)
        try await ask("POST /v1/shop/favourites", profile, body: Self.shopBodies["POST /v1/shop/favourites"])
        let stale = ["If-Match": "\"0\""].merging(profile) { own, _ in own }
        for operation in try OpenAPIDocument.load().operations
        where operation.path.hasPrefix("/v1/shop/") && operation.responses["412"] != nil {
            let body = operation.key.contains("order") ? #"{"product_ids":[1,2]}"# : Self.shopBodies[operation.key]
            #expect(try await ask(operation.key, stale, body: body).status == 412, "\(operation.key)")
        }
    }

    /// Requests of every operation of the shop with an invalid profile, and with an entity tag of its own response.
    func shopProfilesAndTags() async throws {
        for operation in try OpenAPIDocument.load().operations where operation.path.hasPrefix("/v1/shop/") {
            try await ask(operation.key, ["Larder-Profile": "no name"], body: Self.shopBodies[operation.key])
        }
        try await ask("GET /v1/shop/images/{id}/{n}", query: "?refresh=maybe")
        try await ask("POST /v1/shop/list/items", body: #"{"product_id":1}"#)
        for operation in try OpenAPIDocument.load().operations
        where operation.path.hasPrefix("/v1/shop/") && operation.responses["304"] != nil {
            try await ask(operation.key)
            let tag = try #require(try await ask(operation.key).headers["etag"], "\(operation.key)")
            try await ask(operation.key, ["If-None-Match": tag])
        }
    }

    /// The catalogue refuses, fails, asks for a pause and becomes unreachable, with and without something stored.
    func shopUpstreamFails() async throws {
        let add = "POST /v1/shop/list/items"
        for fault in ["error(403)", "error(404)", "error(400)", "garbage", "error(503)"] {
            try await larder.control("PUT", "/upstreams/catalogue/fault", #"{"fault":"\#(fault)"}"#)
            for operation in Self.shopReads {
                #expect(try await ask(operation, query: "?refresh=1").status >= 400, "\(operation) \(fault)")
            }
            #expect(try await ask(add, body: #"{"product_id":50}"#).status >= 400, "\(fault)")
            #expect(try await ask("POST /v1/shop/favourites", body: #"{"product_id":50}"#).status >= 400, "\(fault)")
        }
        try await larder.control("PUT", "/upstreams/catalogue/fault", #"{"fault":"error(429, 60)"}"#)
        for operation in Self.shopReads {
            for _ in 0..<2 { #expect(try await ask(operation).status == 429, "\(operation)") }
        }
        #expect(try await ask(add, body: #"{"product_id":50}"#).status == 429)
        #expect(try await ask("POST /v1/shop/favourites", body: #"{"product_id":50}"#).status == 429)
    }

    /// The catalogue becomes unreachable after a response was stored.
    func shopOffline() async throws {
        try await larder.control("PUT", "/upstreams/catalogue/fault", #"{"fault":"online"}"#)
        for operation in Self.shopReads { try await ask(operation) }
        for fault in ["offline", "error(500)", "garbage"] {
            try await larder.control("PUT", "/upstreams/catalogue/fault", #"{"fault":"\#(fault)"}"#)
            for query in ["", "?refresh=1"] {
                for operation in Self.shopReads {
                    #expect(try await ask(operation, query: query).status == 200, "\(operation)")
                }
            }
            let partial = try await ask("GET /v1/shop/search", query: "?q=cap")
            #expect(try partial.json.at(pointer: "/meta/partial") == .bool(true))
        }
        try await ask("GET /v1/shop/products/{id}", ship: "3")
        try await ask("GET /v1/status")
    }
}

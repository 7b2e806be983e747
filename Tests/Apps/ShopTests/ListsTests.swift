import Foundation
import GRDB
import HTTP
import HTTPTypes
import Screens
import Storage
import TestKit
import Testing
import Upstream

@testable import Sandbox
@testable import Shop

@Suite("The shopping list over HTTP")
struct ListsTests {
    @Test("SHOP-12 a product is put on the list once; adding again changes nothing, and the card then opens the list")
    func once() async throws {
        try await ShopHarness.run { (app) async throws in
            let added = try await app.add(4, quantity: 2)
            #expect(
                added.status == 201 && added["data.already_in_list"] == false
                    && added.headerFields[.location] == "/v1/shop/list/items/4"
            )
            let again = try await app.add(4, quantity: 7)
            #expect(
                again.status == 200 && again["data.already_in_list"] == true && again["data.items.0.quantity"] == 2
                    && again.listed == [4]
            )
            let card = try await app.get("/v1/shop/products/4")
            #expect(card["data.button.id"] == "open_list" && card["data.button.title"] == "Перейти в корзину")
            #expect(card["data.cart.in_list"] == true && card["data.cart.quantity"] == 2)
            let revisions = app.events.published.filter { $0.json.contains("shop.list") }
            #expect(revisions.map(\.json) == [#"{"app":"shop","screen":"shop.list","revision":1}"#])
        }
    }

    @Test("SHOP-12 of many who add the same at once, one adds it")
    func atOnce() async throws {
        try await ShopHarness.run { (app) async throws in
            let statuses = try await (0..<8).concurrentMap { _ in try await app.add(4).status }
            #expect(statuses.sorted() == [200, 200, 200, 200, 200, 200, 200, 201])
            #expect(try await app.get("/v1/shop/list").listed == [4])
        }
    }

    @Test("SHOP-13 rows and totals are exact, and outlive a restart with their order")
    func whole() async throws {
        let directory = try DataDirectory.temporary()
        try await ShopHarness.run(directory: directory) { (app) async throws in
            for (id, quantity) in [(12, 3), (4, 2), (59, 1)] { try await app.add(id, quantity: quantity) }
        }
        try await ShopHarness.run(directory: directory) { (app) async throws in
            app.transport.goAway()
            let list = try await app.get("/v1/shop/list")
            #expect(
                list.status == 200 && list["meta.source"] == "local" && list["meta.offline"] == false
                    && list["meta.revision"] == 3
            )
            #expect(list.headerFields[.cacheStatus] == nil)
            #expect(
                list.names(in: "data.items.0") == [
                    "id", "product_id", "title", "price", "price_text", "previous_price", "previous_price_text",
                    "available", "difference", "difference_text", "href", "item_id", "quantity", "bought", "line_total",
                    "line_total_text", "image_url", "actions",
                ]
            )
            #expect(
                list.listed == [12, 4, 59] && list["data.items.0.line_total_text"] == "29,97$"
                    && list["data.items.0.line_total"] == 29.97
            )
            #expect(
                list["data.items.1.image_url"] == "/v1/shop/images/4/0" && list["data.items.1.available"] == true
                    && list["data.items.1.difference"] == .null
            )
            #expect(list["data.totals.items"] == 6 && list["data.totals.price"] == 68.47)
            #expect(list["data.totals.items_text"] == "Товаров: 6" && list["data.totals.price_text"] == "Сумма: 68,47$")
            #expect(list.all("title", in: "data.actions") == ["Поделиться", "Изменить порядок", "Очистить"])
            let ordered = try await app.ask(.put, "/v1/shop/list/order", json: #"{"product_ids":[59,12,4]}"#)
            #expect(ordered.listed == [59, 12, 4])
        }
        try await ShopHarness.run(directory: directory) { (app) async throws in
            #expect(try await app.get("/v1/shop/list").listed == [59, 12, 4])
            #expect(try await app.ask(.delete, "/v1/shop/list/items/12").listed == [59, 4])
            try await app.ask(.delete, "/v1/shop/list/items/12").expectProblem("not-found", 404)
            let cleared = try await app.ask(.delete, "/v1/shop/list")
            #expect(
                cleared["meta.state"] == "empty" && cleared["data.empty.title"] == "Корзина пуста"
                    && cleared["data.actions"] == []
            )
            #expect(cleared["data.totals.items"] == 0 && cleared["data.totals.price_text"] == "Сумма: 0$")
        }
    }

    @Test("WEB-20 a line that is checked off stays so, whatever else changes, and after a restart; totals stay")
    func bought() async throws {
        let directory = try DataDirectory.temporary()
        try await ShopHarness.run(directory: directory) { (app) async throws in
            for id in [4, 12] { try await app.add(id, quantity: 2) }
            let before = try await app.get("/v1/shop/list")
            #expect(before.all("bought", in: "data.items") == [false, false])
            let checked = try await app.ask(.patch, "/v1/shop/list/items/12", json: #"{"bought":true,"by":null}"#)
            #expect(checked["data.item.bought"] == true && checked["data.totals"] == before["data.totals"])
            #expect(checked["meta.revision"] == 3)
            _ = try await app.ask(.patch, "/v1/shop/list/items/12", json: #"{"by":1}"#)
            _ = try await app.ask(.put, "/v1/shop/list/order", json: #"{"product_ids":[12,4]}"#)
            let missing = try await app.ask(.patch, "/v1/shop/list/items/5", json: #"{"bought":true}"#)
            missing.expectProblem("not-found", 404)
        }
        try await ShopHarness.run(directory: directory) { (app) async throws in
            #expect(try await app.get("/v1/shop/list").all("bought", in: "data.items") == [true, false])
            let back = try await app.ask(.patch, "/v1/shop/list/items/12", json: #"{"bought":false}"#)
            #expect(back.all("bought", in: "data.items") == [false, false])
        }
    }

    @Test("SHOP-13 the quantity is from 1 to 999")
    func quantity() async throws {
        try await ShopHarness.run { (app) async throws in
            try await app.add(1)
            for quantity in [1, 999, 3] {
                let body = #"{"quantity":\#(quantity)}"#
                #expect(
                    try await app.ask(.patch, "/v1/shop/list/items/1", json: body)["data.items.0.quantity"]
                        == .number(Double(quantity))
                )
            }
        }
    }

    @Test(
        "SHOP-13 a wrong change of a line is refused by its member and changes nothing",
        arguments: [
            #"{"quantity":0}"#, #"{"quantity":1000}"#, #"{"quantity":-1}"#, #"{"quantity":1.5}"#,
            #"{"quantity":"2"}"#, "{}", #"{"quantity":1e30}"#, #"{"by":null}"#,
        ].map { ($0, "/quantity", nil) }
            + [
                (#"{"by":"1"}"#, "/by", "invalid"), (#"{"by":0.5}"#, "/by", "invalid"),
                (#"{"by":999}"#, "/by", "invalid"), (#"{"by":-1e30}"#, "/by", "invalid"),
                (#"{"by":1,"quantity":4}"#, "/by", "contradictory"), (#"{"by":-3}"#, "/by", "out-of-bounds"),
                (#"{"by":998}"#, "/by", "out-of-bounds"), (#"{"bought":1}"#, "/bought", "invalid"),
                (#"{"bought":true,"by":1}"#, "/bought", "contradictory"),
                (#"{"bought":false,"quantity":2}"#, "/bought", "contradictory"),
            ] as [(String, String, String?)]
    )
    func wrongChange(body: String, pointer: String, code: String?) async throws {
        try await ShopHarness.run { (app) async throws in
            try await app.add(1, quantity: 3)
            let wrong = try await app.ask(.patch, "/v1/shop/list/items/1", json: body)
            wrong.expectProblem("validation-failed", 422)
            #expect(wrong["errors.0.pointer"] == .string(pointer))
            if let code { #expect(wrong["errors.0.code"] == .string(code)) }
            #expect(try await app.get("/v1/shop/list")["data.items.0.quantity"] == 3)
        }
    }

    @Test("SHOP-13 a wrong addition or order, and a line that is not there, are refused and change nothing")
    func wrongAddition() async throws {
        try await ShopHarness.run { (app) async throws in
            try await app.add(1, quantity: 3)
            for body in [
                #"{}"#, #"{"product_id":"1"}"#, #"{"product_id":0}"#, #"{"product_id":2,"quantity":0}"#,
                #"{"product_id":1.5,"quantity":[]}"#,
            ] {
                try await app.ask(.post, "/v1/shop/list/items", json: body).expectProblem("validation-failed", 422)
            }
            try await app.ask(.patch, "/v1/shop/list/items/2", json: #"{"quantity":1}"#).expectProblem("not-found", 404)
            try await app.ask(.patch, "/v1/shop/list/items/x", json: #"{"by":1}"#).expectProblem("not-found", 404)
            for body in [
                #"{"product_ids":[]}"#, #"{"product_ids":[1,1]}"#, #"{"product_ids":[1,2]}"#, #"{"product_ids":["1"]}"#,
                "{}", #"{"product_ids":1}"#,
            ] {
                try await app.ask(.put, "/v1/shop/list/order", json: body).expectProblem("validation-failed", 422)
            }
            for method in [HTTPRequest.Method.post, .patch] {
                let target = "/v1/shop/list/items\(method == .patch ? "/1" : "")"
                try await app.ask(method, target, json: "").expectProblem("malformed-json", 400)
                try await app.ask(method, target, json: "\u{0}").expectProblem("malformed-json", 400)
            }
            #expect(try await app.get("/v1/shop/list")["data.items.0.quantity"] == 3)
        }
    }

    @Test("SHOP-14 the list as text, one block a product, by itself or in JSON; an empty list is refused")
    func share() async throws {
        try await ShopHarness.run { (app) async throws in
            let refused = try await app.get("/v1/shop/list/share")
            refused.expectProblem("list-empty", 409)
            #expect(refused["dialog.message"] == "Корзина пуста")
            try await app.add(55, quantity: 2)
            try await app.add(12)
            let text =
                "Название: Кружка «Доброе утро»\nЦена: 6$\nКоличество: 2\n\n"
                + "Название: Canvas Belt_Brown\nЦена: 9,99$\nКоличество: 1"
            let json = try await app.get("/v1/shop/list/share")
            let vary = "Authorization, Cookie, Accept-Language, Accept-Encoding, Larder-Profile, Accept"
            #expect(json["data.text"] == .string(text) && json.headerFields[.vary] == vary)
            let plain = try await app.get("/v1/shop/list/share", as: nil, [.accept: "text/plain"])
            #expect(plain.text == text && plain.headerFields[.contentType] == "text/plain; charset=utf-8")
            #expect(plain.headerFields[.vary] == vary)
            #expect(plain.headerFields[.eTag] != nil && plain.headerFields[.eTag] != json.headerFields[.eTag])
        }
    }

    @Test("SHOP-15 every change of the list shows at once in results and card")
    func everywhere() async throws {
        try await ShopHarness.run { (app) async throws in
            func expect(_ quantity: Double?) async throws {
                let row = try await app.get("/v1/shop/search?q=hoodie")
                let card = try await app.get("/v1/shop/products/2")
                #expect(
                    row["data.items.0.cart.in_list"] == .bool(quantity != nil)
                        && row["data.items.0.cart.quantity"] == .number(quantity ?? 0)
                )
                #expect(
                    card["data.cart.in_list"] == .bool(quantity != nil)
                        && card["data.cart.quantity"] == .number(quantity ?? 0)
                )
            }
            try await expect(nil)
            try await app.add(2)
            try await expect(1)
            _ = try await app.ask(.patch, "/v1/shop/list/items/2", json: #"{"quantity":5}"#)
            try await expect(5)
            _ = try await app.ask(.delete, "/v1/shop/list/items/2")
            try await expect(nil)
            try await app.add(2, quantity: 3)
            try await expect(3)
            _ = try await app.ask(.delete, "/v1/shop/list")
            try await expect(nil)
        }
    }

    @Test("TRUST-05 every change of the list honours If-Match and If-None-Match; Content-Range is refused")
    func preconditions() async throws {
        try await ShopHarness.run { (app) async throws in
            try await app.add(1)
            try await app.add(2)
            let list = try await app.get("/v1/shop/list")
            let tag = try #require(list.headerFields[.eTag])
            let writes: [(HTTPRequest.Method, String, String?)] = [
                (.post, "items", #"{"product_id":1}"#), (.patch, "items/1", #"{"quantity":5}"#),
                (.put, "order", #"{"product_ids":[2,1]}"#), (.post, "items", #"{"product_id":3}"#),
                (.delete, "items/1", nil), (.delete, "", nil),
            ]
            for (method, path, body) in writes {
                let target = path.isEmpty ? "/v1/shop/list" : "/v1/shop/list/\(path)"
                for fields: HTTPFields in [
                    [.ifMatch: "\"1\""], [.ifMatch: "W/\(tag)"], [.ifNoneMatch: tag], [.ifNoneMatch: "*"],
                    [.ifMatch: ""],
                ] {
                    let refused = try await app.ask(method, target, as: nil, fields, json: body)
                    refused.expectProblem("precondition-failed", 412)
                }
                #expect(try await app.get("/v1/shop/list").headerFields[.eTag] == tag, "\(method) \(path)")
            }
            let order = #"{"product_ids":[2,1]}"#
            try await app.ask(.put, "/v1/shop/list/order", as: nil, [.contentRange: "bytes 0-1/2"], json: order)
                .expectProblem("invalid-parameter", 400)
            // An item that is not on the list is 404, whatever the preconditions (RFC 9110 §13.2.1).
            try await app.ask(.delete, "/v1/shop/list/items/9", as: nil, [.ifMatch: "\"1\""]).expectProblem(
                "not-found",
                404
            )
            for (revision, (method, path, body)) in zip([2, 2, 3, 4, 5, 6], writes) {
                let target = path.isEmpty ? "/v1/shop/list" : "/v1/shop/list/\(path)"
                let fields: HTTPFields = [.ifMatch: "\"\(revision)\", \"99\"", .ifNoneMatch: "\"1\""]
                let done = try await app.ask(method, target, as: nil, fields, json: body)
                #expect(done.status == 200 || done.status == 201, "\(method) \(path): \(done.text)")
            }
            #expect(try await app.get("/v1/shop/list").listed == [])
        }
    }

    @Test("ONE-04 a list takes a thousand products and says so, in the results and on the card as well")
    func full() async throws {
        try await ShopHarness.run { (app) async throws in
            try await app.fillList(1001...1999)
            let room = try await app.get("/v1/shop/products/1")
            #expect(room["data.button.enabled"] == true && room["data.actions.0.disabled_reason"] == nil)
            try await app.fillList(2000...2000)
            for target in ["search", "products/1"] {
                let shown = try await app.get("/v1/shop/\(target)")
                let action = shown["data.items"] == nil ? "data.actions.0" : "data.items.0.actions.0"
                #expect(shown["\(action).id"] == "add" && shown["\(action).enabled"] == false, "\(target)")
                #expect(shown["\(action).disabled_reason"] == "В корзине уже 1000 товаров, больше не поместится.")
            }
            let refused = try await app.add(1)
            refused.expectProblem("validation-failed", 422)
            #expect(refused["errors.0.code"] == "list-full")
            #expect(try await app.wholeList() == Array(1001...2000))
        }
    }
}

@Suite("Pages of the shopping list")
struct ListPageTests {
    @Test("SHOP-13 the list is read in pages; totals are those of all lines")
    func pages() async throws {
        try await ShopHarness.run { (app) async throws in
            try await app.fillList(1001...1250)
            let first = try await app.get("/v1/shop/list")
            #expect(first.listed == Array(1001...1100) && first["meta.page.total"] == 250 && first["data.item"] == nil)
            #expect(first["data.totals.items"] == 250 && first["data.totals.price_text"] == "Сумма: 375$")
            #expect(first["meta.page.has_more"] == true && first["meta.state"] == "content")
            #expect(try await app.wholeList() == Array(1001...1250))
            let last = try await app.get("/v1/shop/list?limit=10&offset=245")
            #expect(last.listed == Array(1246...1250) && last["links.next"] == .null)
            let beyond = try await app.get("/v1/shop/list?offset=250")
            #expect(beyond.listed == [] && beyond["meta.state"] == "content" && beyond["meta.page.has_more"] == false)
            for query in ["limit=0", "limit=101", "offset=-1", "cursor=x", "cursor=", "limit=1&limit=2"] {
                try await app.get("/v1/shop/list?\(query)").expectProblem("invalid-parameter", 400)
            }
        }
    }

    @Test("SHOP-13 a line that is added or removed between two pages neither repeats nor hides another one")
    func moving() async throws {
        try await ShopHarness.run { (app) async throws in
            try await app.fillList(1001...1010)
            let first = try await app.get("/v1/shop/list?limit=4")
            _ = try await app.ask(.delete, "/v1/shop/list/items/1002")
            try await app.add(1)
            let second = try await app.get(try first.string("links.next"))
            #expect(second.listed == [1005, 1006, 1007, 1008])
            #expect(try await app.get(try second.string("links.next")).listed == [1009, 1010, 1])
        }
    }

    @Test("a write of a long list responds with the page that it names, the line that it changed, and all totals")
    func writes() async throws {
        try await ShopHarness.run { (app) async throws in
            try await app.fillList(1001...1900)
            let added = try await app.add(4, quantity: 2)
            #expect(added.status == 201 && added.listed == Array(1001...1100))
            #expect(added["data.item.product_id"] == 4 && added["data.item.quantity"] == 2)
            #expect(added["data.totals.items"] == 902 && added["meta.page.total"] == 901)
            #expect(try added.string("links.self") == "/v1/shop/list")
            let next = try await app.get(try added.string("links.next"))
            #expect(next.listed == Array(1101...1200))
            let patch = "/v1/shop/list/items/1500?limit=1"
            let changed = try await app.ask(.patch, patch, json: #"{"quantity":3}"#)
            #expect(changed.listed == [1001] && changed["data.item.item_id"] == "1500")
            #expect(changed["data.item.line_total"] == 4.5 && changed["data.totals.items"] == 904)
            #expect(try changed.string("links.self") == "/v1/shop/list?limit=1")
            let removed = try await app.ask(.delete, "/v1/shop/list/items/1500?limit=2&offset=499")
            #expect(removed.listed == [1501, 1502])
            #expect(removed["data.item"] == .null && removed["data.totals.items"] == 901)
            // A write with a wrong page in its query is refused and changes nothing.
            let refused = try await app.ask(.delete, "/v1/shop/list/items/1501?limit=0")
            refused.expectProblem("invalid-parameter", 400)
            try await app.ask(.delete, "/v1/shop/list?cursor=x").expectProblem("invalid-parameter", 400)
            #expect(try await app.wholeList().count == 900)
            let cleared = try await app.ask(.delete, "/v1/shop/list?limit=5")
            #expect(cleared["meta.state"] == "empty" && cleared["data.totals.items"] == 0)
        }
    }

    @Test("sixteen clients at once: each response has the totals of its own state, and no line is lost")
    func atOnce() async throws {
        try await ShopHarness.run { (app) async throws in
            let revisions = try await (1...16).concurrentMap { id in
                let added = try await app.add(id, quantity: 1)
                return (added.integer("meta.revision"), added.integer("data.totals.items"))
            }
            #expect(revisions.allSatisfy { $0 == $1 } && Set(revisions.map(\.0)) == Set(1...16))
            #expect(Set(try await app.wholeList()) == Set(1...16))
        }
    }
}

extension ShopHarness {
    /// Puts lines on the list, one piece for 1.5 each.
    fileprivate func fillList(_ ids: ClosedRange<Int>) async throws {
        try await database.write { db in
            for id in ids {
                try db.execute(
                    sql: """
                        INSERT INTO shop_list_item
                            (profile, product_id, quantity, position, title, description, price, images)
                        VALUES ('local', ?, 1, ?, 'A', '', '1.5', '[]')
                        """,
                    arguments: [id, id]
                )
            }
        }
    }

    /// The product ids of all lines, from all pages.
    fileprivate func wholeList() async throws -> [Int] {
        var ids: [Int] = []
        var target: String? = "/v1/shop/list"
        while let here = target {
            let page = try await get(here)
            ids += page.listed
            target = page["links.next"] == .null ? nil : try page.string("links.next")
        }
        return ids
    }
}

extension Exchanged {
    /// The whole number at a path; -1 if there is none.
    fileprivate func integer(_ path: String) -> Int {
        if case .number(let number) = self[path] { Int(number) } else { -1 }
    }
}

@Suite("When the upstream is reset")
struct ReseedTests {
    @Test("the list keeps its product and says that the id is another product's; another price is the same product")
    func replaced() async throws {
        try await ShopHarness.run { (app) async throws in
            try await app.add(10, quantity: 2)
            try await app.add(20)
            try app.control(.put, "products/20", #"{"price":28.5}"#)
            _ = try await app.get("/v1/shop/products/20?refresh=1")
            #expect(try await app.get("/v1/shop/list")["data.items.1.price"] == 28.5)
            try app.control(.put, "reseeded", #"{"shift":7}"#)
            // Product 10 is now the former product 3.
            let card = try await app.get("/v1/shop/products/10?refresh=1")
            #expect(card["data.title"] == "Charcoal Rain Jacket" && card["data.cart.in_list"] == false)
            var list = try await app.get("/v1/shop/list")
            #expect(
                list["data.items.0.title"] == "Navy Baseball Cap" && list["data.items.0.price"] == 12
                    && list["data.items.0.line_total"] == 24
            )
            #expect(list["data.items.0.available"] == false && list["data.items.0.difference"] == "replaced")
            #expect(list["data.items.0.image_url"] == "/v1/shop/list/items/10/image")
            #expect(list["data.items.0.href"] == .null)
            #expect(list["data.totals.price"] == 52.5 && list["data.items.1.available"] == true)
            let own = try await app.get("/v1/shop/list/items/10/image")
            #expect(
                own.headerFields[.contentType] == "image/png"
                    && own.headerFields[.cacheControl] == "private, no-cache"
            )
            #expect(
                own.body
                    == Data(
                        app.catalogue.respond(
                            to: .init(method: .get, path: ["images", "navy-baseball-cap-1.png"], origin: "")
                        ).body
                    )
            )
            try await app.get("/v1/shop/list/items/11/image").expectProblem("not-found", 404)
            // Back under its old id, it is sold again.
            app.catalogue.reset()
            _ = try await app.get("/v1/shop/products/10?refresh=1")
            list = try await app.get("/v1/shop/list")
            #expect(list["data.items.0.available"] == true && list["data.items.0.difference"] == .null)
        }
    }

    @Test("SHOP-19 the new product of an old id is added beside the old one, and both are distinguished")
    func told() async throws {
        try await ShopHarness.run { (app) async throws in
            try await app.add(10, quantity: 2)
            try app.control(.put, "reseeded", #"{"shift":7}"#)
            // Product 10 is now the former product 3.
            let before = try await app.get("/v1/shop/products/10?refresh=1")
            #expect(before["data.button.id"] == "add" && before["data.actions.0.id"] == "add")
            let row = try await app.get("/v1/shop/search?q=charcoal")
            #expect(row["data.items.0.id"] == 10 && row["data.items.0.cart.in_list"] == false)
            let added = try await app.add(10, quantity: 5)
            #expect(added.status == 201 && added["data.already_in_list"] == false)
            #expect(added.headerFields[.location] == "/v1/shop/list/items/10-2")
            #expect(added.all("item_id", in: "data.items") == ["10", "10-2"] && added.listed == [10, 10])
            #expect(added.all("title", in: "data.items") == ["Navy Baseball Cap", "Charcoal Rain Jacket"])
            #expect(added.all("difference", in: "data.items") == ["replaced", .null])
            #expect(try await app.add(10)["data.already_in_list"] == true)
            let card = try await app.get("/v1/shop/products/10")
            #expect(card["data.cart.quantity"] == 5 && card["data.actions.0.href"] == "/v1/shop/list/items/10-2")
            #expect(try await app.get("/v1/shop/search?q=charcoal")["data.items.0.cart.quantity"] == 5)
            // Each line is changed, ordered, shared and removed by itself.
            let changed = try await app.ask(.patch, "/v1/shop/list/items/10-2", json: #"{"quantity":6}"#)
            #expect(changed.all("quantity", in: "data.items") == [2, 6])
            let order = #"{"item_ids":["10-2","10"]}"#
            let ordered = try await app.ask(.put, "/v1/shop/list/order", json: order)
            #expect(ordered.all("item_id", in: "data.items") == ["10-2", "10"])
            try await app.ask(.put, "/v1/shop/list/order", json: #"{"product_ids":[10,10]}"#)
                .expectProblem("validation-failed", 422)
            let text = try await app.get("/v1/shop/list/items/10/share", as: nil, [.accept: "text/plain"]).text
            #expect(text == "Название: Navy Baseball Cap\nЦена: 12$\nКоличество: 2")
            let own = try await app.get("/v1/shop/list/items/10/image")
            #expect(own.body != (try await app.get("/v1/shop/list/items/10-2/image")).body)
            #expect(try await app.ask(.delete, "/v1/shop/list/items/10").all("item_id", in: "data.items") == ["10-2"])
            for id in ["10", "10-1", "10-3", "010", "10-", "-2", "10-2-2", "99999999999999999999"] {
                try await app.ask(.delete, "/v1/shop/list/items/\(id)").expectProblem("not-found", 404)
            }
        }
    }

    @Test("SHOP-12 a removed product stays on the list, marked; it can be added again there, but to no other list")
    func gone() async throws {
        try await ShopHarness.run { (app) async throws in
            try await app.add(3)
            _ = try await app.get("/v1/shop/products/5")
            for id in [3, 5] {
                try app.control(.delete, "products/\(id)")
                try await app.get("/v1/shop/products/\(id)?refresh=1").expectProblem("not-found", 404)
            }
            let list = try await app.get("/v1/shop/list")
            #expect(
                list["data.items.0.available"] == false && list["data.items.0.difference"] == "gone"
                    && list["data.items.0.title"] == "Charcoal Rain Jacket"
            )
            #expect(list["data.items.0.image_url"] == "/v1/shop/images/3/0")
            try await app.add(5).expectProblem("not-found", 404)
            try await app.add(3333).expectProblem("not-found", 404)
            // A product that is already on the list stays there, and the upstream is not asked.
            app.transport.goAway()
            let count = app.transport.requests.count
            let again = try await app.add(3, quantity: 4)
            #expect(again.status == 200 && again["data.already_in_list"] == true && again["data.items.0.quantity"] == 1)
            #expect(app.transport.requests.count == count)
        }
    }
}

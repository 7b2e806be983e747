import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Screens
import TestKit
import Testing
import Upstream

@testable import Shop

@Suite("Search over HTTP")
struct SearchTests {
    @Test("SHOP-01 text: what contains it, whatever the case, Cyrillic included, and nothing else")
    func text() async throws {
        try await ShopHarness.run { (app) async throws in
            for q in ["hoodie", "HOODIE", "%20HoOdIe%20"] {
                #expect(try await app.get("/v1/shop/search?q=\(q)").ids == [2])
            }
            for q in ["лампа", "ЛАМПА", "Лампа"] {
                #expect(try await app.get("/v1/shop/search?q=\(encoded(q))").ids == [19, 20], "\(q)")
            }
            for q in ["étoile", "ÉTOILE", "E\u{301}toile"] {
                #expect(try await app.get("/v1/shop/search?q=\(encoded(q))").ids == [48], "\(q)")
            }
            #expect(try await app.get("/v1/shop/search?q=\(encoded("куртка ЗИМНЯЯ arctic"))").ids == [6])
            #expect(try await app.get("/v1/shop/search?q=\(encoded("🐈"))").ids == [59])
        }
    }

    @Test("SHOP-01 the upstream's wildcards are ordinary characters")
    func wildcards() async throws {
        try await ShopHarness.run { (app) async throws in
            #expect(try await app.get("/v1/shop/search?q=%25&limit=100").ids == [5, 9, 16, 50, 62])
            #expect(try await app.get("/v1/shop/search?q=_&limit=100").ids == [12, 17, 47, 62])
            #expect(try await app.get("/v1/shop/search?q=100%25").ids == [5, 50, 62])
            #expect(try await app.get("/v1/shop/search?q=a%25e").ids == [])
            #expect(try await app.get("/v1/shop/search?q=%22").ids == [8, 21, 35, 63])
            #expect(try await app.get("/v1/shop/search?q=%27").ids == [14, 36, 37, 66])
        }
    }

    private static let whole = "/v1/shop/search?q=shirt&category_id=1&price_min=10&price_max=90"

    @Test("one whole response: fields and texts of its items")
    func items() async throws {
        try await ShopHarness.run { (app) async throws in
            let response = try await app.get(Self.whole)
            #expect(response.status == 200)
            #expect(response.ids == [1, 8])
            #expect(
                response.names(in: "data.items.0")
                    == [
                        "id", "title", "price", "currency", "price_text", "description", "description_text",
                        "category", "image_url", "layout", "cart", "href", "actions",
                    ]
            )
            #expect(
                response["data.items.0.price"] == 24 && response["data.items.0.price_text"] == "24$"
                    && response["data.items.0.currency"] == "USD"
            )
            #expect(
                response["data.items.0.image_url"] == "/v1/shop/images/1/0"
                    && response["data.items.0.href"] == "/v1/shop/products/1"
            )
            #expect(response["data.items.0.cart.in_list"] == false && response["data.items.0.cart.quantity"] == 0)
            #expect(!response.text.contains("https://"))
        }
    }

    @Test("one whole response: query, meta, links, header, and the request for it")
    func whole() async throws {
        try await ShopHarness.run { (app) async throws in
            let response = try await app.get(Self.whole)
            #expect(response.status == 200)
            let varying = "Authorization, Cookie, Accept-Language, Accept-Encoding, Larder-Profile"
            #expect(response.headerFields[.vary] == varying)
            #expect(response.headerFields[.cacheControl] == "private, no-cache")
            #expect(response.cacheStatus == "larder; fwd=uri-miss; stored" && response.age == "0")
            #expect(
                response["data.query.q"] == "shirt" && response["data.query.category_id"] == 1
                    && response["data.query.price"] == .null
            )
            #expect(response["data.query.price_min"] == 10 && response["data.query.price_max"] == 90)
            #expect(
                response["meta.screen"] == "shop.search" && response["meta.state"] == "content"
                    && response["meta.source"] == "upstream"
            )
            #expect(response["meta.partial"] == nil && response["meta.banner"] == .null)
            #expect(
                response["meta.page.has_more"] == false && response["meta.page.next_offset"] == .null
                    && response["links.next"] == .null
            )
            #expect(app.asked == ["/products?offset=0&limit=11&title=shirt&price_min=10&price_max=90&categoryId=1"])
            #expect(try await app.get(Self.whole).cacheStatus == "larder; hit; ttl=30")
        }
    }

    @Test("SHOP-03 the layout follows the category, as configured by id or name")
    func layout() async throws {
        try await ShopHarness.run { (app) async throws in
            #expect(
                try await app.get("/v1/shop/search?category_id=1").all("layout", in: "data.items").allSatisfy {
                    $0 == "wide"
                }
            )
            #expect(
                try await app.get("/v1/shop/search?category_id=3").all("layout", in: "data.items").allSatisfy {
                    $0 == "tile"
                }
            )
        }
        try await ShopHarness.run(settings: .standard.with(ShopApp.wideCategories, ["FURNITURE"])) {
            (app) async throws in
            #expect(
                try await app.get("/v1/shop/search?category_id=1").all("layout", in: "data.items").allSatisfy {
                    $0 == "tile"
                }
            )
            #expect(
                try await app.get("/v1/shop/search?category_id=3").all("layout", in: "data.items").allSatisfy {
                    $0 == "wide"
                }
            )
            #expect(try await app.get("/v1/shop/products/27")["data.layout"] == "wide")
        }
    }

    @Test(
        "SHOP-04 pages do not overlap, miss nothing, keep text and filters, and the last one says so",
        arguments: [
            "", "q=e", "q=\(encoded("а"))", "price_max=60", "q=%25", "category_id=2&price_min=20", "q=_&price_min=0",
            "price_min=0&price_max=40",
        ]
    )
    func pages(query: String) async throws {
        try await ShopHarness.run { (app) async throws in
            let whole = try await app.get("/v1/shop/search?limit=100&\(query)")
            #expect(whole["meta.page.has_more"] == false && !whole.ids.isEmpty)
            for limit in [1, 3, 10] {
                var target = "/v1/shop/search?limit=\(limit)&\(query)"
                var ids: [Int] = []
                for page in 0..<100 {
                    let response = try await app.get(target)
                    #expect(response["meta.page.offset"] == (page == 0 ? 0 : .null))
                    let same = try await app.get("/v1/shop/search?limit=\(limit)&\(query)&offset=\(page * limit)")
                    #expect(same.ids == response.ids && same["meta.page.offset"] == .number(Double(page * limit)))
                    #expect(response["data.query"] == whole["data.query"])
                    ids += response.ids
                    guard case .string(let next) = response["links.next"] else {
                        #expect(response["meta.page.has_more"] == false)
                        break
                    }
                    #expect(response["meta.page.has_more"] == true && response.ids.count == limit)
                    target = next
                }
                #expect(ids == whole.ids, "limit \(limit)")
            }
        }
    }

    @Test(
        "SHOP-04 a cursor continues where its page ended, with any limit, and is no cursor of another search",
        arguments: ["price_min=0&price_max=100", "category_id=1"]
    )
    func cursor(query: String) async throws {
        try await ShopHarness.run { (app) async throws in
            let whole = try await app.get("/v1/shop/search?limit=100&\(query)").ids
            var (ids, limit, target) = ([Int](), 1, String?.some("/v1/shop/search?limit=1&\(query)"))
            while let path = target {
                let page = try await app.get(path)
                #expect(page.status == 200, "\(page.text)")
                ids += page.ids
                target = nil
                if case .string(let next) = page["links.next"] {
                    target = next.replacing("limit=\(limit)&", with: "limit=\(limit + 1)&")
                    limit += 1
                }
            }
            #expect(ids == whole && limit > 2)
            guard case .string(let next) = try await app.get("/v1/shop/search?limit=1&\(query)")["links.next"]
            else { return #expect(Bool(false), "no next page") }
            for other in ["&q=e", "&offset=1"] {
                try await app.get(next + other).expectProblem("invalid-parameter", 400)
            }
        }
    }

    @Test("SHOP-04 a forged cursor begins elsewhere, and moves no page of other clients")
    func forgedCursor() async throws {
        try await ShopHarness.run { (app) async throws in
            let query = "price_min=0&price_max=100"
            let known = try SearchQuery(QueryItems(query))
            for values: [Int64] in [[2, 40, 2, -1], [-5, 9, 7, -1], [.max, .max, .max, .max], [1, .min, 0, 3]] {
                let cursor = SearchStart.list(of: known).cursor(after: values.map { .integer($0) })
                let page = try await app.get("/v1/shop/search?\(query)&limit=2&cursor=\(cursor)")
                #expect(page.status == 200, "\(page.text)")
            }
            let all = try await app.get("/v1/shop/search?\(query)&limit=100").ids
            for offset in [0, 2, 4, 6] {
                let page = try await app.get("/v1/shop/search?\(query)&limit=2&offset=\(offset)").ids
                #expect(page == Array(all.dropFirst(offset).prefix(2)), "\(offset)")
            }
        }
    }

    @Test("SHOP-16 without the upstream a cursor still works, and products that appear or vanish shift no others")
    func offlineCursor() async throws {
        try await ShopHarness.run { (app) async throws in
            let all = try await app.get("/v1/shop/search?limit=100").ids
            try await app.goOffline()
            let first = try await app.get("/v1/shop/search?q=e&limit=3")
            #expect(first["meta.partial"] == true && first.ids.count == 3)
            guard case .string(let next) = first["links.next"] else { return #expect(Bool(false), "no next page") }
            let before = try await app.get(next).ids
            try await app.store.markGone(first.ids[0], at: .distantPast)
            let after = try await app.get(next)
            #expect(after.ids == before && after["meta.page.offset"] == .null && Set(all).isSuperset(of: before))
            let offset = try await app.get("/v1/shop/search?q=e&limit=3&offset=3").ids
            #expect(offset == Array((before + [0]).dropFirst().prefix(2)) + offset.suffix(1), "offsets have moved")
        }
    }

    @Test("SHOP-04 a page is the same without the pages before it; ten rows by default; a page past the end is empty")
    func jump() async throws {
        try await ShopHarness.run { (app) async throws in
            #expect(try await app.get("/v1/shop/search").ids == Array(1...10))
            #expect(try await app.get("/v1/shop/search?offset=60").ids == Array(61...67))
            let all = try await app.get("/v1/shop/search?q=\(encoded("а"))&limit=100").ids
            #expect(
                try await app.get("/v1/shop/search?q=\(encoded("а"))&limit=4&offset=8").ids
                    == Array(all.dropFirst(8).prefix(4))
            )
            let beyond = try await app.get("/v1/shop/search?offset=5000")
            #expect(beyond.status == 200 && beyond.ids == [] && beyond["meta.page.has_more"] == false)
        }
    }

    @Test(
        "SHOP-04 past the end is nothing, however far, and not the view of a search that found nothing",
        arguments: ["", "&q=a", "&q=%D0%B0", "&price_max=100"],
        [67, 5000, 1_000_000_000_000_000_000, Int.max]
    )
    func far(query: String, offset: Int) async throws {
        try await ShopHarness.run { (app) async throws in
            let beyond = try await app.get("/v1/shop/search?limit=100&offset=\(offset)\(query)")
            #expect(
                beyond.status == 200 && beyond.ids == [] && beyond["meta.page.has_more"] == false
                    && beyond["links.next"] == .null
            )
            #expect(beyond["meta.page.offset"] == .number(Double(offset)) && beyond["meta.state"] == "content")
            #expect(beyond["data.empty"] == nil && beyond["data.actions"] == nil)
        }
    }

    @Test("SHOP-04 a jump beyond what one page may examine continues from there, and ends")
    func longJump() async throws {
        try await ShopHarness.run { (app) async throws in
            try app.control(.put, "generated", #"{"count":6000,"seed":1}"#)
            // The upstream gets it unchanged; the other one is sorted out here.
            let expected = try await app.get("/v1/shop/search?price_min=0&limit=5&offset=5500").ids
            let jump = try await app.get("/v1/shop/search?price_max=1000000&limit=5&offset=5500")
            #expect(
                jump.ids == [] && jump["meta.page.has_more"] == true && jump["meta.page.next_offset"] == 5500
                    && jump["meta.state"] == "content"
            )
            #expect(jump["data.empty"] == nil)
            guard case .string(let next) = jump["links.next"] else { return #expect(Bool(false), "no way on") }
            let page = try await app.get(next)
            #expect(page.ids == expected && expected.count == 5 && page["meta.page.next_offset"] == .null)
            guard case .string(let further) = page["links.next"] else { return #expect(Bool(false), "no way on") }
            let behind = try await app.get("/v1/shop/search?price_min=0&limit=5&offset=5505").ids
            #expect(try await app.get(further).ids == behind && behind.count == 5)
            #expect(
                try await app.get("/v1/shop/search?price_max=1000000&limit=5").ids
                    == app.get("/v1/shop/search?limit=5").ids
            )
            #expect(
                try await app.get("/v1/shop/search?price_max=1000000&limit=100&offset=\(Int.max)")["meta.page.has_more"]
                    == true
            )
            let end = try await app.get("/v1/shop/search?price_max=1000000&limit=100&offset=\(Int.max)")
            #expect(end.ids == [] && end["meta.page.has_more"] == false)
        }
    }

    @Test("rows that are filtered here are requested once: pages share the upstream's parts")
    func parts() async throws {
        try await ShopHarness.run { (app) async throws in
            for offset in [0, 3, 6] { _ = try await app.get("/v1/shop/search?price_max=60&limit=3&offset=\(offset)") }
            #expect(app.asked == ["/products?offset=0&limit=200"])
        }
    }

    @Test("SHOP-05 the category filter, and the categories of the API with their layout")
    func categories() async throws {
        try await ShopHarness.run { (app) async throws in
            #expect(try await app.get("/v1/shop/search?category_id=4&limit=100").ids == Array(40...52))
            #expect(try await app.get("/v1/shop/search?category_id=99")["meta.state"] == "empty")
            try app.control(.put, "categories/5", #"{"name":"asdfvgbhnj"}"#)
            let response = try await app.get("/v1/shop/categories")
            response.expectScreen("shop.categories", language: "ru")
            #expect(response.all("id", in: "data.items") == [1, 2, 3, 4, 5])
            #expect(
                response["data.items.4.name"] == "asdfvgbhnj" && response["data.items.0.layout"] == "wide"
                    && response["data.items.2.layout"] == "tile"
            )
            #expect(response["data.items.2.href"] == "/v1/shop/search?category_id=3")
            #expect(response["meta.page.total"] == 5 && response["links.next"] == .null)
            let first = try await app.get("/v1/shop/categories?limit=2&offset=1")
            guard case .string(let next) = first["links.next"] else { return #expect(Bool(false), "no next page") }
            #expect(first.all("id", in: "data.items") == [2, 3] && first["meta.page.next_offset"] == 3)
            let last = try await app.get(next)
            #expect(last.all("id", in: "data.items") == [4, 5] && last["links.next"] == .null)
            #expect(last["meta.page.offset"] == .null && last["meta.state"] == "content")
            #expect(try await app.get("/v1/shop/categories?offset=9")["data.items"] == [])
            #expect(try await app.get("/v1/shop/categories").cacheStatus == "larder; hit; ttl=3600")
        }
    }

    @Test(
        "SHOP-06 prices mean what people mean, although the upstream drops half of them",
        arguments: [
            ("price_min=300", [21, 28, 29, 35, 36, 38]), ("price_max=5", [58, 59, 62]), ("price_max=0", [58]),
            ("price_min=0&price_max=0.5", [58, 59]),
            ("price=0", [58]), ("price=9.99", [12]), ("price=0.50", [59]), ("price_min=5&price_max=7", [55, 62, 66]),
            ("price_min=0&price=", Array(1...10)),
            ("q=a&price_max=8", [58, 59, 62]), ("category_id=5&price_max=6", [55, 58, 59, 62]),
            ("price=59&q=grey&category_id=1", [2]),
            ("category_id=1&price=45", []), ("price_min=899&price_max=899", [28]),
        ]
    )
    func prices(query: String, expected: [Int]) async throws {
        try await ShopHarness.run { (app) async throws in
            #expect(try await app.get("/v1/shop/search?\(query)").ids == expected)
        }
    }

    @Test("SHOP-06 only a minimum: no price is too high for it")
    func minimum() async throws {
        try await ShopHarness.run { (app) async throws in
            try app.control(.put, "products/900", #"{"title":"Moon","price":20000000000000000}"#)
            #expect(try await app.get("/v1/shop/search?price_min=10000000000000000").ids == [900])
            #expect(try await app.get("/v1/shop/search?price_min=10000").ids == [900])
        }
    }

    @Test(
        "SHOP-07 what makes no sense is a problem that names the parameter",
        arguments: [
            ("price_min=10&price_max=9", "price_min"), ("price_min=-1", "price_min"), ("price_max=x", "price_max"),
            ("price=1e3", "price"),
            ("price=1,5", "price"),
            ("price=5&price_min=1", "price"), ("price=5&price_max=9", "price"), ("category_id=x", "category_id"),
            ("category_id=0", "category_id"),
            ("category_id=-3", "category_id"), ("q=a%00b", "q"), ("q=%02", "q"),
            ("q=\(String(repeating: "x", count: 5000))", "q"), ("q=a&q=b", "q"),
            ("limit=0", "limit"), ("limit=101", "limit"), ("offset=-1", "offset"), ("saved=1&q=a", "q"),
            ("saved=maybe", "saved"), ("price=.", "price"),
            ("price=99999999999999999999999999999999999999999999", "price"), ("refresh=maybe", "refresh"),
        ]
    )
    func senseless(query: String, parameter: String) async throws {
        try await ShopHarness.run { (app) async throws in
            let response = try await app.get("/v1/shop/search?\(query)")
            response.expectProblem("invalid-parameter", 400)
            #expect(response["errors.0.parameter"] == .string(parameter))
            #expect(app.transport.requests.isEmpty)
            #expect(try await app.get("/v1/shop/history")["meta.state"] == "empty")
        }
    }

    @Test("a text of two hundred characters is looked for; what is no UTF-8 is refused, and is not remembered")
    func odd() async throws {
        try await ShopHarness.run { (app) async throws in
            #expect(
                try await app.get("/v1/shop/search?q=\(String(repeating: "x", count: 200))")["meta.state"] == "empty"
            )
            let history = try await app.get("/v1/shop/history").body
            try await app.get("/v1/shop/search?q=%FF").expectProblem("malformed-request", 400)
            #expect(try await app.get("/v1/shop/history").body == history)
        }
    }

    @Test("SHOP-08 nothing found: an empty state with the app's message and a retry that leads back")
    func nothing() async throws {
        try await ShopHarness.run { (app) async throws in
            let response = try await app.get("/v1/shop/search?q=zzz&price_min=3")
            #expect(response.status == 200 && response["meta.state"] == "empty" && response.ids == [])
            #expect(response["data.empty.title"] == "Извините, таких товаров пока нет :(")
            #expect(response["data.actions.0.id"] == "retry" && response["data.actions.0.method"] == "GET")
            guard case .string(let href) = response["data.actions.0.href"] else {
                return #expect(Bool(false), "no way to retry")
            }
            try app.control(.put, "products/900", #"{"title":"Zzz top","price":4}"#)
            #expect(try await app.get(href).ids == [900])
        }
    }

    @Test("SHOP-22 the last page of a search has the total; others, partial ones and those past the end have none")
    func total() async throws {
        try await ShopHarness.run { (app) async throws in
            let whole = try await app.get("/v1/shop/search?q=mug")
            #expect(whole["meta.page.total"] == .number(Double(whole.ids.count)) && whole["links.next"] == .null)
            #expect(try await app.get("/v1/shop/search?limit=3")["meta.page.total"] == .null)
            #expect(try await app.get("/v1/shop/search?q=mug&offset=50")["meta.page.total"] == .null)
            #expect(try await app.get("/v1/shop/search?q=qqqq")["meta.page.total"] == 0)
            app.transport.goAway()
            let part = try await app.get("/v1/shop/search?q=cap&refresh=1")
            #expect(part["meta.partial"] != true || part["meta.page.total"] == .null)
        }
    }

    @Test("SHOP-08 ONE-10 a failure with nothing stored is a retryable problem in the user's words; a retry succeeds")
    func failure() async throws {
        try await ShopHarness.run { (app) async throws in
            app.transport.goAway()
            let response = try await app.get("/v1/shop/search?q=mug")
            response.expectProblem("upstream-unavailable", 503)
            #expect(response["retryable"] == true && response["offline"] == true)
            #expect(response["title"] == "Сервис сейчас не работает" && response["dialog.title"] == "Ошибка")
            #expect(
                response["dialog.message"] == "Связи с сервисом сейчас нет, а на этом сервере нет копии."
                    && response["dialog.buttons.0"] == "ОК"
            )
            app.respondAgain()
            app.clock.advance(by: .seconds(2))
            #expect(try await app.get("/v1/shop/search?q=mug").ids == [53])
        }
        try await ShopHarness.run { (app) async throws in
            app.transport.always { (_) throws(UpstreamError) in .json("oops", status: .internalServerError) }
            let response = try await app.get("/v1/shop/search")
            response.expectProblem("upstream-unavailable", 503)
            #expect(response["offline"] == false && response["dialog.message"] == "Сервис сейчас не работает.")
            app.transport.always { (_) throws(UpstreamError) in
                .json(#"{"message":["x"],"error":"Bad Request","statusCode":400}"#, status: .badRequest)
            }
            try await app.get("/v1/shop/search").expectProblem("upstream-bad-response", 502)
            app.transport.always { (_) throws(UpstreamError) in .json(#"{"products":[]}"#) }
            try await app.get("/v1/shop/search").expectProblem("upstream-bad-response", 502)
        }
    }
}

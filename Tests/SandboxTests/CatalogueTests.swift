import HTTPTypes
import JSONValues
import Testing

@testable import Sandbox

@Suite struct CatalogueTests {
    private let catalogue: CatalogueCaller

    init() throws { catalogue = try CatalogueCaller() }

    @Test("more than sixty products in five categories, keys in the order in which they are sent")
    func list() throws {
        let products = try catalogue.products("/products")
        #expect(products.count >= 60)
        #expect(
            products.allSatisfy {
                $0.members.map(\.name) == [
                    "id", "title", "slug", "price", "description", "category", "images", "creationAt", "updatedAt",
                ]
            }
        )
        #expect(Set(products.compactMap { $0["category"]?.object?["id"]?.double }) == [1, 2, 3, 4, 5])
        #expect(try catalogue.products("/categories").count == 5)
        #expect(try catalogue.products("/categories?limit=2").count == 2)
        #expect(Set(products.compactMap { $0["slug"]?.string }).count == products.count)
        let response = catalogue.response(.get, "/products/1")
        #expect(response.headers[.eTag]?.hasPrefix("W/\"") == true && response.headers[.cacheControl] == nil)
        #expect(
            catalogue.response(.get, "/products/1", headers: [.ifNoneMatch: response.headers[.eTag] ?? ""]).status
                == .notModified
        )
    }

    @Test(
        "limit and offset count only together, and only where they make sense",
        arguments: [
            "?limit=10", "?offset=10", "?limit=0&offset=0", "?limit=-1&offset=0", "?limit=10&offset=-1",
            "?limit=x&offset=0",
        ]
    )
    func window(query: String) throws {
        #expect(try catalogue.ids(query) == catalogue.ids(""))
        #expect(try catalogue.ids("?offset=10&limit=3") == [11, 12, 13])
        #expect(try catalogue.ids("?offset=1000&limit=3") == [])
    }

    @Test("the title is a LIKE pattern: wildcards work, and case is folded for ASCII only")
    func title() throws {
        #expect(try catalogue.ids("?title=ENAMEL") == [53])
        #expect(try catalogue.ids("?title=%D0%9B%D0%90%D0%9C%D0%9F%D0%90") == [])
        #expect(try catalogue.ids("?title=%D0%9B%D0%B0%D0%BC%D0%BF%D0%B0") == [19])
        #expect(try catalogue.ids("?title=%25") == catalogue.ids(""))
        #expect(try catalogue.ids("?title=tote_bag") == [62])
        #expect(try catalogue.ids("?title=7_") == [16])
    }

    @Test("the range is dropped unless both bounds are there and not zero, and so is a price beside it")
    func prices() throws {
        let all = try catalogue.ids("")
        for query in [
            "?price_min=100", "?price_max=100", "?price_min=0&price_max=100", "?price_min=1&price_max=0",
            "?price=24&price_min=1", "?price=0",
        ] {
            #expect(try catalogue.ids(query) == all, "\(query)")
        }
        #expect(try catalogue.ids("?price_min=5&price_max=7") == [55, 62, 66])
        #expect(try catalogue.ids("?price=9.99") == [12])
        #expect(try catalogue.ids("?price=24&price_min=5&price_max=7") == all)
        #expect(try catalogue.ids("?price_min=5&price_max=x") == all)
    }

    @Test("an unknown category is an empty list, the slug wins over the id, and its own list knows no filters")
    func categories() throws {
        #expect(try catalogue.ids("?categoryId=99") == [])
        #expect(try catalogue.ids("?categoryId=2&offset=0&limit=1") == [14])
        #expect(try catalogue.ids("?categoryId=2&categorySlug=shoes&offset=0&limit=1") == [40])
        #expect(try catalogue.products("/categories/2/products?title=zzz").count == 13)
        #expect(try catalogue.products("/categories/2/products?offset=12&limit=5").count == 1)
        #expect(try catalogue.products("/products/1/related").count == 12)
    }

    @Test("what was stored as the text of an array falls apart at its commas; an empty column is an empty array")
    func images() throws {
        let torn = try #require(try catalogue.json("/products/7").object?["images"]?.array).compactMap(\.string)
        #expect(torn.count == 3 && torn[0].hasPrefix("[\"http://127.0.0.1:4711/") && torn[2].hasSuffix("\"]"))
        #expect(try catalogue.json("/products/39").object?["images"]?.array == [])
        #expect(try catalogue.json("/products/38").object?["images"]?.array?.count == 2)
    }

    @Test("every picture of the data leads where its kind says")
    func pictures() throws {
        var kinds: [String: Int] = [:]
        let prefix = CatalogueCaller.origin + "/catalogue"
        for product in try catalogue.products("/products") {
            for image in product["images"]?.array?.compactMap(\.string) ?? [] where image.hasPrefix(prefix) {
                let response = catalogue.response(.get, String(image.dropFirst(prefix.count)))
                kinds["\(response.status.code) \(response.headers[.contentType] ?? "")", default: 0] += 1
            }
        }
        #expect(
            kinds["200 text/html; charset=utf-8"] == 1 && kinds["404 text/plain; charset=utf-8"] == 1
                && kinds["302 text/plain; charset=utf-8"] == 3
        )
        #expect((kinds["200 image/png"] ?? 0) > 100)
        #expect(
            try CatalogueCaller(seed: 2).response(.get, "/images/a.png").body
                != catalogue.response(.get, "/images/a.png").body
        )
    }
}

@Suite struct CatalogueErrorTests {
    private let catalogue: CatalogueCaller

    init() throws { catalogue = try CatalogueCaller() }

    @Test(
        "a row that is not there is 400 with what was looked for",
        arguments: ["/products/3333", "/products/slug/nope", "/products/3333/related"]
    )
    func missing(path: String) throws {
        let response = catalogue.response(.get, path)
        let body = try #require(try JSONParser.parse(response.body).object)
        #expect(response.status == .badRequest)
        #expect(body.members.map(\.name) == ["path", "timestamp", "name", "message"])
        #expect(body["path"] == .string("/api/v1\(path)") && body["name"] == "EntityNotFoundError")
    }

    @Test("the message is the database layer's own")
    func message() throws {
        let expected = """
            Could not find any entity of type "Product" matching: {
                "relations": [
                    "category"
                ],
                "where": {
                    "id": 3333
                }
            }
            """
        #expect(
            try JSONParser.parse(catalogue.response(.get, "/products/3333").body).object?["message"]?.string == expected
        )
        let category = try JSONParser.parse(catalogue.response(.get, "/categories/9").body).object?["message"]?.string
        #expect(category == "Could not find any entity of type \"Category\" matching: {\n    \"id\": 9\n}")
    }

    @Test("a path that is no number has one message, a wrong query a list of them")
    func validation() throws {
        #expect(
            try JSONParser.parse(catalogue.response(.get, "/products/abc").body).object?["message"]
                == "Validation failed (numeric string is expected)"
        )
        for query in ["?categoryId=abc", "?price_min=-1"] {
            let response = catalogue.response(.get, "/products\(query)")
            #expect(response.status == .badRequest)
            #expect(try JSONParser.parse(response.body).object?["message"]?.array?.count == 1)
        }
    }

    @Test(
        "what is no route is 404",
        arguments: [
            (HTTPRequest.Method.get, "/nope"), (.get, "/"), (.patch, "/products/1"), (.get, "/products/1/2"),
            (.get, "/products/slug/a/b"), (.get, "/users"),
        ]
    )
    func unknown(method: HTTPRequest.Method, path: String) throws {
        let response = catalogue.response(method, path)
        #expect(response.status == .notFound)
        #expect(
            try JSONParser.parse(response.body).object?["message"]?.string?.hasPrefix(
                "Cannot \(method.rawValue) /api/v1/"
            ) == true
        )
    }

    @Test("writing: 201, unique slugs, a crash without images, a bare true at the end")
    func writing() throws {
        let made = catalogue.response(
            .post,
            "/products",
            body:
                #"{"title":"Brass Key","price":3.5,"description":"","categoryId":5,"images":["https://a.test/k.png"]}"#
        )
        #expect(made.status == .created)
        let id = try #require(try JSONParser.parse(made.body).object?["id"]?.double.map { Int($0) })
        let again = catalogue.response(
            .post,
            "/products",
            body:
                #"{"title":"brass key","price":3,"description":"x","categoryId":5,"images":["https://a.test/k.png"]}"#
        )
        #expect(try JSONParser.parse(again.body).object?["code"] == "SQLITE_CONSTRAINT_UNIQUE")
        let renamed = catalogue.response(
            .put,
            "/products/\(id)",
            body: #"{"title":"Iron Key","images":["https://a.example/k.png"],"categoryId":1}"#
        )
        #expect(try JSONParser.parse(renamed.body).object?["category"]?.object?["id"] == 5)
        #expect(catalogue.response(.put, "/products/\(id)", body: #"{"title":"x"}"#).status == .internalServerError)
        #expect(
            try JSONParser.parse(catalogue.response(.post, "/products", body: "{}").body).object?["message"]?.array?
                .count
                == 6
        )
        #expect(catalogue.response(.delete, "/products/\(id)").body == Array("true".utf8))
        #expect(catalogue.response(.delete, "/products/\(id)").status == .badRequest)
        #expect(catalogue.response(.delete, "/categories/1").status == .badRequest)
        #expect(
            catalogue.response(.post, "/categories", body: #"{"name":"Toys","image":"https://a.example/t.png"}"#).status
                == .created
        )
        #expect(catalogue.response(.put, "/categories/6", body: #"{"name":"asdfvgbhnj"}"#).status == .ok)
        #expect(try catalogue.json("/categories/slug/asdfvgbhnj").object?["id"] == 6)
        #expect(catalogue.response(.delete, "/categories/6").status == .ok)
        #expect(catalogue.response(.post, "/seed").status == .created)
        #expect(try catalogue.ids("").count == 67)
    }
}

@Suite struct CatalogueControlTests {
    private let catalogue: CatalogueCaller

    init() throws { catalogue = try CatalogueCaller() }

    @Test("a product can be sent as anything, and found by what it is then")
    func patch() throws {
        #expect(
            try catalogue.control(
                .put,
                "products/1",
                #"{"price":"12.50","category":null,"extra":[1],"title":"Patched Tee"}"#
            ).status == .ok
        )
        let product = try #require(try catalogue.json("/products/1").object)
        #expect(product["price"] == "12.50" && product["category"] == .null && product["extra"]?.array?.count == 1)
        #expect(try catalogue.ids("?title=patched") == [1])
        #expect(try catalogue.control(.put, "products/500", #"{"title":"New"}"#).status == .created)
        #expect(try catalogue.control(.delete, "products/500", "").status == .ok)
        #expect(try catalogue.control(.delete, "products/500", "").status == .notFound)
        #expect(try catalogue.control(.put, "products/x", "{}").status == .badRequest)
        #expect(try catalogue.control(.put, "products/1", "[]").status == .badRequest)
        #expect(try catalogue.control(.put, "categories/1", #"{"name":7}"#).status == .ok)
        #expect(try catalogue.json("/categories/1").object?["name"] == 7)
        catalogue.upstream.reset()
        #expect(try catalogue.json("/products/1").object?["price"] == 24)
    }

    @Test("a new seed gives the same products other ids and another time")
    func reseed() throws {
        let before = try catalogue.json("/products/1").object
        #expect(try catalogue.control(.put, "reseeded", #"{"shift":7}"#).status == .ok)
        #expect(catalogue.response(.get, "/products/1").status == .badRequest)
        let after = try #require(try catalogue.json("/products/8").object)
        #expect(after["title"] == before?["title"] && after["creationAt"] != before?["creationAt"])
    }

    @Test("generated products are the same for the same seed, up to a hundred thousand")
    func generate() throws {
        #expect(try catalogue.control(.put, "generated", #"{"count":300,"seed":7}"#).status == .ok)
        let first = catalogue.response(.get, "/products").body
        #expect(try catalogue.ids("").count == 300)
        #expect(try catalogue.control(.put, "generated", #"{"count":300,"seed":8}"#).status == .ok)
        #expect(catalogue.response(.get, "/products").body != first)
        #expect(try catalogue.control(.put, "generated", #"{"count":300,"seed":7}"#).status == .ok)
        #expect(catalogue.response(.get, "/products").body == first)
        let wrong = try catalogue.control(.put, "generated", #"{"count":100001}"#)
        #expect(wrong.status == .badRequest)
        #expect(try JSONParser.parse(wrong.body).object?["field"] == "count")
    }
}

@Suite struct LikePatternTests {
    @Test(
        "LIKE as SQLite has it",
        arguments: [
            ("%mug%", "Enamel MUG 350", true), ("%кружка%", "Кружка", false), ("%ружка%", "Кружка", true),
            ("%5_%", "500", true), ("%5_%", "5", false),
            ("%a%b%", "xaxxbx", true), ("%a%b%", "xbxxax", false), ("", "", true), ("", "a", false), ("%", "", true),
            ("_", "🐈", true), ("%aab%", "aaab", true),
            ("%%%", "abc", true), ("a_c", "abc", true), ("a_c", "ac", false),
        ]
    )
    func matches(pattern: String, text: String, expected: Bool) {
        #expect(LikePattern(pattern).matches(text) == expected)
    }
}

/// Asks a catalogue without a server.
struct CatalogueCaller {
    let upstream: Catalogue
    static let origin = "http://127.0.0.1:4711"

    init(seed: UInt64 = 1) throws { upstream = try Catalogue(seed: seed) }

    func response(_ method: HTTPRequest.Method = .get, _ path: String, headers: HTTPFields = [:], body: String = "")
        -> UpstreamResponse
    {
        upstream.response(method, path, headers: headers, body: body, origin: Self.origin)
    }

    func json(_ path: String) throws -> JSONValue { try JSONParser.parse(response(.get, path).body) }

    func products(_ path: String) throws -> [JSONObject] { try #require(try json(path).array).compactMap(\.object) }

    func ids(_ query: String) throws -> [Int] {
        try products("/products\(query)").compactMap { $0["id"]?.double.map { Int($0) } }
    }

    func control(_ method: HTTPRequest.Method, _ path: String, _ body: String) throws -> UpstreamResponse {
        do {
            return try upstream.control(
                ControlRequest(
                    method: method,
                    path: path.split(separator: "/").map(String.init),
                    body: Array(body.utf8)
                )
            )
        } catch {
            return error.response
        }
    }
}

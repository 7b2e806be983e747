import HTTPTypes
import JSONValues
import Testing

@testable import Sandbox

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

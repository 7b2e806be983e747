import HTTPTypes
import JSONValues
import Testing

@testable import Sandbox

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

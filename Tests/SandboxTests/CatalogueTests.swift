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

import Foundation
import Testing

@testable import Shop

@Suite("What the upstream is asked for")
struct CatalogueQueryTests {
    private func path(
        _ text: String? = nil,
        price: String? = nil,
        from: String? = nil,
        to: String? = nil,
        category: Int? = nil
    ) -> (String, Bool) {
        let filters = SearchFilters(
            categoryID: category,
            price: price.flatMap { Price(text: $0) },
            minimum: from.flatMap { Price(text: $0) },
            maximum: to.flatMap { Price(text: $0) }
        )
        let query = CatalogueQuery(SearchQuery(text: text, filters: filters))
        return (String(query.path(offset: 0, limit: 5).dropFirst("/products?offset=0&limit=5".count)), query.isExact)
    }

    @Test("never less than what is looked for")
    func superset() {
        #expect(path() == ("", true))
        #expect(path("Red Mug") == ("&title=Red%20Mug", true))
        #expect(path("a&b=c#") == ("&title=a%26b%3Dc%23", true))
        #expect(path("лампа") == ("", false))
        #expect(path("лампа LED") == ("&title=%25%20LED", false))
        #expect(path("5%") == ("&title=5%25", false))
        #expect(path("%") == ("", false))
        #expect(path("a_b") == ("&title=a_b", false))
        #expect(path(price: "5") == ("&price=5", true))
        #expect(path(price: "0") == ("", false))
        #expect(path(from: "10") == ("&price_min=10&price_max=1\(String(repeating: "0", count: 30))", true))
        #expect(path(from: "0") == ("", true))
        #expect(path(to: "10") == ("", false))
        #expect(path(from: "0", to: "10") == ("", false))
        #expect(path(from: "0.5", to: "10") == ("&price_min=0.5&price_max=10", true))
        #expect(path("x", price: "1.5", category: 3) == ("&title=x&price=1.5&categoryId=3", true))
    }
}

@Suite("Filling a page from parts")
struct CatalogueWalkTests {
    private static func product(_ id: Int) -> Product? {
        Price(1).map { Product(id: id, title: "p", description: "", price: $0, images: []) }
    }

    /// Walks a list of 1…count of which only these numbers are looked for.
    private func page(
        limit: Int,
        from position: Int = 0,
        skipping: Int = 0,
        isExact: Bool = false,
        count: Int,
        where isWanted: (Int) -> Bool
    ) -> (ids: [Int], next: Int?, parts: [Int]) {
        var walk = CatalogueWalk(limit: limit, from: position, skipping: skipping, isExact: isExact)
        var parts: [Int] = []
        while true {
            switch walk.next {
            case .done(let next): return (walk.products.map(\.id), next, parts)
            case .ask(let offset, let limit):
                parts.append(offset)
                let ids = offset < count ? Array(offset + 1...min(offset + limit, count)) : []
                walk.take(ids.map { isWanted($0) ? Self.product($0) : nil })
            }
        }
    }

    @Test("for an exact list, one row more than the page has is requested")
    func exact() {
        var walk = CatalogueWalk(limit: 3, from: 6, isExact: true)
        #expect(walk.next == .ask(offset: 6, limit: 4))
        walk.take((7...10).map(Self.product))
        #expect(walk.next == .done(nextPosition: 9) && walk.products.map(\.id) == [7, 8, 9])
        #expect(page(limit: 3, isExact: true, count: 3) { _ in true }.next == nil)
        #expect(page(limit: 3, isExact: true, count: 0) { _ in true }.ids == [])
    }

    @Test("rows that drop out are made up for by what follows, and the next page begins where this one ended")
    func dropped() {
        let first = page(limit: 3, isExact: true, count: 20) { $0 % 3 == 0 }
        #expect(first.ids == [3, 6, 9] && first.next == 11 && first.parts == [0, 4, 8])
        #expect(page(limit: 3, from: 11, isExact: true, count: 20) { $0 % 3 == 0 }.ids == [12, 15, 18])
    }

    @Test("parts of a list that is sorted out here begin at multiples of their size")
    func aligned() {
        let first = page(limit: 2, from: 150, count: 500) { $0 % 100 == 0 }
        #expect(first.ids == [200, 300] && first.next == 399 && first.parts == [0, 200])
        #expect(page(limit: 2, skipping: 3, count: 500) { $0 % 100 == 0 }.ids == [400, 500])
    }

    @Test("a page that finds nothing ends after the maximum number of parts, and says where to continue")
    func bounded() {
        let page = page(limit: 10, count: 100_000) { _ in false }
        #expect(
            page.parts.count == CatalogueWalk.maximumParts && page.ids == []
                && page.next == CatalogueWalk.maximumParts * CatalogueWalk.partRows
        )
    }

    @Test("a row that moved while paging is there once; more rows than were requested are not used")
    func moved() {
        var walk = CatalogueWalk(limit: 3, from: 0, isExact: true)
        walk.take([1, 1, 2, 2].map(Self.product))
        #expect(walk.next == .ask(offset: 4, limit: 4))
        walk.take([2, 3].map(Self.product))
        #expect(walk.products.map(\.id) == [1, 2, 3] && walk.next == .done(nextPosition: nil))
        var greedy = CatalogueWalk(limit: 1, from: 0, isExact: true)
        greedy.take((1...50).map(Self.product))
        #expect(greedy.products.map(\.id) == [1] && greedy.next == .done(nextPosition: 1))
    }
}

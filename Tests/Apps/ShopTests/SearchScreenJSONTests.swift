import Foundation
import Screens
import TestKit
import Testing

@testable import Shop

@Suite("Screens of the Shop that write their own JSON")
struct ShopScreenJSONTests {
    private func expectSame(_ value: some JSONWritable) throws {
        #expect(try String(decoding: WireFormat.encode(value), as: UTF8.self) == JSONEncoder.wire.text(value))
    }

    private func products() throws -> [Product] {
        let price = try #require(Price(stored: "29.97"))
        return [
            Product(id: 1, title: "Чай \"№ 1\"", description: "a\nb", price: price, images: []),
            Product(
                id: 2,
                title: "",
                description: "",
                price: try #require(Price(stored: "48")),
                category: .init(id: 3, name: "Tea/Coffee"),
                images: ["https://a.test/1", "https://a.test/2"]
            ),
        ]
    }

    @Test("SRV-06 results and card are written as JSONEncoder writes them", arguments: [Layout.tile, .wide])
    func products(layout: Layout) throws {
        let lines = [nil, CartLine(id: ListItemID(productID: 2, ordinal: 2), quantity: 999)]
        let products = try products()
        for line in lines {
            let rows = products.map { SearchScreen.Row($0, line, layout: layout) }
            try expectSame(SearchScreen(SearchQuery(text: "Чай"), items: rows, retry: nil, isPartial: false))
            for product in products { try expectSame(CardScreen(product, line, layout: layout)) }
        }
        try expectSame(SearchScreen(SearchQuery(), items: [], retry: "/v1/shop/search", isPartial: true))
    }

    @Test("SRV-06 the shopping list is written as JSONEncoder writes it", arguments: [nil, true, false])
    func list(alreadyInList: Bool?) throws {
        let differences: [ListItem.Difference?] = [nil, .gone, .replaced]
        let items = try products().flatMap { product in
            differences.map { difference in
                ListItem(
                    id: ListItemID(productID: product.id),
                    product: product,
                    quantity: 3,
                    difference: difference
                )
            }
        }
        let totals = ListTotals(lines: items.count, pieces: 27, price: 29.97)
        let list = ShoppingList(items: items, totals: totals, revision: 1, changed: items.first)
        for afterWrite in [false, true] {
            try expectSame(ListScreen(list, afterWrite: afterWrite, alreadyInList: alreadyInList))
        }
        let empty = ShoppingList(items: [], totals: ListTotals(), revision: 1)
        try expectSame(ListScreen(empty, afterWrite: true, alreadyInList: alreadyInList))
    }
}

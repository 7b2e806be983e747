import Testing

@testable import Shop

@Suite("Lines of a shopping list")
struct ShoppingListTests {
    @Test("an id is read as it is written, and nothing else is one")
    func ids() {
        for id in [
            ListItemID(productID: 5), ListItemID(productID: 5, ordinal: 2), ListItemID(productID: .max, ordinal: 99),
        ] {
            #expect(ListItemID(id.text) == id)
        }
        #expect(ListItemID("5-2") == ListItemID(productID: 5, ordinal: 2))
        for text in [
            "", "-", "0", "05", "5-", "5-0", "5-1", "5-02", "5-2-3", "+5", "5 ", "x", "٥", "9223372036854775808",
        ] {
            #expect(ListItemID(text) == nil, "\(text)")
        }
    }

    @Test("SHOP-13 an order names every line once, by lines, or by products that are on the list once")
    func orders() {
        typealias Line = (id: ListItemID, product: Int)
        let (five, six): (Line, Line) = ((ListItemID(productID: 5), 5), (ListItemID(productID: 6), 6))
        let second: Line = (ListItemID(productID: 5, ordinal: 2), 5)
        #expect(ListOrder.products([6, 5]).ids(among: [five, six]) == [six.id, five.id])
        let order = ListOrder.items([six.id, second.id, five.id])
        #expect(order.ids(among: [five, second, six]) == [six.id, second.id, five.id])
        // A line is named by the present id of its product.
        let moved: Line = (five.id, 12)
        #expect(ListOrder.products([6, 12]).ids(among: [moved, six]) == [six.id, five.id])
        #expect(ListOrder.products([6, 5]).ids(among: [moved, six]) == nil)
        for order: ListOrder in [
            .products([6, 5]), .products([6, 5, 5]), .items([five.id, six.id]), .items([five.id, five.id, six.id]),
        ] {
            #expect(order.ids(among: [five, second, six]) == nil)
        }
    }
}

import Foundation
import Screens

/// `GET /v1/shop/list`, and the response to every change of it.
struct ListScreen: Encodable, Sendable {
    struct Row: Encodable, Sendable {
        let productId: Int
        let title: String
        let price: Price
        let priceText: String
        let quantity: Int
        let lineTotal: Decimal
        let lineTotalText: String
        let image: String
        /// Whether the upstream still has it under this id.
        let available: Bool
        /// How the upstream's product differs, or null.
        @Nullable var difference: ListItem.Difference?
        let href: String

        init(_ item: ListItem) {
            let id = item.product.id
            productId = id
            title = item.product.title
            price = item.product.price
            priceText = item.product.price.text
            quantity = item.quantity
            lineTotal = item.total
            lineTotalText = "\(item.total)$"
            // The id's current picture is that of another product.
            image = item.difference == .replaced ? "/v1/shop/list/items/\(id)/image" : "/v1/shop/images/\(id)/0"
            available = item.difference == nil
            _difference = Nullable(wrappedValue: item.difference)
            href = "/v1/shop/products/\(id)"
        }
    }

    struct Totals: Encodable, Sendable {
        /// Pieces of all lines.
        let items: Int
        let price: Decimal
        let itemsText: String
        let priceText: String

        init(_ list: [ListItem]) {
            items = list.reduce(0) { $0 + $1.quantity }
            price = list.reduce(0) { $0 + $1.total }
            itemsText = "Товаров: \(items)"
            priceText = "Сумма: \(price)$"
        }
    }

    let items: [Row]
    let totals: Totals
    let actions: [Action]
    let empty: EmptyState?
    /// Only in the response to an addition: whether the product was on the list already, and is unchanged.
    let alreadyInList: Bool?

    init(_ list: ShoppingList, alreadyInList: Bool? = nil) {
        items = list.items.map(Row.init)
        totals = Totals(list.items)
        actions = list.items.isEmpty ? [] : [.shareList, .clearList]
        empty = list.items.isEmpty ? EmptyState(title: "Корзина пуста", text: "", button: "К товарам") : nil
        self.alreadyInList = alreadyInList
    }
}

extension Action {
    static let shareList = Action(id: "share", title: "Поделиться", method: "GET", href: "/v1/shop/list/share")
    static let clearList = Action(id: "clear", title: "Очистить", method: "DELETE", href: "/v1/shop/list")
}

extension ListItem {
    /// Price times quantity.
    var total: Decimal { product.price.amount * Decimal(quantity) }
}

import Foundation
import Screens

/// `GET /v1/shop/list`, and the response to every change of it.
struct ListScreen: Encodable, Sendable {
    struct Row: Encodable, Sendable {
        @Flattened var product: LineFields
        /// The same as `id`, for front ends of earlier versions.
        let itemId: String
        let quantity: Int
        let bought: Bool
        let lineTotal: Decimal
        let lineTotalText: Text
        let imageUrl: Link
        let actions: [Action]

        init(_ item: ListItem) {
            product = LineFields(item)
            itemId = item.id.text
            quantity = item.quantity
            bought = item.isBought
            lineTotal = item.total
            lineTotalText = .price(item.total)
            imageUrl = item.image ?? "\(item.id.path)/image"
            actions =
                Action.changing(CartLine(id: item.id, quantity: item.quantity))
                + [.check(item.id.path, item.isBought), .share(item.id.path)]
        }
    }

    struct Totals: Encodable, Sendable {
        /// Pieces of all lines.
        let items: Int
        let price: Decimal
        let itemsText: Text
        let priceText: Text

        init(_ totals: ListTotals) {
            items = totals.pieces
            price = totals.price
            itemsText = .pieces(items)
            priceText = .sum(.price(price))
        }
    }

    /// Only in the response to a write: the line that it has added or changed, wherever it is on the list, or null.
    let item: Nullable<Row>?
    /// The lines of the page.
    let items: [Row]
    let totals: Totals
    let actions: [Action]
    let empty: EmptyState?
    /// Only in the response to an addition: whether the product was on the list already, and is unchanged.
    let alreadyInList: Bool?

    init(_ list: ShoppingList, afterWrite: Bool = false, alreadyInList: Bool? = nil) {
        let isEmpty = list.totals.lines == 0
        item = afterWrite ? Nullable(wrappedValue: list.changedLine.map(Row.init)) : nil
        items = list.items.map(Row.init)
        totals = Totals(list.totals)
        let ids = list.items.count == list.totals.lines ? list.items.map(\.id.text) : nil
        actions = isEmpty ? [] : [.shareList, .reorder(ids, canReorder: list.totals.lines > 1), .clearList]
        empty = isEmpty ? EmptyState(title: .emptyList, text: "", action: .products) : nil
        self.alreadyInList = alreadyInList
    }
}

/// The product of a line of a list.
struct LineFields: Encodable, Sendable {
    let id: String
    let productId: Int
    let title: String
    let price: Price
    let priceText: Text
    /// The price before, until the user changes the line; null if it is the same.
    @Nullable var previousPrice: Price?
    @Nullable var previousPriceText: Text?
    /// Whether the upstream still has it under this id.
    let available: Bool
    /// How the upstream's product differs, or null.
    @Nullable var difference: ListItem.Difference?
    @Nullable var differenceText: Text?
    /// The card, or null if the id is another product's.
    @Nullable var href: Link?

    init(_ item: ListItem) {
        id = item.id.text
        productId = item.product.id
        title = item.product.title
        price = item.product.price
        priceText = item.product.price.text
        previousPrice = item.earlierPrice
        previousPriceText = item.earlierPrice?.text
        available = item.difference == nil
        difference = item.difference
        differenceText = item.difference?.text
        href = item.difference == .replaced ? nil : item.product.href
    }
}

extension Action {
    static let shareList = Action.share("/v1/shop/list")
    static let clearList = Action(id: "clear", title: .clear, method: "DELETE", href: "/v1/shop/list")

    /// Adds a product to the favourites, or takes it away.
    ///
    /// - Parameter line: Its line among the favourites, if it is one of them.
    static func favourite(_ product: Int, _ line: ListItemID?) -> Action {
        let list = ListKind.favourites
        return line.map {
            Action(id: "unfavourite", title: .removeFavourite, method: "DELETE", href: list.path(of: $0))
        }
            ?? Action(
                id: "favourite",
                title: .addFavourite,
                method: "POST",
                href: list.path,
                body: ["product_id": .integer(product)]
            )
    }
}

extension ListItem {
    /// Price times quantity.
    var total: Decimal { product.price.amount * Decimal(quantity) }

    /// The picture of the product; nil if the id's is that of another product.
    var image: Link? { difference == .replaced ? nil : product.imageURL() }
}

/// `GET /v1/shop/favourites`, and the response to every change of them.
struct FavouritesScreen: Encodable, Sendable {
    struct Row: Encodable, Sendable {
        @Flattened var product: LineFields
        @Nullable var imageUrl: Link?
        let actions: [Action]

        init(_ item: ListItem) {
            product = LineFields(item)
            imageUrl = item.image
            actions = [.favourite(item.product.id, item.id)]
        }
    }

    let items: [Row]
    let empty: EmptyState?

    init(_ list: ShoppingList) {
        items = list.items.map(Row.init)
        empty = list.totals.lines == 0 ? EmptyState(title: .noFavourites, text: "", action: .products) : nil
    }
}

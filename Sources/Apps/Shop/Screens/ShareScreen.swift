import Screens

/// `GET /v1/shop/list/share`, and the text of one line or one product.
struct ShareScreen: Encodable, Sendable {
    let text: Text

    /// A block for each line of the list, as the app writes it.
    init(_ list: ShoppingList) { text = list.items.map(\.shareText).joined(separator: "\n\n") }

    init(_ item: ListItem) { text = item.shareText }

    init(_ product: Product) { text = product.shareText }
}

extension ListItem {
    fileprivate var shareText: Text {
        .share(product.title, product.price.text) + .shareQuantity(quantity)
    }
}

extension Product {
    /// The text that the card shares.
    var shareText: Text { .share(title, price.text) + .shareDescription(descriptionText) }

    /// The description, or the app's words if there is none.
    var descriptionText: Text { description.isEmpty ? .noDescription : Text(verbatim: description) }
}

/// `GET /v1/shop/list/share`, and the text of one line or one product.
struct ShareScreen: Encodable, Sendable {
    let text: String

    /// A block for each line of the list, as the app writes it.
    init(_ list: ShoppingList) { text = list.items.map(\.shareText).joined(separator: "\n\n") }

    init(_ item: ListItem) { text = item.shareText }

    init(_ product: Product) { text = product.shareText }
}

extension ListItem {
    fileprivate var shareText: String {
        "Название: \(product.title)\nЦена: \(product.price.text)\nКоличество: \(quantity)"
    }
}

extension Product {
    /// What the card says to be shared.
    var shareText: String { "Название: \(title)\nЦена: \(price.text)\nОписание: \(descriptionText)" }

    /// The description, or the app's words if there is none.
    var descriptionText: String { description.isEmpty ? "Описание отсутствует" : description }
}

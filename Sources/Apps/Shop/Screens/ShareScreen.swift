/// `GET /v1/shop/list/share`.
struct ShareScreen: Encodable, Sendable {
    let text: String

    /// A block for each line of the list, as the app writes it.
    init(_ list: ShoppingList) {
        text = list.items.map {
            "Название: \($0.product.title)\nЦена: \($0.product.price.text)\nКоличество: \($0.quantity)"
        }.joined(separator: "\n\n")
    }
}

/// One line of a shopping list.
struct ListItem: Sendable, Equatable {
    /// How the upstream's product with the same id differs.
    enum Difference: String, Sendable, Encodable {
        /// The upstream no longer has the product.
        case gone
        /// The id is another product's now.
        case replaced
    }

    /// The product as it was last seen.
    var product: Product
    var quantity: Int
    var difference: Difference?
}

/// A shopping list, read in one transaction.
struct ShoppingList: Sendable, Equatable {
    var items: [ListItem]
    /// Number of changes of this list.
    var revision: Int
}

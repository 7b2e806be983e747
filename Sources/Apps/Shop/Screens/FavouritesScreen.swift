import Screens

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

extension Action {
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

import Screens

extension Action {
    /// Puts one piece of a product on the list.
    static func add(_ product: Int) -> Action {
        Action(
            id: "add",
            title: .addToList,
            method: "POST",
            href: "/v1/shop/list/items",
            body: ["product_id": .integer(product), "quantity": .integer(1)]
        )
    }

    /// Shows the list.
    static let openList = Action(id: "open_list", title: .openList, method: "GET", href: "/v1/shop/list")

    /// What changes a line of the list: −, +, and its removal.
    static func changing(_ line: CartLine) -> [Action] {
        func quantity(_ id: String, _ title: Text, _ quantity: Int) -> Action {
            Action(
                id: id,
                title: title,
                method: "PATCH",
                href: line.id.path,
                body: ["quantity": .integer(quantity)],
                enabled: ListItem.quantities.contains(quantity)
            )
        }
        return [
            quantity("decrease", "−", line.quantity - 1), quantity("increase", "+", line.quantity + 1),
            Action(id: "delete", title: .remove, method: "DELETE", href: line.id.path),
        ]
    }

    /// Returns the text to be shared.
    static func share(_ path: Link) -> Action {
        Action(id: "share", title: .share, method: "GET", href: "\(path)/share")
    }
}

extension ListItemID {
    /// Address of the line.
    var path: Link { "/v1/shop/list/items/\(text)" }
}

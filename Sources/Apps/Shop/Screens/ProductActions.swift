import Foundation
import Screens

extension Action {
    /// Puts one piece of a product on the list.
    static func add(_ product: Int, isListFull: Bool) -> Action {
        Action(
            id: "add",
            title: .addToList,
            method: "POST",
            href: "/v1/shop/list/items",
            body: ["product_id": .integer(product), "quantity": .integer(1)],
            disabled: isListFull ? .listFull(ShopStore.maximumItems) : nil
        )
    }

    static let openList = Action(id: "open_list", title: .openList, method: "GET", href: "/v1/shop/list")

    /// The actions of a line of the list: −, +, and its removal.
    static func changing(_ line: CartLine) -> [Action] {
        func step(_ id: String, _ title: Text, by difference: Int) -> Action {
            Action(
                id: id,
                title: title,
                method: "PATCH",
                href: line.id.path,
                body: ["by": .integer(difference)],
                disabled: LineChange.by(difference).applied(to: line.quantity) == nil ? .quantities : nil
            )
        }
        return [
            step("decrease", "−", by: -1), step("increase", "+", by: 1),
            Action(id: "delete", title: .remove, method: "DELETE", href: line.id.path),
        ]
    }

    /// Checks a line off as bought, or takes that back.
    static func check(_ line: Link, _ isBought: Bool) -> Action {
        Action(
            id: isBought ? "uncheck" : "check",
            title: isBought ? .notBought : .bought,
            method: "PATCH",
            href: line,
            body: ["bought": .boolean(!isBought)]
        )
    }

    static let products = Action.show("products", .toProducts, "/v1/shop/search")

    /// Empties the history of searches.
    static let clearHistory = Action(id: "clear", title: .clear, method: "DELETE", href: "/v1/shop/history")

    /// Removes one search from the history; the newest one has the index 0. Another one may have it in a later version.
    static func forgetSearch(_ index: Int, version: Int) -> Action {
        Action(
            id: "delete",
            title: .remove,
            method: "DELETE",
            href: "/v1/shop/history/\(index)",
            headers: ["If-Match": "\"\(version)\""]
        )
    }

    /// Replaces all filters.
    ///
    /// - Parameter categories: Those to choose from.
    static func applyFilters(_ filters: SearchFilters, _ categories: [Product.Category]) -> Action {
        func price(_ name: String, _ title: Text, _ price: Price?) -> Field {
            Field(name, .number, title, value: price?.amount.description, required: false)
        }
        let options = categories.map {
            Option(String($0.id), Text(verbatim: $0.name), imageUrl: $0.imageLink)
        }
        return Action(
            id: "apply",
            title: .apply,
            method: "PUT",
            href: "/v1/shop/filters",
            fields: [
                Field(
                    "category_id",
                    .integer,
                    .category,
                    value: filters.categoryID.map(String.init),
                    // Any category may be named while none is known.
                    options: options.isEmpty ? nil : options,
                    required: false
                ),
                price("price", .price, filters.price), price("price_min", .priceFrom, filters.minimum),
                price("price_max", .priceTo, filters.maximum),
            ]
        )
    }

    static let resetFilters = Action(id: "reset", title: .reset, method: "DELETE", href: "/v1/shop/filters")

    /// Puts the lines of the list into another order.
    ///
    /// - Parameter ids: The lines in the present order; nil if only some of them are known.
    static func reorder(_ ids: [String]?, canReorder: Bool) -> Action {
        Action(
            id: "reorder",
            title: .reorder,
            method: "PUT",
            href: "/v1/shop/list/order",
            fields: [Field("item_ids", .items, .list, values: ids)],
            disabled: canReorder ? nil : .nothingToReorder
        )
    }

    static func share(_ path: Link) -> Action {
        Action(id: "share", title: .share, method: "GET", href: "\(path)/share")
    }
}

extension ListKind {
    /// Address of a line.
    func path(of id: ListItemID) -> Link { self == .list ? "\(path)/items/\(id.text)" : "\(path)/\(id.text)" }
}

extension ListItemID {
    /// Address of the line of the shopping list.
    var path: Link { ListKind.list.path(of: self) }
}

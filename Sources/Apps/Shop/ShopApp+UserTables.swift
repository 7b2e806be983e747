package import AppInterface

extension ShopApp {
    /// The tables that a copy from one store to the other has. When the products on lists were seen last is not copied:
    /// any server that sees them knows better.
    package static let userTables: [UserTable] = [
        UserTable(
            "shop_profile",
            key: ["profile"],
            [
                "profile": .text, "revision": .integer, "text": .text, "filters": .text,
                "search_revision": .integer,
            ]
        ),
        UserTable(
            "shop_list_item",
            key: ["profile", "product_id", "ordinal"],
            [
                "profile": .text, "product_id": .integer, "ordinal": .integer, "quantity": .integer,
                "position": .integer, "title": .text, "description": .text, "price": .text,
                "category_id": .integer, "category_name": .text, "images": .text, "made_at": .text,
            ]
        ),
        UserTable(
            "shop_history",
            key: ["profile", "sequence"],
            [
                "profile": .text, "sequence": .integer, "folded": .text, "text": .text, "filters": .text,
                "searched_at": .integer,
            ]
        ),
    ]
}

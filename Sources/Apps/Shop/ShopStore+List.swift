import Foundation
import GRDB
import Storage
import Upstream

/// One line of a shopping list.
struct ListItem: Sendable, Equatable {
    /// What has become of the product under its id.
    enum Difference: String, Sendable, Encodable {
        /// The upstream has no such product any more.
        case gone
        /// The upstream gave the id to another product.
        case replaced
    }

    /// As it was when it was last seen.
    var product: Product
    var quantity: Int
    var difference: Difference?
}

/// A shopping list in one consistent state.
struct ShoppingList: Sendable, Equatable {
    var items: [ListItem]
    /// Counts the changes of this list.
    var revision: Int
}

extension ShopStore {
    /// Most lines of one list.
    static let mostItems = 1000

    /// The list of a profile, in its order.
    func list(_ profile: String) throws -> ShoppingList {
        try database.read { try Self.list(profile, $0) }
    }

    private static func list(_ profile: String, _ db: Database) throws -> ShoppingList {
        let items = try Row.fetchAll(try db.cachedStatement(sql: selectList), arguments: [profile]).map { row in
            let id: Int = row["product_id"]
            let kept = try Product(row: row, id: id)
            let isGone: Bool = row["current_gone"] ?? true
            let isSame =
                (row["current_title"] as String?).map { kept.isSame(asTitle: $0, madeAt: row["current_made_at"]) }
                ?? true
            return ListItem(
                product: kept,
                quantity: row["quantity"],
                difference: !isSame ? .replaced : isGone ? .gone : nil
            )
        }
        let revision = try Int.fetchOne(
            try db.cachedStatement(sql: "SELECT revision FROM shop_profile WHERE profile = ?"),
            arguments: [profile]
        )
        return ShoppingList(items: items, revision: revision ?? 0)
    }

    static let selectList = """
        SELECT item.*, current.gone AS current_gone, current.title AS current_title, current.made_at AS current_made_at
        FROM shop_list_item AS item LEFT JOIN shop_product AS current ON current.id = item.product_id
        WHERE item.profile = ? ORDER BY item.position
        """

    /// How many of these products are on a profile's list, by id; those that are not are left out.
    func quantities(of ids: [Int], _ profile: String) throws -> [Int: Int] {
        try database.read { db in
            let statement = try db.cachedStatement(sql: Self.selectQuantity)
            return try ids.reduce(into: [:]) { $0[$1] = try Int.fetchOne(statement, arguments: [profile, $1]) }
        }
    }

    static let selectQuantity = "SELECT quantity FROM shop_list_item WHERE profile = ? AND product_id = ?"

    /// What came of an attempt to add.
    enum Addition: Sendable, Equatable {
        case added
        case alreadyThere
        case full
    }

    /// Puts a product at the end of a list, once: of two that do it at the same time one finds it there.
    func add(_ product: Product, quantity: Int, to profile: String) async throws -> (Addition, ShoppingList) {
        try await change(profile) { db in
            if try Int.fetchOne(try db.cachedStatement(sql: Self.selectQuantity), arguments: [profile, product.id])
                != nil
            {
                return .alreadyThere
            }
            let count =
                try Int.fetchOne(db, sql: "SELECT count(*) FROM shop_list_item WHERE profile = ?", arguments: [profile])
                ?? 0
            guard count < Self.mostItems else { return .full }
            try db.cachedStatement(
                sql: """
                    INSERT INTO shop_list_item (title, description, price, category_id, category_name, images, made_at, profile, product_id, quantity, position)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, (SELECT coalesce(max(position), 0) + 1 FROM shop_list_item WHERE profile = ?))
                    """
            ).execute(arguments: try product.columns + [profile, product.id, quantity, profile])
            return .added
        }
    }

    /// Sets how many of a product are wanted; false where it is not on the list.
    func setQuantity(_ quantity: Int, of id: Int, _ profile: String) async throws -> (Bool, ShoppingList) {
        try await change(profile) { db in
            try db.cachedStatement(sql: "UPDATE shop_list_item SET quantity = ? WHERE profile = ? AND product_id = ?")
                .execute(arguments: [quantity, profile, id])
            return db.changesCount > 0
        }
    }

    /// Takes a product off the list; false where it is not on it.
    func remove(_ id: Int, _ profile: String) async throws -> (Bool, ShoppingList) {
        try await change(profile) { db in
            try db.cachedStatement(sql: "DELETE FROM shop_list_item WHERE profile = ? AND product_id = ?").execute(
                arguments: [profile, id])
            return db.changesCount > 0
        }
    }

    /// Takes everything off the list; false where nothing was on it.
    func clear(_ profile: String) async throws -> (Bool, ShoppingList) {
        try await change(profile) { db in
            try db.execute(sql: "DELETE FROM shop_list_item WHERE profile = ?", arguments: [profile])
            return db.changesCount > 0
        }
    }

    /// Puts the list into another order; false where these are not just the products that are on it.
    func order(_ ids: [Int], _ profile: String) async throws -> (Bool, ShoppingList) {
        try await change(profile) { db in
            let present = try Int.fetchAll(
                db,
                sql: "SELECT product_id FROM shop_list_item WHERE profile = ?",
                arguments: [profile]
            )
            guard present.count == ids.count, Set(present) == Set(ids) else { return false }
            let update = try db.cachedStatement(
                sql: "UPDATE shop_list_item SET position = ? WHERE profile = ? AND product_id = ?"
            )
            for (position, id) in ids.enumerated() { try update.execute(arguments: [position + 1, profile, id]) }
            return true
        }
    }

    private func change<Result: Sendable>(
        _ profile: String,
        _ change: @escaping @Sendable (Database) throws -> Result
    ) async throws -> (Result, ShoppingList) {
        defer { profileChanges[profile].bump() }
        return try await database.write { db in
            let before = db.totalChangesCount
            let result = try change(db)
            if db.totalChangesCount != before {
                try db.execute(
                    sql: """
                        INSERT INTO shop_profile (profile, revision, text, filters) VALUES (?, 1, NULL, '{}')
                        ON CONFLICT (profile) DO UPDATE SET revision = revision + 1
                        """,
                    arguments: [profile]
                )
            }
            return (result, try Self.list(profile, db))
        }
    }
}

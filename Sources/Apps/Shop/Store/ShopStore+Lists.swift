import Database
import Foundation
import Freshness
import GRDB
import Upstream

extension ShopStore {
    /// Maximum number of lines of a list.
    static let maximumItems = 1000

    /// Returns the list of a profile, in its order.
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

    /// Returns the quantities of products on a profile's list, by id; those that are not on it are left out.
    func quantities(of ids: [Int], _ profile: String) throws -> [Int: Int] {
        try database.read { db in
            let statement = try db.cachedStatement(sql: Self.selectQuantity)
            return try ids.reduce(into: [:]) { $0[$1] = try Int.fetchOne(statement, arguments: [profile, $1]) }
        }
    }

    private static let countItems = "SELECT count(*) FROM shop_list_item WHERE profile = ?"

    static let selectQuantity = "SELECT quantity FROM shop_list_item WHERE profile = ? AND product_id = ?"

    /// The outcome of an addition.
    enum Addition: Sendable, Equatable {
        case added
        case alreadyThere
        case full
    }

    /// Appends a product to a list unless it is on it. Of two concurrent additions of one product, the second finds it
    /// there.
    func add(_ product: Product, quantity: Int, to profile: String) async throws -> (Addition, ShoppingList) {
        try await change(profile) { db in
            let select = try db.cachedStatement(sql: Self.selectQuantity)
            guard try Int.fetchOne(select, arguments: [profile, product.id]) == nil else { return .alreadyThere }
            let count = try Int.fetchOne(db, sql: Self.countItems, arguments: [profile]) ?? 0
            guard count < Self.maximumItems else { return .full }
            try db.cachedStatement(sql: Self.insertItem)
                .execute(arguments: try product.columns + [profile, product.id, quantity, profile])
            return .added
        }
    }

    private static let insertItem = """
        INSERT INTO shop_list_item (
            title, description, price, category_id, category_name, images, made_at, profile, product_id, quantity,
            position
        ) VALUES (
            ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
            (SELECT coalesce(max(position), 0) + 1 FROM shop_list_item WHERE profile = ?)
        )
        """

    /// Sets the quantity of a product; false if it is not on the list.
    func setQuantity(_ quantity: Int, of id: Int, _ profile: String) async throws -> (Bool, ShoppingList) {
        try await change(profile) { db in
            try db.cachedStatement(sql: "UPDATE shop_list_item SET quantity = ? WHERE profile = ? AND product_id = ?")
                .execute(arguments: [quantity, profile, id])
            return db.changesCount > 0
        }
    }

    /// Removes a product from the list; false if it is not on it.
    func remove(_ id: Int, _ profile: String) async throws -> (Bool, ShoppingList) {
        try await change(profile) { db in
            try db.cachedStatement(sql: "DELETE FROM shop_list_item WHERE profile = ? AND product_id = ?")
                .execute(arguments: [profile, id])
            return db.changesCount > 0
        }
    }

    /// Empties the list; false if it was empty.
    func clear(_ profile: String) async throws -> (Bool, ShoppingList) {
        try await change(profile) { db in
            try db.execute(sql: "DELETE FROM shop_list_item WHERE profile = ?", arguments: [profile])
            return db.changesCount > 0
        }
    }

    /// Reorders the list; false unless the ids are those of the products on it, each once.
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

    /// Changes a list in a transaction that also counts its revision.
    private func change<Result: Sendable>(
        _ profile: String,
        _ change: @escaping @Sendable (Database) throws -> Result
    ) async throws -> (Result, ShoppingList) {
        try await database.write { [profileChanges] db in
            let before = db.totalChangesCount
            let result = try change(db)
            if db.totalChangesCount != before {
                profileChanges[profile].bump(afterCommitOf: db)
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

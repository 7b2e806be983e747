import Database
import GRDB
import Upstream

extension ShopStore {
    /// Returns the write of a response's categories, for the transaction that stores the response.
    func saveCategories() -> @Sendable ([Product.Category], Database) throws -> Void {
        { [catalogueChanges] categories, db in
            try db.execute(sql: "DELETE FROM shop_category")
            for (position, category) in categories.enumerated() {
                try db.cachedStatement(sql: "INSERT INTO shop_category (id, name, position) VALUES (?, ?, ?)")
                    .execute(arguments: [category.id, category.name, position])
            }
            catalogueChanges.bump(afterCommitOf: db)
        }
    }

    /// Returns the categories in the upstream's order.
    func categories() throws -> [Product.Category] {
        try database.read { db in
            try Row.fetchAll(db, sql: "SELECT id, name FROM shop_category ORDER BY position").map {
                Product.Category(id: $0["id"], name: $0["name"])
            }
        }
    }
}

import GRDB
import Screens
import Storage
import Upstream

extension ShopStore {
    /// Returns the write of a response's categories, for the transaction that stores the response.
    ///
    /// - Parameter changed: Called if others were shown before, once the transaction is committed.
    func saveCategories(changed: @escaping @Sendable () -> Void = {})
        -> @Sendable ([Product.Category], Database) throws
        -> Void
    {
        { [categoryChanges] categories, db in
            let known = try Self.categories(db)
            guard known != categories else { return }
            if !known.isEmpty { db.afterNextTransaction { _ in changed() } }
            try db.execute(sql: "DELETE FROM shop_category")
            for (position, category) in categories.enumerated() {
                try db.cachedStatement(sql: "INSERT INTO shop_category (id, name, image, position) VALUES (?, ?, ?, ?)")
                    .execute(arguments: [category.id, category.name, category.image, position])
            }
            categoryChanges.bump(afterCommitOf: db)
        }
    }

    /// Returns a page of the categories in the upstream's order.
    func categories(_ page: PageRequest) throws -> ListPage<Product.Category> {
        try database.read { db in
            // Positions have no gaps: an offset is looked up, too.
            let position = page.key?[0] ?? .integer(Int64(page.offset) - 1)
            let rows = try Row.fetchAll(
                try db.cachedStatement(sql: Self.selectCategories),
                arguments: ["id": page.key?[1], "position": position, "limit": page.limit + 1]
            )
            let shown = rows.prefix(page.limit)
            return ListPage(
                try shown.map(Product.Category.init),
                hasMore: rows.count > page.limit,
                key: try shown.last.map { try [$0.value("position"), $0.value("id")] },
                total: try Int.fetchOne(try db.cachedStatement(sql: Self.countCategories)) ?? 0
            )
        }
    }

    /// Returns all categories in the upstream's order.
    static func categories(_ db: Database) throws -> [Product.Category] {
        let select = try db.cachedStatement(sql: "SELECT id, name, image FROM shop_category ORDER BY position")
        return try Product.Category.fetchAll(select)
    }

    /// Returns a category; nil if it was not listed.
    func category(_ id: Int) throws -> Product.Category? {
        try database.read { db in
            let select = try db.cachedStatement(sql: "SELECT id, name, image FROM shop_category WHERE id = ?")
            return try Product.Category.fetchOne(select, arguments: [id])
        }
    }

    func hasCategories() throws -> Bool {
        try database.read { try Int.fetchOne(try $0.cachedStatement(sql: Self.countCategories)) ?? 0 > 0 }
    }

    // Another response may have other positions: a page begins after the category, or at its old position.
    static let selectCategories = """
        SELECT id, name, image, position FROM shop_category
        WHERE position > coalesce((SELECT position FROM shop_category WHERE id = :id), :position)
        ORDER BY position LIMIT :limit
        """
    static let countCategories = "SELECT max(position) + 1 FROM shop_category"
}

extension Product.Category: FetchableRecord {
    init(row: Row) throws { try self.init(id: row.value("id"), name: row.value("name"), image: row.value("image")) }
}

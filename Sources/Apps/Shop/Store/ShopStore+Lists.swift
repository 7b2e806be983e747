import Database
import Foundation
import Freshness
import GRDB
import Screens
import Upstream

extension ShopStore {
    /// Maximum number of lines of a list.
    static let maximumItems = 1000

    /// Returns the list of a profile, in its order. The products come without descriptions and pictures.
    func list(_ profile: String) throws -> ShoppingList {
        try database.read { try Self.list(profile, $0) }
    }

    static func list(_ profile: String, _ db: Database) throws -> ShoppingList {
        let items = try Row.fetchAll(try db.cachedStatement(sql: selectList), arguments: [profile]).map(ListItem.init)
        return ShoppingList(items: items, revision: try listRevision(profile, db))
    }

    private static func listRevision(_ profile: String, _ db: Database) throws -> Int {
        try Int.fetchOne(
            try db.cachedStatement(sql: "SELECT revision FROM shop_profile WHERE profile = ?"),
            arguments: [profile]
        ) ?? 0
    }

    private static func select(_ columns: String) -> String {
        """
        SELECT item.product_id, item.ordinal, item.quantity, item.title, item.price, item.category_id,
            item.category_name, item.made_at, \(columns),
            current.gone AS current_gone, current.title AS current_title, current.made_at AS current_made_at
        FROM shop_list_item AS item LEFT JOIN shop_product AS current ON current.id = item.product_id
        WHERE item.profile = ?
        """
    }

    static let selectList = select("'' AS description, '[]' AS images") + " ORDER BY item.position"
    static let selectLines = select("item.description, item.images") + " AND item.product_id = ? ORDER BY item.ordinal"

    /// Returns the lines that have, or had, a product id, with whole products.
    func lines(of productID: Int, _ profile: String) throws -> [ListItem] {
        try database.read { try Self.lines(of: productID, profile, $0) }
    }

    private static func lines(of productID: Int, _ profile: String, _ db: Database) throws -> [ListItem] {
        try Row.fetchAll(try db.cachedStatement(sql: selectLines), arguments: [profile, productID]).map(ListItem.init)
    }

    /// Returns the lines that have products, by the ids of the products; a line whose id was another product's when it
    /// was added is left out.
    func cart(of products: [Product], _ profile: String) throws -> [Int: CartLine] {
        try database.read { db in
            try products.reduce(into: [:]) { cart, product in
                let line = try Self.lines(of: product.id, profile, db).last { product.isSame(as: $0.product) }
                cart[product.id] = line.map { CartLine(id: $0.id, quantity: $0.quantity) }
            }
        }
    }

    /// Returns the ids of the products on all lists that the upstream is not known to miss.
    func listedProducts() throws -> Set<Int> {
        try database.read { try Int.fetchSet($0, sql: Self.selectListedProducts) }
    }

    static let selectListedProducts = """
        SELECT item.product_id FROM shop_list_item AS item JOIN shop_product AS current ON current.id = item.product_id
        WHERE current.gone = 0
        """

    private static let countItems = "SELECT count(*) FROM shop_list_item WHERE profile = ?"

    /// The outcome of an addition.
    enum Addition: Sendable, Equatable {
        case added(ListItemID)
        case alreadyThere
        case full
    }

    /// Appends a product to a list unless it is on it. Of two concurrent additions of one product, the second finds it
    /// there.
    ///
    /// - Throws: ``Problem`` 412; `StorageError`, `CancellationError`.
    func add(
        _ product: Product,
        quantity: Int,
        to profile: String,
        if preconditions: WritePreconditions = .none
    ) async throws -> (Addition, ShoppingList) {
        try await change(profile, if: preconditions) { db in
            let lines = try Self.lines(of: product.id, profile, db)
            guard !lines.contains(where: { product.isSame(as: $0.product) }) else { return .alreadyThere }
            let count = try Int.fetchOne(db, sql: Self.countItems, arguments: [profile]) ?? 0
            guard count < Self.maximumItems else { return .full }
            let id = ListItemID(productID: product.id, ordinal: (lines.last?.id.ordinal ?? 0) + 1)
            try db.cachedStatement(sql: Self.insertItem)
                .execute(arguments: try product.columns + [profile, product.id, id.ordinal, quantity, profile])
            return .added(id)
        }
    }

    private static let insertItem = """
        INSERT INTO shop_list_item (
            title, description, price, category_id, category_name, images, made_at, profile, product_id, ordinal,
            quantity, position
        ) VALUES (
            ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
            (SELECT coalesce(max(position), 0) + 1 FROM shop_list_item WHERE profile = ?)
        )
        """

    /// Sets the quantity of a line; false if it is not on the list.
    ///
    /// - Throws: ``Problem`` 412; `StorageError`, `CancellationError`.
    func setQuantity(
        _ quantity: Int,
        of id: ListItemID,
        _ profile: String,
        if preconditions: WritePreconditions = .none
    ) async throws -> (Bool, ShoppingList) {
        try await change(profile, if: preconditions, isMissing: Self.isUnlisted) { db in
            try db.cachedStatement(sql: "UPDATE shop_list_item SET quantity = ? \(Self.whereItem)")
                .execute(arguments: [quantity, profile, id.productID, id.ordinal])
            return db.changesCount > 0
        }
    }

    /// Removes a line from the list; false if it is not on it.
    ///
    /// - Throws: ``Problem`` 412; `StorageError`, `CancellationError`.
    func remove(_ id: ListItemID, _ profile: String, if preconditions: WritePreconditions = .none) async throws
        -> (Bool, ShoppingList)
    {
        try await change(profile, if: preconditions, isMissing: Self.isUnlisted) { db in
            try db.cachedStatement(sql: "DELETE FROM shop_list_item \(Self.whereItem)")
                .execute(arguments: [profile, id.productID, id.ordinal])
            return db.changesCount > 0
        }
    }

    private static let isUnlisted: @Sendable (Bool) -> Bool = { isListed in !isListed }
    static let whereItem = "WHERE profile = ? AND product_id = ? AND ordinal = ?"

    /// Empties the list; false if it was empty.
    ///
    /// - Throws: ``Problem`` 412; `StorageError`, `CancellationError`.
    func clear(_ profile: String, if preconditions: WritePreconditions = .none) async throws -> (Bool, ShoppingList) {
        try await change(profile, if: preconditions) { db in
            try db.execute(sql: "DELETE FROM shop_list_item WHERE profile = ?", arguments: [profile])
            return db.changesCount > 0
        }
    }

    /// Changes a list in a transaction that also counts its revision.
    ///
    /// - Parameters:
    ///   - preconditions: Compared with the revision before the change.
    ///   - isMissing: Whether there is nothing to change, which comes before the preconditions (RFC 9110 §13.2.1).
    func change<Result: Sendable>(
        _ profile: String,
        if preconditions: WritePreconditions,
        isMissing: @escaping @Sendable (Result) -> Bool = { _ in false },
        _ change: @escaping @Sendable (Database) throws -> Result
    ) async throws -> (Result, ShoppingList) {
        try await database.write { [profileChanges] db in
            let before = db.totalChangesCount
            let result = try change(db)
            if !isMissing(result) { try preconditions.check(version: try Self.listRevision(profile, db)) }
            if db.totalChangesCount != before {
                profileChanges[profile].bump(afterCommitOf: db)
                try db.execute(sql: Self.countRevision, arguments: [profile])
            }
            return (result, try Self.list(profile, db))
        }
    }

    private static let countRevision = """
        INSERT INTO shop_profile (profile, revision, text, filters) VALUES (?, 1, NULL, '{}')
        ON CONFLICT (profile) DO UPDATE SET revision = revision + 1
        """
}

extension ListItem {
    /// Decodes a row of ``ShopStore/selectList`` or ``ShopStore/selectLines``.
    fileprivate init(row: Row) throws {
        let id = ListItemID(productID: row["product_id"], ordinal: row["ordinal"])
        let product = try Product(row: row, id: id.productID)
        let isSame =
            (row["current_title"] as String?).map { product.isSame(asTitle: $0, madeAt: row["current_made_at"]) }
            ?? true
        let isGone: Bool = row["current_gone"] ?? true
        self.init(
            id: id,
            product: product,
            quantity: row["quantity"],
            difference: !isSame ? .replaced : isGone ? .gone : nil
        )
    }
}

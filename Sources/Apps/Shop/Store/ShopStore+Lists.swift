import Cluster
import Concurrency
import GRDB
import Screens
import Storage
import Upstream

extension ShopStore {
    /// Maximum number of lines of a list.
    static let maximumItems = 1000

    private static let selectLastOrdinal =
        "SELECT max(ordinal) FROM shop_list_item WHERE profile = ? AND product_id = ?"
    private static let hasFollowed =
        "SELECT EXISTS (SELECT 1 FROM shop_list_item WHERE profile = ? AND slug = ? AND title = ?)"
    private static let countItems = "SELECT count(*) FROM shop_list_item WHERE profile = ?"

    /// Appends a product to a list unless it is on it. Of two concurrent additions of one product, the second finds it
    /// there.
    ///
    /// - Parameter page: The part of the list to return.
    /// - Returns: The list with the new line as ``ShoppingList/changedLine``; without one if the product was there.
    /// - Throws: ``Problem`` 412, 422 `list-full`.
    func add(
        _ product: Product,
        quantity: Int,
        to profile: String,
        if preconditions: WritePreconditions = .none,
        showing page: PageRequest = firstPage
    ) async throws -> ShoppingList {
        try await change(profile, if: preconditions, showing: page) { db in
            try Self.insert(product, quantity: quantity, to: profile, db)
        }
    }

    /// Appends a product of a test's document to a list; false if it is on it.
    func seed(_ product: Product, quantity: Int, to profile: String, _ db: Database) throws -> Bool {
        let line = try Self.insert(product, quantity: quantity, to: profile, db)
        profileChanges[profile].bump(afterCommitOf: db)
        try db.execute(sql: Self.countRevision, arguments: [profile])
        return line != nil
    }

    /// - Returns: The new line; nil if the product was there.
    private static func insert(_ product: Product, quantity: Int, to profile: String, _ db: Database) throws
        -> ListItemID?
    {
        let lines = try lines(of: product.id, profile, db)
        guard !lines.contains(where: { product.isSame(as: $0.product) }) else { return nil }
        // A line that has followed the product to another id, by its own columns: they are the same on all servers.
        let followed: StatementArguments = [profile, product.slug, product.title]
        guard try !(Bool.fetchOne(db, sql: hasFollowed, arguments: followed) ?? false) else { return nil }
        let count = try Int.fetchOne(db, sql: countItems, arguments: [profile]) ?? 0
        guard count < maximumItems else {
            let isList = ListKind.read(profile).kind == .list
            let detail = isList ? Text.listFull(maximumItems) : .favouritesFull(maximumItems)
            throw Problem.validation([.field("/product_id", "list-full", detail)])
        }
        let last = try Int.fetchOne(db, sql: selectLastOrdinal, arguments: [profile, product.id]) ?? 0
        let id = ListItemID(productID: product.id, ordinal: last + 1)
        try db.cachedStatement(sql: insertItem)
            .execute(arguments: try product.columns + [profile, product.id, id.ordinal, quantity, profile])
        return id
    }

    private static let insertItem = """
        INSERT INTO shop_list_item (
            title, description, price, category_id, category_name, images, made_at, slug, profile, product_id, ordinal,
            quantity, position
        ) VALUES (
            ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
            (SELECT coalesce(max(position), 0) + 1 FROM shop_list_item WHERE profile = ?)
        )
        """

    /// - Parameter page: The part of the list to return.
    /// - Throws: ``Problem`` 404, 412, 422 `out-of-bounds` if no line may have the quantity that it would be.
    func change(
        _ wanted: LineChange,
        of id: ListItemID,
        _ profile: String,
        if preconditions: WritePreconditions = .none,
        showing page: PageRequest = firstPage
    ) async throws -> ShoppingList {
        try await change(profile, of: id, if: preconditions, showing: page) { db in
            if case .bought(let isBought) = wanted {
                try db.cachedStatement(sql: "UPDATE shop_list_item SET bought = ? \(Self.whereItem)")
                    .execute(arguments: [isBought, profile, id.productID, id.ordinal])
                return id
            }
            guard let quantity = try Self.quantity(of: id, profile, db).flatMap(wanted.applied) else {
                throw Problem.validation([.field("/by", "out-of-bounds", .quantities)], dialog: .quantity)
            }
            try db.cachedStatement(sql: "UPDATE shop_list_item SET quantity = ?, was_price = NULL \(Self.whereItem)")
                .execute(arguments: [quantity, profile, id.productID, id.ordinal])
            return id
        }
    }

    private static func quantity(of id: ListItemID, _ profile: String, _ db: Database) throws -> Int? {
        let select = try db.cachedStatement(sql: "SELECT quantity FROM shop_list_item \(whereItem)")
        return try Int.fetchOne(select, arguments: [profile, id.productID, id.ordinal])
    }

    /// Removes a line from the list.
    ///
    /// - Parameter page: The part of the list to return.
    /// - Throws: ``Problem`` 404, 412.
    func remove(
        _ id: ListItemID,
        _ profile: String,
        if preconditions: WritePreconditions = .none,
        showing page: PageRequest = firstPage
    ) async throws -> ShoppingList {
        try await change(profile, of: id, if: preconditions, showing: page) { db in
            try db.cachedStatement(sql: "DELETE FROM shop_list_item \(Self.whereItem)")
                .execute(arguments: [profile, id.productID, id.ordinal])
            return nil
        }
    }

    static let whereItem = "WHERE profile = ? AND product_id = ? AND ordinal = ?"

    /// Empties the list.
    ///
    /// - Throws: ``Problem`` 412.
    func clear(
        _ profile: String,
        if preconditions: WritePreconditions = .none,
        showing page: PageRequest = firstPage
    ) async throws -> ShoppingList {
        try await change(profile, if: preconditions, showing: page) { db in
            try db.execute(sql: "DELETE FROM shop_list_item WHERE profile = ?", arguments: [profile])
            return nil
        }
    }

    /// Changes a list in a transaction that also counts its revision.
    ///
    /// - Parameters:
    ///   - id: The line that has to be there, which is checked before the preconditions (RFC 9110 §13.2.1).
    ///   - preconditions: Compared with the revision before the change.
    ///   - page: The part of the list to return: a write does not take longer the longer the list is.
    ///   - change: Returns the line that was changed, to be returned as well.
    private func change(
        _ profile: String,
        of id: ListItemID? = nil,
        if preconditions: WritePreconditions,
        showing page: PageRequest,
        _ change: @escaping @Sendable (Database) throws -> ListItemID?
    ) async throws -> ShoppingList {
        try await users.write(scope: Self.scope(profile)) { [profileChanges] db in
            if let id, try Self.quantity(of: id, profile, db) == nil { throw Problem.notListed }
            try preconditions.check(version: try Self.listRevision(profile, db))
            let before = db.totalChangesCount
            let line = try change(db)
            let isChanged = db.totalChangesCount != before
            if isChanged {
                profileChanges[profile].bump(afterCommitOf: db)
                try db.execute(sql: Self.countRevision, arguments: [profile])
            }
            var list = try Self.list(profile, page, db)
            list.isChanged = isChanged
            list.changedLine = try line.flatMap { try Self.line($0, profile, db) }
            return list
        }
    }

    static let countRevision = """
        INSERT INTO shop_profile (profile, revision, text, filters) VALUES (?, 1, NULL, '{}')
        ON CONFLICT (profile) DO UPDATE SET revision = revision + 1
        """
}

/// Another order of a list: every line once.
enum ListOrder: Sendable, Equatable {
    case items([ListItemID])
    /// By the ids of the products, each of which is on the list once.
    case products([Int])

    /// The field of a request that has it.
    var field: String {
        switch self {
        case .items: "item_ids"
        case .products: "product_ids"
        }
    }
}

extension ShopStore {
    /// Reorders the list.
    ///
    /// - Throws: ``Problem`` 412, 422 `not-the-list` unless the order names every line once.
    func order(
        _ order: ListOrder,
        _ profile: String,
        if preconditions: WritePreconditions = .none,
        showing page: PageRequest = firstPage
    ) async throws -> ShoppingList {
        try await change(profile, if: preconditions, showing: page) { db in
            let present = try Row.fetchAll(db, sql: Self.selectItemIDs, arguments: [profile]).map {
                try (id: ListItemID(productID: $0.value(0), ordinal: $0.value(1)), product: $0.value(2) as Int)
            }
            guard let ids = order.ids(among: present) else {
                let field = order.field
                let detail: Text = "\(field) must name every line of the list once, and no other."
                throw Problem.validation([.field("/\(field)", "not-the-list", detail)], dialog: .otherList)
            }
            let update = try db.cachedStatement(sql: "UPDATE shop_list_item SET position = ? \(Self.whereItem)")
            for (position, id) in ids.enumerated() {
                try update.execute(arguments: [position + 1, profile, id.productID, id.ordinal])
            }
            return nil
        }
    }

    private static let selectItemIDs =
        "SELECT product_id, ordinal, \(currentID) FROM shop_list_item AS item WHERE profile = ?"
}

extension ListOrder {
    /// Returns the lines in this order; nil unless it names each of them once.
    ///
    /// - Parameter present: The lines, with the present ids of their products.
    func ids(among present: [(id: ListItemID, product: Int)]) -> [ListItemID]? {
        let ids: [ListItemID]
        switch self {
        case .items(let items):
            ids = items
        case .products(let products):
            let lines = Dictionary(grouping: present, by: { $0.product })
            ids = products.compactMap { id in lines[id].flatMap { $0.count == 1 ? $0.first?.id : nil } }
            guard ids.count == products.count else { return nil }
        }
        return ids.count == present.count && Set(ids) == Set(present.map { $0.id }) ? ids : nil
    }
}

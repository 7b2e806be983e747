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

    /// The outcome of an addition.
    enum Addition: Sendable, Equatable {
        case added(ListItemID)
        case alreadyThere
        case full

        var added: ListItemID? { if case .added(let id) = self { id } else { nil } }
    }

    /// Appends a product to a list unless it is on it. Of two concurrent additions of one product, the second finds it
    /// there.
    ///
    /// - Parameter page: The part of the list to return.
    /// - Throws: ``Problem`` 412; `StorageError`, `ClusterError`, `CancellationError`.
    func add(
        _ product: Product,
        quantity: Int,
        to profile: String,
        if preconditions: WritePreconditions = .none,
        showing page: PageRequest = firstPage
    ) async throws -> (Addition, ShoppingList) {
        try await change(profile, if: preconditions, showing: page, item: \.added) { db in
            try Self.insert(product, quantity: quantity, to: profile, db)
        }
    }

    /// Appends a product of a test's document to a list unless it is on it.
    func seed(_ product: Product, quantity: Int, to profile: String, _ db: Database) throws -> Addition {
        let addition = try Self.insert(product, quantity: quantity, to: profile, db)
        profileChanges[profile].bump(afterCommitOf: db)
        try db.execute(sql: Self.countRevision, arguments: [profile])
        return addition
    }

    private static func insert(_ product: Product, quantity: Int, to profile: String, _ db: Database) throws
        -> Addition
    {
        let lines = try lines(of: product.id, profile, db)
        guard !lines.contains(where: { product.isSame(as: $0.product) }) else { return .alreadyThere }
        // A line that has followed the product to another id, by its own columns: they are the same on all servers.
        let followed: StatementArguments = [profile, product.slug, product.title]
        guard try !(Bool.fetchOne(db, sql: hasFollowed, arguments: followed) ?? false) else { return .alreadyThere }
        let count = try Int.fetchOne(db, sql: countItems, arguments: [profile]) ?? 0
        guard count < maximumItems else { return .full }
        let last = try Int.fetchOne(db, sql: selectLastOrdinal, arguments: [profile, product.id]) ?? 0
        let id = ListItemID(productID: product.id, ordinal: last + 1)
        try db.cachedStatement(sql: insertItem)
            .execute(arguments: try product.columns + [profile, product.id, id.ordinal, quantity, profile])
        return .added(id)
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

    /// The outcome of a change of a line.
    enum LineOutcome: Sendable {
        case changed
        /// No line may have the quantity that it would be.
        case outOfBounds
        case notListed
    }

    /// Changes a line.
    ///
    /// - Parameter page: The part of the list to return.
    /// - Throws: ``Problem`` 412; `StorageError`, `ClusterError`, `CancellationError`.
    func change(
        _ wanted: LineChange,
        of id: ListItemID,
        _ profile: String,
        if preconditions: WritePreconditions = .none,
        showing page: PageRequest = firstPage
    ) async throws -> (LineOutcome, ShoppingList) {
        let update: @Sendable (Database) throws -> LineOutcome = { db in
            if case .bought(let isBought) = wanted {
                try db.cachedStatement(sql: "UPDATE shop_list_item SET bought = ? \(Self.whereItem)")
                    .execute(arguments: [isBought, profile, id.productID, id.ordinal])
                return db.changesCount > 0 ? .changed : .notListed
            }
            let select = try db.cachedStatement(sql: "SELECT quantity FROM shop_list_item \(Self.whereItem)")
            let before = try Int.fetchOne(select, arguments: [profile, id.productID, id.ordinal])
            guard let before else { return .notListed }
            guard let after = wanted.applied(to: before) else { return .outOfBounds }
            try db.cachedStatement(sql: "UPDATE shop_list_item SET quantity = ?, was_price = NULL \(Self.whereItem)")
                .execute(arguments: [after, profile, id.productID, id.ordinal])
            return .changed
        }
        return try await change(
            profile,
            if: preconditions,
            showing: page,
            isMissing: { $0 == .notListed },
            item: { $0 == .changed ? id : nil },
            update
        )
    }

    /// Removes a line from the list; false if it is not on it.
    ///
    /// - Parameter page: The part of the list to return.
    /// - Throws: ``Problem`` 412; `StorageError`, `ClusterError`, `CancellationError`.
    func remove(
        _ id: ListItemID,
        _ profile: String,
        if preconditions: WritePreconditions = .none,
        showing page: PageRequest = firstPage
    ) async throws -> (Bool, ShoppingList) {
        try await change(profile, if: preconditions, showing: page, isMissing: (!)) { db in
            try db.cachedStatement(sql: "DELETE FROM shop_list_item \(Self.whereItem)")
                .execute(arguments: [profile, id.productID, id.ordinal])
            return db.changesCount > 0
        }
    }

    static let whereItem = "WHERE profile = ? AND product_id = ? AND ordinal = ?"

    /// Empties the list; false if it was empty.
    ///
    /// - Throws: ``Problem`` 412; `StorageError`, `ClusterError`, `CancellationError`.
    func clear(
        _ profile: String,
        if preconditions: WritePreconditions = .none,
        showing page: PageRequest = firstPage
    ) async throws -> (Bool, ShoppingList) {
        try await change(profile, if: preconditions, showing: page) { db in
            try db.execute(sql: "DELETE FROM shop_list_item WHERE profile = ?", arguments: [profile])
            return db.changesCount > 0
        }
    }

    /// Changes a list in a transaction that also counts its revision.
    ///
    /// - Parameters:
    ///   - preconditions: Compared with the revision before the change.
    ///   - page: The part of the list to return: a write does not take longer the longer the list is.
    ///   - isMissing: Whether there is nothing to change, which comes before the preconditions (RFC 9110 §13.2.1).
    ///   - item: The line that was changed, to be returned as well.
    func change<Result: Sendable>(
        _ profile: String,
        if preconditions: WritePreconditions,
        showing page: PageRequest,
        isMissing: @escaping @Sendable (Result) -> Bool = { _ in false },
        item: @escaping @Sendable (Result) -> ListItemID? = { _ in nil },
        _ change: @escaping @Sendable (Database) throws -> Result
    ) async throws -> (Result, ShoppingList) {
        try await users.write(scope: Self.scope(profile)) { [profileChanges] db in
            let before = db.totalChangesCount
            let result = try change(db)
            if !isMissing(result) { try preconditions.check(version: try Self.listRevision(profile, db)) }
            if db.totalChangesCount != before {
                profileChanges[profile].bump(afterCommitOf: db)
                try db.execute(sql: Self.countRevision, arguments: [profile])
            }
            var list = try Self.list(profile, page, db)
            list.changed = try item(result).flatMap { try Self.line($0, profile, db) }
            return (result, list)
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
}

extension ShopStore {
    /// Reorders the list; false unless the order names every line once.
    ///
    /// - Throws: ``Problem`` 412; `StorageError`, `ClusterError`, `CancellationError`.
    func order(
        _ order: ListOrder,
        _ profile: String,
        if preconditions: WritePreconditions = .none,
        showing page: PageRequest = firstPage
    ) async throws -> (Bool, ShoppingList) {
        try await change(profile, if: preconditions, showing: page) { db in
            let present = try Row.fetchAll(db, sql: Self.selectItemIDs, arguments: [profile]).map {
                try (id: ListItemID(productID: $0.value(0), ordinal: $0.value(1)), product: $0.value(2) as Int)
            }
            guard let ids = order.ids(among: present) else { return false }
            let update = try db.cachedStatement(sql: "UPDATE shop_list_item SET position = ? \(Self.whereItem)")
            for (position, id) in ids.enumerated() {
                try update.execute(arguments: [position + 1, profile, id.productID, id.ordinal])
            }
            return true
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

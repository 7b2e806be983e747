import AppInterface
import Database
import Foundation
import Freshness
import Screens
import SharedStore

/// What the profiles of the Shop app have made, in a store that several servers share.
///
/// Each change of a profile has the turn of the profile: what it reads is what it changes. What is known of products
/// is this server's own, so that a list is read in two steps: its lines here, then their products there.
struct SharedShop: ShopProfiles {
    let database: SharedDatabase
    let changes: SharedChanges
    /// The products that this server has seen.
    let catalogue: ShopStore

    init(_ access: SharedStoreAccess, catalogue: ShopStore) {
        (database, changes) = (access.database, access.changes)
        self.catalogue = catalogue
    }

    func changeToken(_ profile: String) -> ChangeToken {
        // A line says how its product differs from what this server knows of it.
        changes.token(of: Self.topic(profile)).and(ChangeToken(of: catalogue.catalogueChanges))
    }

    private static func topic(_ profile: String) -> String {
        ServerEvent.Audience.profile(app: ShopStore.app, profile: profile).topic
    }

    /// Changes what a profile has made, one change after the other.
    func write<Value: Sendable>(
        of profile: String,
        _ updates: @escaping @Sendable (SQLTransaction) throws -> Value
    ) async throws -> Value {
        // Others learn of a list by the event that is published next.
        defer { changes.changed(Self.topic(profile)) }
        return try await database.write(turns: ["shop/\(profile)"], updates)
    }

    func add(
        _ product: Product,
        quantity: Int,
        to profile: String,
        if preconditions: WritePreconditions,
        showing page: PageRequest
    ) async throws -> (ShopStore.Addition, ShoppingList) {
        let fetchedAt = try catalogue.product(product.id)?.fetchedAt ?? .distantPast
        return try await change(profile, if: preconditions, showing: page, item: \.added) { transaction in
            let addition = try Self.insert(product, fetchedAt: fetchedAt, quantity: quantity, to: profile, transaction)
            return (addition, addition.added != nil)
        }
    }

    private static func insert(
        _ product: Product,
        fetchedAt: Date,
        quantity: Int,
        to profile: String,
        _ transaction: SQLTransaction
    ) throws -> ShopStore.Addition {
        let lines = try SharedLine.all(of: product.id, profile, transaction)
        guard !lines.contains(where: { product.isSame(as: $0.item.product) }) else { return .alreadyThere }
        let ends = try transaction.rows(selectEnds, [profile]).first
        guard try ends?.value("lines") ?? 0 < ShopStore.maximumItems else { return .full }
        let id = ListItemID(productID: product.id, ordinal: (lines.last?.item.id.ordinal ?? 0) + 1)
        let position: Int = (try ends?.value("last") ?? 0) + 1
        try transaction.execute(
            """
            INSERT INTO shop_list_item (
                title, description, price, category_id, category_name, images, made_at, fetched_at, profile, product_id,
                ordinal, quantity, position
            ) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
            """,
            try SharedLine.columns(of: product, fetchedAt: fetchedAt)
                + [profile, id.productID, id.ordinal, quantity, position]
        )
        return .added(id)
    }

    private static let selectEnds = """
        SELECT count(*) AS lines, coalesce(max(position), 0) AS last FROM shop_list_item WHERE profile = $1
        """

    func change(
        _ quantity: QuantityChange,
        of id: ListItemID,
        _ profile: String,
        if preconditions: WritePreconditions,
        showing page: PageRequest
    ) async throws -> (ShopStore.QuantityOutcome, ShoppingList) {
        let update: @Sendable (SQLTransaction) throws -> (result: ShopStore.QuantityOutcome, hasChanged: Bool) = {
            transaction in
            let line: [any SQLParameter] = [profile, id.productID, id.ordinal]
            let rows = try transaction.rows("SELECT quantity FROM shop_list_item \(Self.whereLine)", line)
            guard let row = rows.first else { return (.notListed, false) }
            guard let after = quantity.applied(to: try row.value("quantity")) else { return (.outOfBounds, false) }
            try transaction.execute("UPDATE shop_list_item SET quantity = $4 \(Self.whereLine)", line + [after])
            return (.changed, true)
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

    func remove(
        _ id: ListItemID,
        _ profile: String,
        if preconditions: WritePreconditions,
        showing page: PageRequest
    ) async throws -> (Bool, ShoppingList) {
        try await change(profile, if: preconditions, showing: page, isMissing: (!)) { transaction in
            let delete = "DELETE FROM shop_list_item \(Self.whereLine)"
            let isListed = try transaction.execute(delete, [profile, id.productID, id.ordinal]) > 0
            return (isListed, isListed)
        }
    }

    static let whereLine = "WHERE profile = $1 AND product_id = $2 AND ordinal = $3"

    func clear(_ profile: String, if preconditions: WritePreconditions, showing page: PageRequest) async throws
        -> (Bool, ShoppingList)
    {
        try await change(profile, if: preconditions, showing: page) { transaction in
            let count = try transaction.execute("DELETE FROM shop_list_item WHERE profile = $1", [profile])
            return (count > 0, count > 0)
        }
    }

    func order(
        _ order: ListOrder,
        _ profile: String,
        if preconditions: WritePreconditions,
        showing page: PageRequest
    ) async throws -> (Bool, ShoppingList) {
        try await change(profile, if: preconditions, showing: page) { transaction in
            let select = "SELECT product_id, ordinal FROM shop_list_item WHERE profile = $1"
            let present = try transaction.rows(select, [profile]).map { try ListItemID($0) }
            guard let ids = order.ids(among: present) else { return (false, false) }
            try transaction.execute(Self.updatePositions, [profile, ids.map(\.productID), ids.map(\.ordinal)])
            return (true, !ids.isEmpty)
        }
    }

    private static let updatePositions = """
        UPDATE shop_list_item AS item SET position = new.position
        FROM unnest($2, $3) WITH ORDINALITY AS new (product_id, ordinal, position)
        WHERE item.profile = $1 AND item.product_id = new.product_id AND item.ordinal = new.ordinal
        """
}

import GRDB
import Screens
import Storage

/// Another order of a list: every line once.
enum ListOrder: Sendable, Equatable {
    case items([ListItemID])
    /// By the ids of the products, each of which is on the list once.
    case products([Int])
}

extension ShopStore {
    /// Reorders the list; false unless the order names every line once.
    ///
    /// - Throws: ``Problem`` 412; `StorageError`, `SharedStoreError`, `CancellationError`.
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

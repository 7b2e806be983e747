import Cluster
import Concurrency
import GRDB
import Storage

// Later versions of products on the lists of several servers. A server by itself writes them with the products.
extension ShopStore {
    /// Renews lists in the background, because the catalogue is shown whether they can be written or not. A renewal
    /// that fails is made up for after the next confirmation of the product.
    ///
    /// - Parameter ids: Products whose stored versions the upstream has just confirmed.
    func startRenewal(of ids: [Int]) {
        guard users.isShared else { return }
        renewals.start { [self] in try? await renewLists(of: ids) }
    }

    /// Replaces products on lists by later versions of them. The order in which servers have received them decides,
    /// not their clocks.
    ///
    /// - Throws: `StorageError`, `SharedStoreError`, `CancellationError`.
    func renewLists(of ids: [Int]) async throws {
        guard users.isShared, try await users.catchUp() == nil else { return }
        let ids = ids.jsonArray
        let profiles = try users.read {
            try String.fetchAll($0.cachedStatement(sql: Self.selectOutdated), arguments: [ids])
        }
        for profile in profiles {
            let revision = try await users.write(scope: Self.scope(profile)) { db in
                try db.cachedStatement(sql: Self.renewItems).execute(arguments: [ids, profile])
                guard db.changesCount > 0 else { return nil as Int? }
                try db.cachedStatement(sql: Self.countRevision).execute(arguments: [profile])
                return try Self.listRevision(profile, db)
            }
            if let revision { productListener.changed(.list(profile: profile, revision: revision)) }
        }
    }

    private static let copied = ["title", "description", "price", "category_id", "category_name", "images", "made_at"]

    private static let isOutdated = """
        current.id IN (SELECT value FROM json_each(?)) AND current.gone = 0 AND item.product_id = current.id
            AND (item.title = current.title OR item.made_at = current.made_at)
            AND (\(copied.map { "item.\($0)" }.joined(separator: ", ")))
                IS NOT (\(copied.map { "current.\($0)" }.joined(separator: ", ")))
        """

    static let selectOutdated = """
        SELECT DISTINCT item.profile FROM shop_product AS current CROSS JOIN shop_list_item AS item
        WHERE \(isOutdated) ORDER BY item.profile
        """

    static let renewItems = """
        UPDATE shop_list_item AS item SET \(copied.map { "\($0) = current.\($0)" }.joined(separator: ", "))
        FROM shop_product AS current WHERE \(isOutdated) AND item.profile = ?
        """
}

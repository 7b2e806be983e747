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
        let (changed, ids) = (ids, ids.jsonArray)
        let profiles = try users.read { db in
            let outdated = try String.fetchSet(db.cachedStatement(sql: Self.selectOutdated), arguments: ["ids": ids])
            return try outdated.union(Self.moves(after: changed, db).map(\.profile)).sorted()
        }
        for profile in profiles {
            let revision = try await users.write(scope: Self.scope(profile)) { db in
                let before = db.totalChangesCount
                try db.cachedStatement(sql: Self.renewItems(of: "AND item.profile = :profile"))
                    .execute(arguments: ["ids": ids, "profile": profile])
                _ = try Self.moveLines(after: changed, of: profile, db)
                guard db.totalChangesCount != before else { return nil as Int? }
                try db.cachedStatement(sql: Self.countRevision).execute(arguments: [profile])
                return try Self.listRevision(profile, db)
            }
            if let revision { productListener.changed(.list(profile: profile, revision: revision)) }
        }
    }

    private static let copied = [
        "title", "description", "price", "category_id", "category_name", "images", "made_at", "slug",
    ]

    private static let isOutdated = """
        current.id IN (SELECT value FROM json_each(:ids)) AND current.gone = 0 AND item.product_id = current.id
            AND (item.title = current.title OR item.made_at = current.made_at)
            AND (\(copied.map { "item.\($0)" }.joined(separator: ", ")))
                IS NOT (\(copied.map { "current.\($0)" }.joined(separator: ", ")))
        """

    static let selectOutdated = """
        SELECT DISTINCT item.profile FROM shop_product AS current CROSS JOIN shop_list_item AS item
        WHERE \(isOutdated) ORDER BY item.profile
        """

    /// Replaces products on lists by the present version of the same product (`:ids`).
    ///
    /// - Parameter condition: Restricts the lists.
    static func renewItems(of condition: String = "") -> String {
        """
        UPDATE shop_list_item AS item SET \(copied.map { "\($0) = current.\($0)" }.joined(separator: ", ")),
            was_price = \(earlierPrice)
        FROM shop_product AS current WHERE \(isOutdated) \(condition)
        """
    }

    /// The price that the user has seen last; NULL if it is that of the product again.
    private static let earlierPrice = """
        CASE WHEN item.price = current.price THEN item.was_price
            WHEN coalesce(item.was_price, item.price) = current.price THEN NULL
            ELSE coalesce(item.was_price, item.price) END
        """
}

// Every night the upstream makes its products anew, with other ids: a line follows its product.
extension ShopStore {
    /// A line whose product has another id now.
    struct Move: Sendable {
        let profile: String
        let id: ListItemID
        let product: Product
        let wasPrice: String?
    }

    /// Returns the lines whose id is no longer their product's, if the product is known under another one: by its slug,
    /// or else by title and category.
    ///
    /// - Parameter ids: Products that are new or have changed.
    static func moves(after ids: [Int], of profile: String? = nil, _ db: Database) throws -> [Move] {
        let arguments: StatementArguments = ["ids": ids.jsonArray, "profile": profile]
        return try Row.fetchAll(db.cachedStatement(sql: selectMoves), arguments: arguments).compactMap { row in
            let successor: Int = try row.value("successor")
            guard let known = try known(successor, db) else { return nil }
            let (price, was): (String, String?) = try (row.value("price"), row.value("was_price"))
            let seen = was ?? price
            return try Move(
                profile: row.value("profile"),
                id: ListItemID(productID: row.value("product_id"), ordinal: row.value("ordinal")),
                product: known.product,
                wasPrice: Price(stored: seen) == known.product.price ? nil : seen
            )
        }
    }

    /// Gives lines the present ids of their products, unless the product is on the list already.
    ///
    /// - Returns: The profiles whose lists have changed.
    static func moveLines(after ids: [Int], of profile: String? = nil, _ db: Database) throws -> [String] {
        var profiles: [String] = []
        for move in try moves(after: ids, of: profile, db) {
            let present = try lines(of: move.product.id, move.profile, db)
            guard !present.contains(where: { $0.product.isSame(as: move.product) }) else { continue }
            let item: StatementArguments = [move.profile, move.profile, move.id.productID, move.id.ordinal]
            try db.cachedStatement(sql: updateMoved)
                .execute(arguments: try move.product.columns + [move.product.id, move.wasPrice] + item)
            profiles.append(move.profile)
        }
        return profiles
    }

    /// The number is one that no line of the list has: an address that another line had before would change the wrong
    /// product if a page that is still open uses it.
    private static let updateMoved = """
        UPDATE shop_list_item SET \((copied + ["product_id", "was_price"]).map { "\($0) = ?" }.joined(separator: ", ")),
            ordinal = (SELECT max(ordinal) + 1 FROM shop_list_item WHERE profile = ?) \(whereItem)
        """

    /// Whether the id of a line is not its product's any more, as far as is known.
    private static let isOther = """
        (current.gone = 1
            OR item.title <> current.title AND (item.made_at IS NULL OR item.made_at IS NOT current.made_at))
        """

    /// No two products have one slug at a time: one that has just been seen (`:ids`) is the successor of an id that was
    /// not. The last ids first: if all have moved by the same distance, each line finds its new id free.
    static let selectMoves = """
        WITH line (profile, product_id, ordinal) AS (
            SELECT profile, product_id, ordinal FROM shop_list_item
                WHERE product_id IN (SELECT value FROM json_each(:ids))
            UNION SELECT item.profile, item.product_id, item.ordinal
                FROM shop_product AS new CROSS JOIN shop_list_item AS item ON item.title = new.title
                WHERE new.id IN (SELECT value FROM json_each(:ids))
            UNION SELECT item.profile, item.product_id, item.ordinal
                FROM shop_product AS new CROSS JOIN shop_list_item AS item ON item.slug = new.slug
                WHERE new.id IN (SELECT value FROM json_each(:ids))
        )
        SELECT * FROM (
            SELECT item.profile, item.product_id, item.ordinal, item.price, item.was_price, coalesce(
                (SELECT id FROM shop_product AS new WHERE new.slug = item.slug AND new.gone = 0
                    AND (\(isOther) OR new.id IN (SELECT value FROM json_each(:ids))
                        AND item.product_id NOT IN (SELECT value FROM json_each(:ids)))
                    AND new.id <> item.product_id ORDER BY new.fetched_at DESC, new.id DESC LIMIT 1),
                (SELECT id FROM shop_product AS new WHERE new.title = item.title AND new.gone = 0 AND \(isOther)
                    AND new.category_name IS item.category_name ORDER BY new.fetched_at DESC, new.id DESC LIMIT 1)
            ) AS successor
            FROM line JOIN shop_list_item AS item USING (profile, product_id, ordinal)
                JOIN shop_product AS current ON current.id = item.product_id
            WHERE item.profile = :profile OR :profile IS NULL
        ) WHERE successor <> product_id ORDER BY product_id DESC
        """
}

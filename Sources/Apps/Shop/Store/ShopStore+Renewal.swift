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

    /// Replaces products on lists by later versions of them, whatever id these have. The order in which servers have
    /// received them decides, not their clocks.
    func renewLists(of ids: [Int]) async throws {
        guard users.isShared, try await users.catchUp() == nil else { return }
        let profiles = try users.read {
            try String.fetchAll(
                $0.cachedStatement(sql: Self.selectOutdated),
                arguments: ["ids": ids.jsonArray, "changed": ids.jsonArray]
            )
        }
        for profile in profiles {
            let revision = try await users.write(scope: Self.scope(profile)) { db in
                guard try !Self.renew(after: ids, of: profile, db).isEmpty else { return nil as Int? }
                try db.cachedStatement(sql: Self.countRevision).execute(arguments: [profile])
                return try Self.listRevision(profile, db)
            }
            if let revision { changed(.list(profile, revision: revision)) }
        }
    }

    /// Replaces products on lists by the present versions of the same products.
    ///
    /// - Parameters:
    ///   - ids: Products that were seen just now, or are gone.
    ///   - changed: Those of them that lines with their ids may differ from; nil for all.
    ///   - profile: Whose list it is; nil for all lists.
    /// - Returns: The profiles whose lists have changed.
    static func renew(after ids: [Int], changed: [Int]? = nil, of profile: String? = nil, _ db: Database) throws
        -> Set<String>
    {
        guard !ids.isEmpty else { return [] }
        return try String.fetchSet(
            try db.cachedStatement(sql: renewItems),
            arguments: ["ids": ids.jsonArray, "changed": (changed ?? ids).jsonArray, "profile": profile]
        )
    }

    private static let copied = [
        "title", "description", "price", "category_id", "category_name", "images", "made_at", "slug",
    ]

    /// The lines that may be concerned: those of changed products, and those of other ids that may follow a product to
    /// its present id.
    private static let concerned = """
        WITH seen (id) AS (SELECT value FROM json_each(:ids)),
        line (profile, product_id, ordinal) AS (
            SELECT profile, product_id, ordinal FROM json_each(:changed) AS changed
                CROSS JOIN shop_list_item AS item ON \(currentID) = changed.value
            UNION SELECT profile, product_id, ordinal FROM seen
                CROSS JOIN shop_product AS new USING (id) CROSS JOIN shop_list_item AS item ON item.slug = new.slug
                    AND \(currentID) <> seen.id
            UNION SELECT profile, product_id, ordinal FROM seen
                CROSS JOIN shop_product AS new USING (id) CROSS JOIN shop_list_item AS item ON item.title = new.title
                    AND \(currentID) <> seen.id
        )
        """

    /// The present id of a line's product, as far as it is known. The upstream makes all products anew every night,
    /// with other ids. The id is the first of these:
    ///
    /// 1. The product with the line's slug and title that was seen after the line's own product. It is the same one,
    ///    since no two products have one slug at a time. A server without a row of the line's own product skips this
    ///    case.
    /// 2. The line's own product, if it is not gone and has the line's title or time of creation.
    /// 3. The product with the line's slug.
    /// 4. The product with the line's title and category, if no other product and no other line has both.
    ///
    /// Products of other lines with the same title on the list are excluded, except in the second case.
    private static let presentID = """
        coalesce(
            \(successor("""
                new.slug = item.slug AND new.title = item.title AND new.id IN (SELECT id FROM seen)
                AND \(currentID) NOT IN (SELECT id FROM seen)
                AND new.changed_at >= (SELECT fetched_at FROM shop_product AS own WHERE own.id = \(currentID))
                """)),
            (SELECT id FROM shop_product AS own WHERE own.id = \(currentID) AND own.gone = 0
                AND (own.title = item.title OR own.made_at = item.made_at)),
            \(successor("new.slug = item.slug")),
            \(successor("""
                new.title = item.title AND new.category_name = item.category_name AND 1 = (
                    SELECT count(*) FROM shop_product AS twin
                    WHERE twin.title = new.title AND twin.category_name = new.category_name AND twin.gone = 0
                ) AND 1 = (
                    SELECT count(*) FROM shop_list_item AS other WHERE other.profile = item.profile
                        AND other.title = new.title AND other.category_name = new.category_name
                )
                """))
        )
        """

    private static func successor(_ condition: String) -> String {
        """
        (SELECT id FROM shop_product AS new WHERE \(condition) AND new.gone = 0 AND NOT EXISTS (
            SELECT 1 FROM shop_list_item AS other WHERE other.profile = item.profile AND other.title = new.title
                AND coalesce(other.current_id, other.product_id) = new.id
        ) ORDER BY new.fetched_at DESC, new.id DESC LIMIT 1)
        """
    }

    private static let isOutdated = """
        (\(currentID), \(copied.map { "item.\($0)" }.joined(separator: ", ")))
            IS NOT (current.id, \(copied.map { "current.\($0)" }.joined(separator: ", ")))
            AND EXISTS (SELECT 1 FROM shop_product AS own WHERE own.id = \(currentID))
        """

    static let selectOutdated = """
        \(concerned)
        SELECT DISTINCT item.profile FROM line CROSS JOIN shop_list_item AS item USING (profile, product_id, ordinal)
            CROSS JOIN shop_product AS current ON current.id = \(presentID)
        WHERE \(isOutdated) ORDER BY item.profile
        """

    /// `was_price` is the price that the user has seen last; NULL if it is that of the product again.
    static let renewItems = """
        \(concerned)
        UPDATE shop_list_item AS item SET \(copied.map { "\($0) = current.\($0)" }.joined(separator: ", ")),
            current_id = nullif(current.id, item.product_id),
            was_price = nullif(coalesce(item.was_price, item.price), current.price)
        FROM line CROSS JOIN shop_product AS current
        WHERE item.profile = line.profile AND item.product_id = line.product_id AND item.ordinal = line.ordinal
            AND current.id = \(presentID) AND \(isOutdated) AND (:profile IS NULL OR item.profile = :profile)
        RETURNING profile
        """
}

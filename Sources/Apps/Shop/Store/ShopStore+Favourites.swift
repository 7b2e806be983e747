import Cluster
import Concurrency
import GRDB
import Screens
import Storage
import Upstream

// The favourites of each profile, the last one first. Like a list, they keep their products as they were last seen.
extension ShopStore {
    /// Maximum number of favourites of a profile.
    static let maximumFavourites = 500

    static let favouritesMigration = SchemaMigration(
        "shop/009 favourites",
        sql: """
            CREATE TABLE shop_favourite (
                profile TEXT NOT NULL,
                product_id INTEGER NOT NULL,
                number INTEGER NOT NULL, -- the last one has the largest
                title TEXT NOT NULL,
                description TEXT NOT NULL,
                price TEXT NOT NULL,
                category_id INTEGER,
                category_name TEXT,
                images TEXT NOT NULL,
                made_at TEXT,
                slug TEXT,
                PRIMARY KEY (profile, product_id)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX shop_favourite_by_number ON shop_favourite (profile, number);
            ALTER TABLE shop_profile ADD COLUMN favourite_revision INTEGER NOT NULL DEFAULT 0;
            UPDATE shop_profile SET favourite_revision = 0;
            """
    )

    /// A part of the favourites, read in one transaction with their revision.
    struct Favourites: Sendable {
        var page: ListPage<Favourite>
        let revision: Int
    }

    struct Favourite: Sendable {
        let product: Product
        /// Whether the id is still this product's, as far as is known.
        let isAvailable: Bool
    }

    /// Returns a part of the favourites of a profile.
    func favourites(_ profile: String, _ page: PageRequest) throws -> Favourites {
        try users.read { try Self.favourites(profile, page, $0) }
    }

    private static func favourites(_ profile: String, _ page: PageRequest, _ db: Database) throws -> Favourites {
        var found = try favouritePages.page(page, ["profile": profile], db) { row in
            let product = try Product(row: row, id: row.value("product_id"))
            let title: String? = try row.value("current_title")
            let isGone: Bool = try row.value("current_gone") ?? false
            let madeAt: String? = try row.value("current_made_at")
            let isSame = title.map { product.isSame(asTitle: $0, madeAt: madeAt) } ?? true
            return Favourite(product: product, isAvailable: isSame && !isGone)
        }
        found.total = try Int.fetchOne(db.cachedStatement(sql: countFavourites), arguments: [profile]) ?? 0
        let select = try db.cachedStatement(sql: "SELECT favourite_revision FROM shop_profile WHERE profile = ?")
        return Favourites(page: found, revision: try Int.fetchOne(select, arguments: [profile]) ?? 0)
    }

    /// Whether a product is a favourite.
    func isFavourite(_ product: Product, _ profile: String) throws -> Bool {
        try users.read { db in
            let select = try db.cachedStatement(sql: Self.selectFavourite)
            return try Row.fetchOne(select, arguments: [profile, product.id]).map {
                try product.isSame(asTitle: $0.value("title"), madeAt: $0.value("made_at"))
            } ?? false
        }
    }

    /// Adds a product to the favourites of a profile, or takes it away.
    ///
    /// - Parameter product: The product; nil to take away.
    /// - Returns: Nil if there is no room.
    /// - Throws: ``Problem`` 412; `StorageError`, `SharedStoreError`, `CancellationError`.
    func setFavourite(
        _ id: Int,
        _ product: Product?,
        _ profile: String,
        if preconditions: WritePreconditions,
        showing page: PageRequest
    ) async throws -> Favourites? {
        try await users.write(scope: Self.scope(profile)) { [profileChanges] db in
            let before = try Self.favourites(profile, PageRequest(limit: 1), db)
            try preconditions.check(version: before.revision)
            let changes = db.totalChangesCount
            if let product {
                let known = try Row.fetchOne(db, sql: Self.selectFavourite, arguments: [profile, id])
                let isFull = before.page.total ?? 0 >= Self.maximumFavourites
                if known == nil, isFull { return nil }
                if !isFull { try Self.moveFavourite(before: product, profile, db) }
                try db.execute(sql: Self.insertFavourite, arguments: try product.columns + [profile, id, profile])
            } else {
                try db.execute(
                    sql: "DELETE FROM shop_favourite WHERE profile = ? AND product_id = ?",
                    arguments: [profile, id]
                )
            }
            if db.totalChangesCount != changes {
                profileChanges[profile].bump(afterCommitOf: db)
                try db.execute(sql: Self.countFavouriteRevision, arguments: [profile])
            }
            return try Self.favourites(profile, page, db)
        }
    }

    /// Gives an earlier favourite that has the id of another product the present id of its own one. If that is not
    /// known, the other product takes its place.
    private static func moveFavourite(before product: Product, _ profile: String, _ db: Database) throws {
        let successor = try Int.fetchOne(
            db.cachedStatement(sql: selectSuccessor),
            arguments: ["profile": profile, "id": product.id, "title": product.title, "made_at": product.madeAt]
        )
        guard let successor else { return }
        try db.execute(
            sql: "UPDATE shop_favourite SET product_id = ? WHERE profile = ? AND product_id = ?",
            arguments: [successor, profile, product.id]
        )
    }

    private static let selectSuccessor = """
        SELECT new.id FROM shop_favourite AS item CROSS JOIN shop_product AS new
            ON new.slug = item.slug OR new.title = item.title AND new.category_name IS item.category_name
        WHERE item.profile = :profile AND item.product_id = :id AND item.title <> :title
            AND (:made_at IS NULL OR item.made_at IS NOT :made_at) AND new.id <> :id AND new.gone = 0
            AND NOT EXISTS (
                SELECT 1 FROM shop_favourite AS other WHERE other.profile = :profile AND other.product_id = new.id
            )
        ORDER BY new.fetched_at DESC, new.id DESC LIMIT 1
        """

    static let favouritePages = PagedQuery(
        """
        SELECT item.product_id, item.number, item.title, item.description, item.price, item.category_id,
            item.category_name, item.images, item.made_at, item.slug,
            current.gone AS current_gone, current.title AS current_title, current.made_at AS current_made_at
        FROM shop_favourite AS item LEFT JOIN shop_product AS current ON current.id = item.product_id
        WHERE item.profile = :profile
        """,
        by: ["item.number"],
        descending: true
    )
    static let selectFavourite = "SELECT title, made_at FROM shop_favourite WHERE profile = ? AND product_id = ?"
    private static let countFavourites = "SELECT count(*) FROM shop_favourite WHERE profile = ?"

    /// A favourite that is added again stays at its place, with the present version of the product; nothing is written
    /// if it has that already.
    private static let insertFavourite = """
        INSERT INTO shop_favourite (
            title, description, price, category_id, category_name, images, made_at, slug, profile, product_id, number
        ) VALUES (
            ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
            (SELECT coalesce(max(number), 0) + 1 FROM shop_favourite WHERE profile = ?)
        )
        ON CONFLICT (profile, product_id) DO UPDATE SET title = excluded.title, description = excluded.description,
            price = excluded.price, category_id = excluded.category_id, category_name = excluded.category_name,
            images = excluded.images, made_at = excluded.made_at, slug = excluded.slug
        WHERE (shop_favourite.title, shop_favourite.description, shop_favourite.price, shop_favourite.category_id,
            shop_favourite.category_name, shop_favourite.images, shop_favourite.made_at, shop_favourite.slug)
            IS NOT (excluded.title, excluded.description, excluded.price, excluded.category_id, excluded.category_name,
            excluded.images, excluded.made_at, excluded.slug)
        """

    private static let countFavouriteRevision = """
        INSERT INTO shop_profile (profile, revision, text, filters, favourite_revision) VALUES (?, 0, NULL, '{}', 1)
        ON CONFLICT (profile) DO UPDATE SET favourite_revision = favourite_revision + 1
        """
}

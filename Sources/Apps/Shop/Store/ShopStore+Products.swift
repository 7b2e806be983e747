import Cluster
import Concurrency
import Foundation
import GRDB
import Storage

/// A product that was seen.
struct KnownProduct: Sendable, Equatable {
    var product: Product
    /// Whether the upstream has said since that there is no such product.
    var isGone: Bool
    var fetchedAt: Date
    /// When the values of the product, or its removal from the catalogue, were received.
    var changedAt: Date
}

extension ShopStore {
    /// Returns the write of a response's products, for the transaction that stores the response: products, the search
    /// index and the copies on lists change together. Several servers renew lists after it (``renewLists(of:)``).
    func save(fetchedAt now: @escaping @Sendable () -> Date) -> @Sendable ([Product], Database) throws -> Void {
        { products, db in
            let time = now()
            let saved = try products.map { ($0.id, try save($0, at: time, db)) }.filter { $0.1 != .unchanged }
            let wereKnown = saved.contains { $0.1 == .changed }
            try noteChanges(of: saved.map(\.0), confirmed: products.map(\.id), wereKnown: wereKnown, db)
        }
    }

    /// Renews lists, and counts the revisions of those that contain these products. After the commit, invalidates the
    /// screens that were rendered from the products, and no others. With several servers no revision is counted,
    /// because each of them finds by itself which products are gone or replaced.
    ///
    /// - Parameters:
    ///   - confirmed: Products that were seen with them, unchanged ones, too.
    ///   - wereKnown: Whether some of them were shown before, so that listeners are notified.
    private func noteChanges(of ids: [Int], confirmed: [Int]? = nil, wereKnown: Bool = true, _ db: Database) throws {
        var profiles: Set<String> = try users.isShared ? [] : Self.renew(after: confirmed ?? ids, changed: ids, db)
        guard !ids.isEmpty || !profiles.isEmpty else { return }
        for id in ids {
            profiles.formUnion(
                try String.fetchAll(try db.cachedStatement(sql: Self.selectListingProfiles), arguments: [id])
            )
        }
        var lists: [String: Int] = [:]
        if !users.isShared {
            for profile in profiles {
                try db.cachedStatement(sql: Self.countRevision).execute(arguments: [profile])
                lists[profile] = try Self.listRevision(profile, db)
            }
        }
        db.afterNextTransaction {
            [catalogueChanges, productChanges, profileChanges, changed, profiles, lists] _ in
            // The one for all first: a reader takes that of a product later, and then sees whether this one was bumped.
            catalogueChanges.bump()
            for id in ids { productChanges[id].bump() }
            for profile in profiles { profileChanges[profile].bump() }
            if wereKnown { changed(.products) }
            for (profile, revision) in lists.sorted(by: { $0.key < $1.key }) {
                changed(.list(profile, revision: revision))
            }
        }
    }

    static let selectListingProfiles = "SELECT DISTINCT profile FROM shop_list_item AS item WHERE \(currentID) = ?"

    private enum Saving { case unchanged, new, changed }

    /// - Returns: Whether anything that is shown has changed.
    private func save(_ product: Product, at time: Date, _ db: Database) throws -> Saving {
        let known = try Self.known(product.id, db)
        if let known, known.product == product, !known.isGone {
            try db.cachedStatement(sql: "UPDATE shop_product SET fetched_at = ? WHERE id = ?")
                .execute(arguments: [time.millisecondsSince1970, product.id])
            return .unchanged
        }
        let columns = try product.columns
        try db.cachedStatement(sql: Self.upsertProduct)
            .execute(arguments: columns + [product.id, time.millisecondsSince1970, time.millisecondsSince1970])
        try Self.index(product, replacing: known?.isGone == false ? known?.product : nil, db)
        return known == nil ? .new : .changed
    }

    private static let upsertProduct = """
        INSERT INTO shop_product (
            title, description, price, category_id, category_name, images, made_at, slug, id, gone, fetched_at,
            changed_at
        ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?)
        ON CONFLICT (id) DO UPDATE SET title = excluded.title, description = excluded.description,
            price = excluded.price, category_id = excluded.category_id, category_name = excluded.category_name,
            images = excluded.images, made_at = excluded.made_at, slug = excluded.slug, gone = 0,
            fetched_at = excluded.fetched_at, changed_at = excluded.changed_at
        """

    private static let upsertSearch = """
        INSERT INTO shop_search (id, folded, category_id, price) VALUES (?, ?, ?, ?)
        ON CONFLICT (id) DO UPDATE SET folded = excluded.folded, category_id = excluded.category_id,
            price = excluded.price
        """

    /// Puts a product into the search index, in place of the one with its id. No trigger does this: SQLite lets no
    /// trigger write to a virtual table if the schema is not trusted.
    private static func index(_ product: Product, replacing old: Product?, _ db: Database) throws {
        try indexWords(of: product, replacing: old, db)
        let folded = SearchText.indexed(product.title)
        if try indexedTitle(product.id, db) != folded {
            try removeText(product.id, db)
            try db.cachedStatement(sql: "INSERT INTO shop_text (rowid, folded) VALUES (?, ?)")
                .execute(arguments: [product.id, folded])
        }
        try db.cachedStatement(sql: upsertSearch)
            .execute(arguments: [product.id, folded, product.category?.id, product.price.approximation])
    }

    private static func indexedTitle(_ id: Int, _ db: Database) throws -> String? {
        try String.fetchOne(try db.cachedStatement(sql: "SELECT folded FROM shop_search WHERE id = ?"), arguments: [id])
    }

    /// Removes a product's title from the FTS5 index, which needs the title for that: its content is in another table.
    private static func removeText(_ id: Int, _ db: Database) throws {
        guard let indexed = try indexedTitle(id, db) else { return }
        try db.cachedStatement(sql: "INSERT INTO shop_text (shop_text, rowid, folded) VALUES ('delete', ?, ?)")
            .execute(arguments: [id, indexed])
    }

    /// Returns a product, even if the catalogue no longer has it; nil if it was never seen.
    func product(_ id: Int) throws -> KnownProduct? {
        try database.read { try Self.known(id, $0) }
    }

    /// Returns those of these products that were seen, by id.
    func products(_ ids: [Int]) throws -> [Int: KnownProduct] {
        try database.read { try Self.products(ids, $0) }
    }

    static func products(_ ids: [Int], _ db: Database) throws -> [Int: KnownProduct] {
        let known = try KnownProduct.fetchAll(db.cachedStatement(sql: selectProducts), arguments: [ids.jsonArray])
        return Dictionary(known.map { ($0.product.id, $0) }) { first, _ in first }
    }

    static func known(_ id: Int, _ db: Database) throws -> KnownProduct? {
        try KnownProduct.fetchOne(db.cachedStatement(sql: selectProduct), arguments: [id])
    }

    static let selectProduct = "SELECT * FROM shop_product WHERE id = ?"
    static let selectProducts = "SELECT * FROM shop_product WHERE id IN (SELECT value FROM json_each(?))"

    /// Marks a product as removed from the catalogue: the search no longer finds it, lists keep it.
    func markGone(_ id: Int, at now: Date) async throws {
        let isNew = try await database.writeFreeingRoom { db in
            try db.cachedStatement(sql: "UPDATE shop_product SET gone = 1, changed_at = ? WHERE id = ? AND gone = 0")
                .execute(arguments: [now.millisecondsSince1970, id])
            guard db.changesCount > 0 else { return false }
            try Self.indexWords(of: nil, replacing: Self.known(id, db)?.product, db)
            try Self.removeText(id, db)
            try db.cachedStatement(sql: "DELETE FROM shop_search WHERE id = ?").execute(arguments: [id])
            try noteChanges(of: [id], db)
            return true
        }
        // The product may be known under another id.
        if isNew { startRenewal(of: [id]) }
    }

    /// Marks products as present again, unchanged: the upstream confirmed a response that lists them. On a full disk
    /// the next confirmation does it.
    ///
    /// - Throws: `StorageError` other than a full disk.
    func markPresent(_ ids: [Int], at now: Date) async throws {
        try await database.writeIfRoom { db in
            let returned = try ids.compactMap { try Self.known($0, db) }.filter(\.isGone).map(\.product)
            for product in returned {
                try db.cachedStatement(sql: "UPDATE shop_product SET gone = 0, changed_at = ? WHERE id = ?")
                    .execute(arguments: [now.millisecondsSince1970, product.id])
                try Self.index(product, replacing: nil, db)
            }
            try noteChanges(of: returned.map(\.id), db)
        }
    }

    /// Returns when a product was last fetched; nil if none was.
    func lastFetch() throws -> Date? {
        try database.read { try Int64.fetchOne(try $0.cachedStatement(sql: Self.selectLastFetch)) }.map {
            Date(millisecondsSince1970: $0)
        }
    }

    /// Returns when anything that is known of products was last received; nil if nothing was.
    func lastChange() throws -> Date? {
        try database.read { try Int64.fetchOne(try $0.cachedStatement(sql: Self.selectLastChange)) }.map {
            Date(millisecondsSince1970: $0)
        }
    }

    static let selectLastChange = "SELECT max(changed_at) FROM shop_product"
    static let selectLastFetch = "SELECT fetched_at FROM shop_product WHERE gone = 0 ORDER BY fetched_at DESC LIMIT 1"
}

extension KnownProduct: FetchableRecord {
    /// Reads a row of table `shop_product`.
    init(row: Row) throws {
        try self.init(
            product: Product(row: row, id: row.value("id")),
            isGone: row.value("gone"),
            fetchedAt: row.date("fetched_at"),
            changedAt: row.date("changed_at")
        )
    }
}

extension Product {
    /// The columns from title to `slug`, which two tables share.
    var columns: StatementArguments {
        get throws {
            let addresses = String(decoding: try JSONEncoder().encode(images), as: UTF8.self)
            return [
                title, description, price.amount.description, category?.id, category?.name, addresses, madeAt, slug,
            ]
        }
    }

    init(row: Row, id: Int) throws {
        let category: Int? = try row.value("category_id")
        try self.init(
            id: id,
            title: row.value("title"),
            description: row.value("description"),
            price: row.value("price", Price.init(stored:)),
            category: category.map { Category(id: $0, name: try row.value("category_name") ?? "") },
            images: row.value("images") == "[]" ? [] : row.json("images"),
            // Rows that an earlier migration reads have none.
            slug: row.hasColumn("slug") ? row.value("slug") : nil,
            madeAt: row.value("made_at")
        )
    }
}

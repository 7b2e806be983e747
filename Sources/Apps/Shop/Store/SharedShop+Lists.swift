import Database
import Foundation
import Screens
import SharedStore

extension SharedShop {
    /// A part of a list, of one state of the store.
    private struct Part: Sendable {
        let lines: [SharedLine]
        var list: ShoppingList
        /// The line that a write has added or changed, with its whole product.
        var changed: SharedLine?
        /// The lines that are not in the part, whose prices are in the totals all the same.
        var others: [SharedLine] = []
    }

    func list(_ profile: String, _ page: PageRequest) async throws -> ShoppingList {
        let part = try await database.read { try Self.part(profile, page, $0) }
        guard try await renew(part.lines + part.others, isWhole: false, profile) else { return try shown(part) }
        return try shown(try await database.read { try Self.part(profile, page, $0) })
    }

    /// Changes a list in a transaction that also counts its revision.
    ///
    /// - Parameters:
    ///   - preconditions: compared with the revision before the change.
    ///   - page: the part of the list to return.
    ///   - isMissing: whether there is nothing to change, which comes before the preconditions (RFC 9110 §13.2.1).
    ///   - item: the line that was changed, to be returned as well.
    ///   - change: returns whether it has changed anything, too.
    func change<Result: Sendable>(
        _ profile: String,
        if preconditions: WritePreconditions,
        showing page: PageRequest,
        isMissing: @escaping @Sendable (Result) -> Bool = { _ in false },
        item: @escaping @Sendable (Result) -> ListItemID? = { _ in nil },
        _ change: @escaping @Sendable (SQLTransaction) throws -> (result: Result, hasChanged: Bool)
    ) async throws -> (Result, ShoppingList) {
        let (result, part) = try await write(of: profile) { transaction in
            let (result, hasChanged) = try change(transaction)
            if !isMissing(result) {
                try preconditions.check(version: try Self.listRevision(profile, transaction))
            }
            if hasChanged { try transaction.execute(Self.countRevision, [profile]) }
            var part = try Self.part(profile, page, transaction)
            if let id = item(result) {
                part.changed = try SharedLine.all(of: id.productID, profile, transaction).first { $0.item.id == id }
            }
            return (result, part)
        }
        guard try await renew(part.lines + part.others, isWhole: false, profile) else {
            return (result, try shown(part))
        }
        var list = try shown(try await database.read { try Self.part(profile, page, $0) })
        list.changed = try await changed(part.changed?.item.id, profile)
        return (result, list)
    }

    private func changed(_ id: ListItemID?, _ profile: String) async throws -> ListItem? {
        guard let id else { return nil }
        return try await line(id, profile)?.item
    }

    private static let countRevision = """
        INSERT INTO shop_profile (profile, revision) VALUES ($1, 1)
        ON CONFLICT (profile) DO UPDATE SET revision = shop_profile.revision + 1
        """

    private static func listRevision(_ profile: String, _ transaction: SQLTransaction) throws -> Int {
        try transaction.rows("SELECT revision FROM shop_profile WHERE profile = $1", [profile]).first?
            .value("revision") ?? 0
    }

    private static func part(_ profile: String, _ page: PageRequest, _ transaction: SQLTransaction) throws -> Part {
        let place = page.key == nil ? page.offset : 0
        let after = page.key?.first?.integer ?? .min
        let rows = try transaction.rows(selectPage, [profile, after, page.limit + 1, place])
            .map { (line: try SharedLine($0), position: try $0.value("position") as Int) }
        let shown = rows.prefix(page.limit)
        guard let sums = try transaction.rows(selectSums, [profile]).first,
            let price = Decimal(string: try sums.value("price"), locale: Locale(identifier: "en_US_POSIX"))
        else { throw SharedStoreError.typeMismatch(column: "price") }
        let totals = ListTotals(lines: try sums.value("lines"), pieces: try sums.value("pieces"), price: price)
        var part = Part(
            lines: shown.map(\.line),
            list: ShoppingList(
                items: [],
                lastPosition: shown.last?.position,
                hasMore: rows.count > shown.count,
                totals: totals,
                revision: try sums.value("revision")
            )
        )
        if totals.lines > shown.count {
            let positions = shown.map(\.position)
            part.others = try transaction.rows(selectOthers, [profile, positions]).map { try SharedLine($0) }
        }
        return part
    }

    private static let selectPage = """
        SELECT \(SharedLine.columns(isWhole: false)) FROM shop_list_item
        WHERE profile = $1 AND position > $2 ORDER BY position LIMIT $3 OFFSET $4
        """
    // A price is a decimal number, of which PostgreSQL makes exact sums.
    private static let selectSums = """
        SELECT count(*) AS lines, coalesce(sum(quantity), 0)::int8 AS pieces,
            trim_scale(coalesce(sum(price::numeric * quantity), 0))::text AS price,
            coalesce((SELECT revision FROM shop_profile AS owner WHERE owner.profile = $1), 0) AS revision
        FROM shop_list_item WHERE profile = $1
        """
    private static let selectOthers = """
        SELECT \(SharedLine.columns(isWhole: false)) FROM shop_list_item
        WHERE profile = $1 AND position <> ALL($2)
        """

    private func shown(_ part: Part) throws -> ShoppingList {
        let known = try catalogue.products(part.lines.map(\.item.product.id))
        var list = part.list
        list.items = part.lines.map { $0.shown(known[$0.item.product.id]) }
        list.changed = try part.changed.map { $0.shown(try catalogue.product($0.item.product.id)) }
        return list
    }

    /// Replaces products of lines by later versions of them that this server has seen. A list keeps the product that
    /// was put on it: another one that has its id now does not replace it.
    ///
    /// - Parameter isWhole: Whether the lines have descriptions and pictures.
    /// - Returns: Whether there were any.
    func renew(_ lines: [SharedLine], isWhole: Bool, _ profile: String) async throws -> Bool {
        guard !lines.isEmpty else { return false }
        let known = try catalogue.products(lines.map(\.item.product.id))
        let renewals = lines.compactMap { line in
            line.renewal(known[line.item.product.id], isWhole: isWhole).map { (line.item.id, $0) }
        }
        guard !renewals.isEmpty else { return false }
        try await write(of: profile) { transaction in
            var renewed = 0
            for (id, known) in renewals {
                let columns = try SharedLine.columns(of: known.product, fetchedAt: known.fetchedAt)
                renewed += try transaction.execute(Self.renewLine, [profile, id.productID, id.ordinal] + columns)
            }
            if renewed > 0 { try transaction.execute(Self.countRevision, [profile]) }
        }
        return true
    }

    private static let renewLine = """
        UPDATE shop_list_item SET
            title = $4, description = $5, price = $6, category_id = $7, category_name = $8, images = $9, made_at = $10,
            fetched_at = $11
        \(whereLine) AND fetched_at < $11
        """
}

extension SharedShop {
    func line(_ id: ListItemID, _ profile: String) async throws -> (item: ListItem, revision: Int)? {
        let lines = try await lines(of: id.productID, profile)
        return lines.first { $0.item.id == id }
    }

    func linesReader(of productID: Int, _ profile: String) async throws -> () throws -> [ListItem] {
        let lines = try await lines(of: productID, profile).map(\.item)
        return { lines }
    }

    /// Returns the lines that have, or had, a product id, with whole products, each with the revision of the list.
    private func lines(of productID: Int, _ profile: String) async throws -> [(item: ListItem, revision: Int)] {
        let read = {
            try await database.rows(SharedLine.select, [profile, productID]) { row in
                (line: try SharedLine(row), revision: try row.value("revision") as Int)
            }
        }
        var rows = try await read()
        if try await renew(rows.map(\.line), isWhole: true, profile) { rows = try await read() }
        let known = try catalogue.product(productID)
        return rows.map { ($0.line.shown(known), $0.revision) }
    }

    func cartReader(_ profile: String, of ids: [Int]?) async throws -> ([Product]) throws -> CartLines {
        let rows = try await database.rows(Self.selectCart, [profile, ids]) { row in
            (
                total: try row.value("total") as Int,
                line: try (row.value("quantity") as Int?).map { CartLine(id: try ListItemID(row), quantity: $0) },
                title: try row.value("title") as String? ?? "", madeAt: try row.value("made_at") as String?
            )
        }
        return { products in
            var cart = CartLines(of: products)
            for row in rows {
                cart.total = row.total
                if let line = row.line { cart.take(line, title: row.title, madeAt: row.madeAt) }
            }
            return cart
        }
    }

    private static let selectCart = """
        SELECT total, product_id, ordinal, quantity, title, made_at
        FROM (SELECT count(*) AS total FROM shop_list_item WHERE profile = $1) AS whole LEFT JOIN shop_list_item
        ON profile = $1 AND ($2 IS NULL OR product_id = ANY($2))
        """

    func listedProducts(without present: Set<Int>) async throws -> [Int] {
        // Those that this server knows are far fewer than all lines have.
        let missing = try catalogue.presentProducts().subtracting(present)
        guard !missing.isEmpty else { return [] }
        return try await database.rows(Self.selectListed, [missing.sorted()]) { try $0.value("id") as Int }
    }

    private static let selectListed = """
        SELECT id FROM unnest($1) AS id
        WHERE EXISTS (SELECT 1 FROM shop_list_item WHERE product_id = id) ORDER BY id
        """
}

import Cluster
import Foundation
import GRDB
import Screens
import Storage

extension ShopStore {
    /// The part of a list that is shown if a request names none.
    static let firstPage = PageRequest(limit: 100)
    /// All lines that a list may have.
    static let wholeList = PageRequest(limit: maximumItems)

    /// Returns a part of the list of a profile, in its order. The products come without descriptions and pictures.
    func list(_ profile: String, _ page: PageRequest = firstPage) throws -> ShoppingList {
        try users.read { try Self.list(profile, page, $0) }
    }

    static func list(_ profile: String, _ page: PageRequest, _ db: Database) throws -> ShoppingList {
        var page = try pages.page(page, ["profile": profile], db, ListItem.init)
        let totals = try totals(profile, db)
        page.total = totals.lines
        return ShoppingList(page: page, totals: totals, revision: try listRevision(profile, db))
    }

    /// Returns the totals of a list. They are read from an index that has nothing else; SQL cannot add exact prices.
    private static func totals(_ profile: String, _ db: Database) throws -> ListTotals {
        let rows = try Row.fetchCursor(try db.cachedStatement(sql: selectTotals), arguments: [profile])
        var totals = ListTotals()
        while let row = try rows.next() {
            let (price, pieces) = try (row.value("price", Price.init(stored:)), row.size(1))
            totals.lines += try row.size(2)
            totals.pieces += pieces
            totals.price += price.amount * Decimal(pieces)
        }
        return totals
    }

    static let selectTotals = """
        SELECT price, sum(quantity), count(*) FROM shop_list_item WHERE profile = ? GROUP BY price
        """

    static func listRevision(_ profile: String, _ db: Database) throws -> Int {
        try Int.fetchOne(
            try db.cachedStatement(sql: "SELECT revision FROM shop_profile WHERE profile = ?"),
            arguments: [profile]
        ) ?? 0
    }

    /// The present id of a line's product.
    static let currentID = "coalesce(item.current_id, item.product_id)"

    private static func select(_ columns: String) -> String {
        """
        SELECT item.product_id, item.ordinal, \(currentID) AS current_id, item.quantity, item.position, item.title,
            item.price, item.category_id, item.category_name, item.made_at, item.slug, item.was_price, item.bought,
            \(columns),
            current.gone AS current_gone, current.title AS current_title, current.made_at AS current_made_at
        FROM shop_list_item AS item LEFT JOIN shop_product AS current ON current.id = \(currentID)
        WHERE item.profile = :profile
        """
    }

    static let pages = PagedQuery(select("'' AS description, '[]' AS images"), by: ["item.position"])
    static let selectLines =
        select("item.description, item.images") + " AND \(currentID) = :product ORDER BY item.product_id, item.ordinal"
    private static let selectLine =
        select("item.description, item.images") + " AND item.product_id = :product AND item.ordinal = :ordinal"

    /// Returns a line, and the revision of its list; nil if it is not on the list.
    func line(_ id: ListItemID, _ profile: String) throws -> (item: ListItem, revision: Int)? {
        try users.read { db in
            try Self.line(id, profile, db).map { ($0, try Self.listRevision(profile, db)) }
        }
    }

    static func line(_ id: ListItemID, _ profile: String, _ db: Database) throws -> ListItem? {
        let arguments: StatementArguments = ["profile": profile, "product": id.productID, "ordinal": id.ordinal]
        return try Row.fetchOne(db.cachedStatement(sql: selectLine), arguments: arguments).map(ListItem.init)
    }

    /// Returns the lines whose product has an id now, with whole products.
    func lines(of productID: Int, _ profile: String) throws -> [ListItem] {
        try users.read { try Self.lines(of: productID, profile, $0) }
    }

    static func lines(of productID: Int, _ profile: String, _ db: Database) throws -> [ListItem] {
        try Row.fetchAll(
            try db.cachedStatement(sql: selectLines),
            arguments: ["profile": profile, "product": productID]
        ).map(ListItem.init)
    }

    /// Returns the lines of products, by the ids of the products. A line is included under the present id of its
    /// product, and not under an id that belonged to another product when the line was added.
    func cart(of products: [Product], _ profile: String) throws -> CartLines {
        try users.read { db in
            var cart = CartLines(of: products)
            let rows = try Row.fetchCursor(
                try db.cachedStatement(sql: Self.selectCart),
                arguments: [
                    "profile": profile, "favourites": ListKind.favourites.key(profile), "products": cart.ids.jsonArray,
                    "slugs": products.compactMap(\.slug).jsonArray,
                ]
            )
            var followed: [(line: CartLine, slug: String, title: String, kind: ListKind)] = []
            while let row = try rows.next() {
                cart.total = try row.size(0)
                guard let ordinal = try row.value(3) as Int? else { continue }
                let line = CartLine(
                    id: ListItemID(productID: try row.value(2), ordinal: ordinal),
                    quantity: try row.value(4)
                )
                let title: String = try row.value(5)
                let (kind, _) = ListKind.read(try row.value(7))
                if let product = try row.value(1) as Int? {
                    cart.take(line, of: product, in: kind, title: title, madeAt: try row.value(6))
                } else {
                    let slug: String = try row.value(8)
                    followed.append((line, slug, title, kind))
                }
            }
            for (line, slug, title, kind) in followed { cart.take(line, slug: slug, title: title, in: kind) }
            return cart
        }
    }

    /// The lines of the products' ids, and those of their slugs under whatever id, in one statement with the number of
    /// all lines.
    static let selectCart = """
        SELECT total, id, product_id, ordinal, quantity, title, made_at, profile, slug
        FROM (SELECT count(*) AS total FROM shop_list_item WHERE profile = :profile) LEFT JOIN (
            SELECT \(currentID) AS id, product_id, ordinal, quantity, title, made_at, profile, NULL AS slug
            FROM shop_list_item AS item INDEXED BY shop_list_item_by_product
            WHERE profile IN (:profile, :favourites) AND \(currentID) IN (SELECT value FROM json_each(:products))
            UNION ALL SELECT NULL, product_id, ordinal, quantity, title, made_at, profile, slug
            FROM shop_list_item AS item INDEXED BY shop_list_item_by_slug
            WHERE profile IN (:profile, :favourites) AND slug IN (SELECT value FROM json_each(:slugs))
        ) ON TRUE
        """

    /// Returns the ids of the products on all lists that the upstream is not known to miss.
    func listedProducts() throws -> Set<Int> {
        try users.read { try Int.fetchSet($0, sql: Self.selectListedProducts) }
    }

    static let selectListedProducts = """
        SELECT current.id FROM shop_list_item AS item JOIN shop_product AS current ON current.id = \(currentID)
        WHERE current.gone = 0
        """
}

extension ListItem {
    /// Decodes a row of ``ShopStore/pages`` or ``ShopStore/selectLines``.
    fileprivate init(row: Row) throws {
        let id = try ListItemID(productID: row.value("product_id"), ordinal: row.value("ordinal"))
        let product = try Product(row: row, id: row.value("current_id"))
        let title: String? = try row.value("current_title")
        let isSame = try title.map { product.isSame(asTitle: $0, madeAt: try row.value("current_made_at")) } ?? true
        // A server that has never seen a product knows nothing of it.
        let isGone: Bool = try row.value("current_gone") ?? false
        self.init(
            id: id,
            product: product,
            quantity: try row.value("quantity"),
            isBought: try row.value("bought"),
            earlierPrice: (try row.value("was_price") as String?).flatMap(Price.init(stored:)),
            difference: !isSame ? .replaced : isGone ? .gone : nil
        )
    }
}

/// The lines of a list that have some products, by the ids of the products.
struct CartLines: Sendable {
    private(set) var byProduct: [Int: CartLine] = [:]
    /// The same of the favourites.
    private(set) var favourites: [Int: CartLine] = [:]
    /// The lines of the whole list.
    var total = 0
    private let products: [Int: Product]

    init(of products: [Product]) {
        self.products = Dictionary(products.map { ($0.id, $0) }) { first, _ in first }
    }

    var ids: some Collection<Int> { products.keys }

    /// Whether the list takes no more lines.
    var isListFull: Bool { total >= ShopStore.maximumItems }

    subscript(product: Int) -> CartLine? { byProduct[product] }

    /// Takes a line if it has one of the products, not one whose id was another product's when it was added.
    ///
    /// - Parameters:
    ///   - product: The present id of the line's product.
    ///   - title: Of the line's product.
    ///   - madeAt: Of the line's product.
    mutating func take(_ line: CartLine, of product: Int, in list: ListKind, title: String, madeAt: String?) {
        guard products[product]?.isSame(asTitle: title, madeAt: madeAt) == true else { return }
        let lines = list == .list ? \CartLines.byProduct : \.favourites
        // Of several lines that are the product the last one counts.
        if let known = self[keyPath: lines][product]?.id,
            (known.ordinal, known.productID) > (line.id.ordinal, line.id.productID)
        {
            return
        }
        self[keyPath: lines][product] = line
    }

    /// Takes a line that has followed one of the products to another id, for the id that it had before.
    mutating func take(_ line: CartLine, slug: String, title: String, in list: ListKind) {
        let lines = list == .list ? \CartLines.byProduct : \.favourites
        for product in products.values
        where product.slug == slug && product.title == title && self[keyPath: lines][product.id] == nil {
            self[keyPath: lines][product.id] = line
        }
    }
}

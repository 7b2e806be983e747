import Database
import Foundation
import SharedStore

/// A line of a list in a shared store, with the product as it was last seen by any server.
struct SharedLine: Sendable {
    /// Without a difference, which is found by what this server knows of the product.
    var item: ListItem
    let fetchedAt: Date

    /// Reads a row of ``columns(_:)``.
    init(_ row: SQLRow) throws {
        let id = try ListItemID(row)
        guard let price = Price(stored: try row.value("price")) else {
            throw SharedStoreError.typeMismatch(column: "price")
        }
        let images: String = try row.value("images")
        let category: Int? = try row.value("category_id")
        let product = Product(
            id: id.productID,
            title: try row.value("title"),
            description: try row.value("description"),
            price: price,
            category: try category.map { Product.Category(id: $0, name: try row.value("category_name") ?? "") },
            images: images == "[]" ? [] : try JSONDecoder().decode([String].self, from: Data(images.utf8)),
            madeAt: try row.value("made_at")
        )
        item = ListItem(id: id, product: product, quantity: try row.value("quantity"))
        fetchedAt = Date(millisecondsSince1970: try row.value("fetched_at"))
    }

    /// Returns the columns of a line.
    ///
    /// - Parameter isWhole: Whether with description and pictures, which lists do not show.
    static func columns(isWhole: Bool) -> String {
        """
        product_id, ordinal, quantity, position, title, price, category_id, category_name, made_at, fetched_at,
            \(isWhole ? "description, images" : "'' AS description, '[]' AS images")
        """
    }

    /// Returns the lines of a product id with whole products, in the order of their numbers.
    static func all(of productID: Int, _ profile: String, _ transaction: SQLTransaction) throws -> [SharedLine] {
        try transaction.rows(select, [profile, productID]).map { try SharedLine($0) }
    }

    /// Selects the same, each with the revision of the list.
    static let select = """
        SELECT \(columns(isWhole: true)),
            coalesce((SELECT revision FROM shop_profile AS owner WHERE owner.profile = $1), 0) AS revision
        FROM shop_list_item WHERE profile = $1 AND product_id = $2 ORDER BY ordinal
        """

    /// Returns the columns of a product from title to `fetched_at`.
    static func columns(of product: Product, fetchedAt: Date) throws -> [any SQLParameter] {
        let images = String(decoding: try JSONEncoder().encode(product.images), as: UTF8.self)
        return [
            product.title, product.description, product.price.amount.description, product.category?.id,
            product.category?.name, images, product.madeAt, fetchedAt.millisecondsSince1970,
        ]
    }

    /// Returns the later version of the product that this server has seen; nil if there is none that differs.
    ///
    /// - Parameters:
    ///   - known: What this server knows of the product's id.
    ///   - isWhole: Whether the line has its description and pictures.
    func renewal(_ known: KnownProduct?, isWhole: Bool) -> KnownProduct? {
        guard let known, known.fetchedAt > fetchedAt, known.product.isSame(as: item.product) else { return nil }
        var shown = known.product
        if !isWhole { (shown.description, shown.images) = ("", []) }
        return shown == item.product ? nil : known
    }

    /// Returns the line as it is shown.
    ///
    /// - Parameter known: What this server knows of the product's id; what it does not know is not gone.
    func shown(_ known: KnownProduct?) -> ListItem {
        var item = item
        if let known {
            item.difference = !item.product.isSame(as: known.product) ? .replaced : known.isGone ? .gone : nil
        }
        return item
    }
}

extension ListItemID {
    /// Reads the columns `product_id` and `ordinal`.
    init(_ row: SQLRow) throws {
        self.init(productID: try row.value("product_id"), ordinal: try row.value("ordinal"))
    }
}

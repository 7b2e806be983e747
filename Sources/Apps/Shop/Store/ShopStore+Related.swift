import GRDB
import Screens
import Storage

// Products beside others, of those that were ever seen and are not known to be gone.
extension ShopStore {
    /// The most products that a card shows as related.
    static let mostRelated = 6

    /// Returns products of the same category, those of the nearest price first.
    func related(to product: Product) throws -> [Product] {
        guard let category = product.category else { return [] }
        let price = product.price.approximation
        let arguments: StatementArguments = ["category": category.id, "price": price, "id": product.id]
        return try database.read { db in
            let ids = try Int.fetchAll(db.cachedStatement(sql: Self.selectRelated), arguments: arguments)
            let known = try Self.products(ids, db)
            return ids.compactMap { known[$0]?.product }
        }
    }

    /// Both directions are ranges of one index.
    static let selectRelated = """
        SELECT id FROM (
            SELECT * FROM (
                SELECT id, price FROM shop_search WHERE category_id = :category AND price >= :price AND id <> :id
                ORDER BY price LIMIT \(mostRelated)
            ) UNION ALL SELECT * FROM (
                SELECT id, price FROM shop_search WHERE category_id = :category AND price < :price AND id <> :id
                ORDER BY price DESC LIMIT \(mostRelated)
            )
        ) ORDER BY abs(price - :price), id LIMIT \(mostRelated)
        """

    /// Returns the lowest and the highest price; nil if no product is known.
    ///
    /// - Parameter category: That of the products; nil for all.
    func prices(ofCategory category: Int?) throws -> ClosedRange<Price>? {
        try database.read { db in
            func price(_ order: String) throws -> Price? {
                let statement = try db.cachedStatement(sql: Self.selectPrice(ofCategory: category != nil, order))
                let arguments: StatementArguments = category.map { ["category": $0] } ?? [:]
                return try String.fetchOne(statement, arguments: arguments).flatMap(Price.init(stored:))
            }
            guard let lowest = try price("ASC"), let highest = try price("DESC"), lowest <= highest else { return nil }
            return lowest...highest
        }
    }

    static func selectPrice(ofCategory isOfCategory: Bool, _ order: String) -> String {
        """
        SELECT price FROM shop_product WHERE id = (
            SELECT id FROM shop_search \(isOfCategory ? "WHERE category_id = :category" : "")
            ORDER BY price \(order) LIMIT 1
        )
        """
    }
}

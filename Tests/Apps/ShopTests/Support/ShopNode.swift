import AppInterface
import Database
import Foundation
import TestKit
import Testing

@testable import Shop

/// What a server has of the Shop app: the products that it has seen, and what profiles have made.
struct ShopNode {
    let catalogue: ShopStore
    let profiles: any ShopProfiles

    /// Stores products as a response does.
    func save(_ products: [Product], at time: Date) async throws {
        let save = catalogue.save(fetchedAt: { time })
        try await catalogue.database.write { try save(products, $0) }
    }
}

extension StoreKind {
    /// Returns servers of the Shop app that share what profiles make; in SQLite, they are one.
    func shopNodes(_ count: Int) async throws -> [ShopNode] {
        func catalogue() throws -> ShopStore {
            ShopStore(try LarderDatabase.temporary(migrations: ShopStore.migrations))
        }
        switch self {
        case .sqlite:
            let store = try catalogue()
            return Array(repeating: ShopNode(catalogue: store, profiles: store), count: count)
        case .postgresql:
            let access = try await SharedStoreAccess.temporary(SharedShop.migrations)
            return try (0..<count).map { _ in
                let seen = try catalogue()
                return ShopNode(catalogue: seen, profiles: SharedShop(access.otherServer(), catalogue: seen))
            }
        }
    }
}

extension Product {
    /// A product as the tests need it.
    ///
    /// - Parameter cents: The price.
    static func test(_ id: Int, _ title: String? = nil, cents: Int = 100, madeAt: String? = nil) throws -> Product {
        let price = try #require(Price(Decimal(cents) / 100))
        return Product(
            id: id,
            title: title ?? "Product \(id)",
            description: "for \(price.text)",
            price: price,
            category: Category(id: 1 + id % 2, name: "Some"),
            images: ["https://pictures.test/\(id)/\(cents).png"],
            madeAt: madeAt
        )
    }
}

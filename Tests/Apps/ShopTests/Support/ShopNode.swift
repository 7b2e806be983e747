import Cluster
import Concurrency
import Foundation
import Screens
import Storage
import TestKit
import Testing

@testable import Shop

/// The tables of the Shop app as a server has them: the products that it has seen, and the rows of profiles.
struct ShopNode {
    let store: ShopStore

    /// Stores products as a response does, and renews lists.
    func save(_ products: [Product], at time: Date) async throws {
        let save = store.save(fetchedAt: { time })
        try await store.database.write { try save(products, $0) }
        try await store.renewLists(of: products.map(\.id))
    }

    /// Marks a product as removed, and waits until the lists are renewed after that.
    func markGone(_ id: Int, at time: Date) async throws {
        try await store.markGone(id, at: time)
        await BoundedWait.poll(for: "the renewal of lists") { store.renewals.count == 0 }
    }

    /// Returns the store for reads, as a request does.
    func current() async throws -> ShopStore {
        _ = try await store.users.catchUp()
        return store
    }
}

extension ClusterAccess {
    /// Opens a store for servers of the Shop app.
    static func shop(on server: RunningPostgres? = nil) async throws -> ClusterAccess {
        try await temporary(Journal.storeMigrations, on: server)
    }

    /// Returns one more server's tables, in a new file.
    func shopNode() throws -> ShopNode {
        let database = try LarderDatabase.temporary(migrations: ShopStore.migrations + Journal.fileMigrations)
        return ShopNode(store: ShopStore(database, otherServer().users(in: database, ShopStore.replicated)))
    }
}

extension StoreKind {
    /// Returns servers of the Shop app: one by itself, or several that share the rows of profiles.
    func shopNodes(_ count: Int) async throws -> [ShopNode] {
        switch self {
        case .sqlite:
            let store = ShopStore(try LarderDatabase.temporary(migrations: ShopStore.migrations))
            return Array(repeating: ShopNode(store: store), count: count)
        case .postgresql:
            let access = try await ClusterAccess.shop()
            return try (0..<count).map { _ in try access.shopNode() }
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

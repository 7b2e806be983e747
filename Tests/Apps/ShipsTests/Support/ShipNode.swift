import Cluster
import Foundation
import Screens
import Storage
import TestKit
import Upstream

@testable import Ships

/// The ships as a server has them.
struct ShipNode {
    let store: ShipStore

    /// Takes over the list of the API at a time.
    ///
    /// - Parameter listing: The list that servers had before it was requested; nil for that of now.
    func merge(_ listed: [Ship], at time: Date, after listing: Int64? = nil) async throws {
        _ = try await store.users.catchUp()
        let listing = try listing ?? store.listing()
        let persistRows = store.persistRows(of: listed, listedAt: time, after: listing) { _ in }
        try await persistRows.writeBefore()
        while try await !store.database.write({ try persistRows.writeNext(in: $0) }) {}
    }

    /// Reads a page as a screen does.
    func list(account: String, page: PageRequest, since: Int? = nil) async throws -> ShipPage {
        _ = try await store.users.catchUp()
        return try store.list(account: account, page: page, since: since)
    }

    func ship(_ id: String, account: String) async throws -> ShipOfAccount? {
        _ = try await store.users.catchUp()
        return try store.ship(id, account: account)
    }
}

extension ClusterAccess {
    /// Opens a store for servers of the Ships app.
    static func ships(on server: RunningPostgres? = nil) async throws -> ClusterAccess {
        try await temporary(Journal.storeMigrations, on: server)
    }

    /// Returns one more server's ships, in a new file.
    func shipNode() throws -> ShipNode {
        let database = try LarderDatabase.temporary(migrations: ShipsHarness.migrations)
        return ShipNode(store: ShipStore(otherServer().users(in: database, ShipsHarness.replicated)))
    }
}

extension StoreKind {
    /// Returns servers of the Ships app: one by itself, or several that share the ships.
    func shipNodes(_ count: Int) async throws -> [ShipNode] {
        switch self {
        case .sqlite:
            let store = ShipStore(try LarderDatabase.temporary(migrations: ShipStore.migrations))
            return Array(repeating: ShipNode(store: store), count: count)
        case .postgresql:
            let access = try await ClusterAccess.ships()
            return try (0..<count).map { _ in try access.shipNode() }
        }
    }
}

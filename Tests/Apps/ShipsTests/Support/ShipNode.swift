import AppInterface
import Database
import Foundation
import TestKit
import Upstream

@testable import Ships

/// The ships as a server has them.
struct ShipNode {
    let ships: any ShipLists

    /// Takes over the list of the API at a time.
    func merge(_ listed: [Ship], at time: Date) async throws {
        if let store = ships as? ShipStore {
            let persistRows = store.persistRows(of: listed) { _ in }
            while try await !store.database.write({ try persistRows.writeNext(in: $0) }) {}
        } else if let shared = ships as? SharedShips {
            _ = try await shared.merge(listed, listedAt: time) { _ in }
        }
    }
}

extension StoreKind {
    /// Returns servers of the Ships app that share them; in SQLite, they are one.
    func shipNodes(_ count: Int) async throws -> [ShipNode] {
        switch self {
        case .sqlite:
            let store = ShipStore(try LarderDatabase.temporary(migrations: ShipStore.migrations))
            return Array(repeating: ShipNode(ships: store), count: count)
        case .postgresql:
            let access = try await SharedStoreAccess.temporary(SharedShips.migrations)
            return (0..<count).map { _ in ShipNode(ships: SharedShips(access.otherServer())) }
        }
    }
}

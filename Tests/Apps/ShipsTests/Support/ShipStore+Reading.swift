import Database
import Screens

@testable import Ships

// Reads in transactions of their own, as of a screen whose upstream was asked.
extension ShipStore {
    func list(account: String, page: PageRequest, since: Int?) throws -> ShipListing {
        try database.read { try ShipListing($0, account: account, page: page, since: since) }
    }

    func ship(_ id: String, account: String) throws -> ShipOfAccount? {
        try database.read { try Self.ship(id, account: account, $0) }
    }
}

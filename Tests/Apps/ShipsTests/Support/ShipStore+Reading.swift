import Database
import GRDB
import Screens

@testable import Ships

// Reads in transactions of their own, as of a screen whose upstream was asked.
extension ShipStore {
    func list(account: String, page: PageRequest, since: Int?) throws -> ShipPage {
        try database.read { try ShipPage($0, account: account, page: page, since: since) }
    }

    func ship(_ id: String, account: String) throws -> ShipOfAccount? {
        try database.read { try Self.ship(id, account: account, $0) }
    }
}

extension ShipStore {
    /// Merges the list of the API, in one transaction.
    ///
    /// - Returns: The last new revision, nil if nothing changed.
    @discardableResult
    static func merge(_ ships: [ShipColumns], in db: Database) throws -> Int? {
        let merge = ShipMerge(of: ships)
        var last: Int?
        while true {
            let (revision, isLast) = try merge.writeNext(db)
            last = revision ?? last
            if isLast { return last }
        }
    }
}

import GRDB
import Screens
import Storage
import Upstream

@testable import Cluster
@testable import Ships

// Reads in transactions of their own, as of a screen whose upstream was asked.
extension ShipStore {
    func list(account: String, page: PageRequest, since: Int?) throws -> ShipPage {
        try users.read { try ShipPage($0, account: account, page: page, since: since) }
    }

    func ship(_ id: String, account: String) throws -> ShipOfAccount? {
        try users.read { try Self.ship(id, account: account, $0) }
    }
}

extension ShipPage {
    var hasMore: Bool { page.hasMore }
}

extension ShipStore {
    /// The ships of a server by itself.
    init(_ database: LarderDatabase) { self.init(UserDatabase(database)) }

    /// The file of the server.
    var database: LarderDatabase { users.database }

    /// Merges the list of the API, in one transaction.
    ///
    /// - Returns: The last new revision, nil if nothing changed.
    @discardableResult
    static func merge(_ ships: [ShipColumns], in db: Database) throws -> Int? {
        let merge = ShipMerge(of: ships)
        var last: Int?
        while true {
            let part = try merge.writeNext(db)
            merge.note(part)
            last = part.revision ?? last
            if part.left.isEmpty { return last }
        }
    }
}

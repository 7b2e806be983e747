import AppInterface
import Freshness
import SharedStore

/// The store that servers of the Disk app share beside the rows of users: writes that wait.
struct SharedDisk: Sendable {
    let database: SharedDatabase
    let changes: SharedChanges
    let clock: WallClock

    var leases: SharedLeases { SharedLeases(database: database) }

    /// Removes the rows of an account, in the transaction that logs it out.
    static func remove(_ account: String, _ transaction: SQLTransaction) throws {
        for table in ["disk_outbox", "disk_outbox_change"] {
            try transaction.execute("DELETE FROM \(table) WHERE account = $1", [account])
        }
    }
}

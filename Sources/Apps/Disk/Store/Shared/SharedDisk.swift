import AppInterface
import Freshness
import SharedStore

/// The store that servers of the Disk app share, and the key of its secrets.
struct SharedDisk: Sendable {
    let database: SharedDatabase
    let changes: SharedChanges
    let seal: SharedSeal
    let clock: WallClock

    var leases: SharedLeases { SharedLeases(database: database) }
}

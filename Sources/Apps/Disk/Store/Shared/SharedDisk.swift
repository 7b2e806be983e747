import AppInterface
import Concurrency
import Freshness
import SharedStore

/// The store that servers of the Disk app share, and the key of its secrets.
struct SharedDisk: Sendable {
    let database: SharedDatabase
    let changes: SharedChanges
    let seal: SharedSeal
    let clock: WallClock
    /// By account: its copy is compared with the store, one comparison after the other.
    let comparisons = KeyedMutex()

    /// Returns the store of a server; nil without a key.
    init?(_ access: SharedStoreAccess, clock: WallClock) {
        guard let seal = access.seal else { return nil }
        self.init(database: access.database, changes: access.changes, seal: seal, clock: clock)
    }

    init(database: SharedDatabase, changes: SharedChanges, seal: SharedSeal, clock: WallClock) {
        (self.database, self.changes, self.seal, self.clock) = (database, changes, seal, clock)
    }

    var leases: SharedLeases { SharedLeases(database: database) }
}

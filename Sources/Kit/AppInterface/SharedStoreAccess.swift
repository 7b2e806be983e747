package import Database
package import SharedStore

/// The store that servers share, as apps use it.
package struct SharedStoreAccess: Sendable {
    /// What users made.
    package let database: SharedDatabase
    /// What the servers tell each other.
    package let changes: SharedChanges
    /// Seals secrets there; nil without a key.
    package let seal: SharedSeal?

    /// Creates the access of a server.
    package init(database: SharedDatabase, changes: SharedChanges, seal: SharedSeal? = nil) {
        (self.database, self.changes, self.seal) = (database, changes, seal)
    }
}

/// Where users' data is.
package enum AccountStore: Sendable {
    /// In the server's own database.
    case local(LarderDatabase)
    /// In the store that servers share.
    case shared(SharedStoreAccess)
}

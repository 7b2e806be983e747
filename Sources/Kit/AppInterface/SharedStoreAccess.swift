public import Database
public import SharedStore

/// The store that servers share, as apps use it.
public struct SharedStoreAccess: Sendable {
    /// What users made.
    public let database: SharedDatabase
    /// What the servers tell each other.
    public let changes: SharedChanges
    /// Seals secrets there; nil without a key.
    public let seal: SharedSeal?

    /// Creates the access of a server.
    public init(database: SharedDatabase, changes: SharedChanges, seal: SharedSeal? = nil) {
        (self.database, self.changes, self.seal) = (database, changes, seal)
    }
}

/// Where users' data is.
public enum AccountStore: Sendable {
    /// In the server's own database.
    case local(LarderDatabase)
    /// In the store that servers share.
    case shared(SharedStoreAccess)
}

/// The load of a store from this server, and the failures so far.
package struct StoreLoad: Sendable, Equatable {
    /// Operations that failed, by their consequence for the caller.
    package struct Failures: Sendable, Equatable {
        /// The store did not respond, or accepted no change.
        package private(set) var unavailable = 0
        /// A commit was not confirmed.
        package private(set) var outcomeUnknown = 0
        /// The server refused a statement.
        package private(set) var refused = 0

        mutating func count(_ error: SharedStoreError) {
            switch error {
            case .unavailable, .diskFull: unavailable += 1
            case .outcomeUnknown: outcomeUnknown += 1
            case .refused, .noSuchColumn, .typeMismatch, .newerSchema, .libraryUnusable, .serverUnusable: refused += 1
            case .notUnique, .textNotStorable, .ambiguousMigration, .closed: break
            }
        }
    }

    /// Operations that have a connection.
    package let running: Int
    /// Operations that wait for one.
    package let waiting: Int
    package let failures: Failures
}

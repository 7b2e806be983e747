package import GRDB
package import Journal
package import Screens
package import Upstream

extension UserDatabase {
    /// Returns the writing of rows that an app makes of a response: in the transaction that stores the response, or
    /// before it if several servers share the rows.
    ///
    /// - Parameters:
    ///   - next: writes the next part, and returns what it has written and whether it was the last one. It may run
    ///     again after a part that was not committed.
    ///   - committed: is called after the commit of each part.
    package func persistRows<Part: Sendable>(
        scope: String,
        next: @escaping @Sendable (Database) throws -> (part: Part, isLast: Bool),
        committed: @escaping @Sendable (Part) -> Void
    ) -> Resource.PersistRows {
        guard isShared else {
            return .inParts { db in
                let (part, isLast) = try next(db)
                db.afterNextTransaction { _ in committed(part) }
                return isLast
            }
        }
        return .before {
            var isComplete = false
            while !isComplete {
                let (part, isLast) = try await write(scope: scope, next)
                committed(part)
                isComplete = isLast
            }
        }
    }
}

extension Meta {
    /// Returns the metadata of a screen of users' rows that may lack changes of other servers.
    ///
    /// - Parameter lag: nil if they lack none.
    package func lagging(_ lag: UserDatabase.Lag?) -> Meta {
        guard let lag else { return self }
        var meta = self
        meta.stale = true
        meta.banner = .storeUnavailable(age: lag.age)
        return meta
    }
}

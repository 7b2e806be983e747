import Foundation
package import GRDB
package import SharedStore
import Synchronization

extension SessionStore {
    /// A session that was not used for the lifetime of sessions.
    package struct Expired: Sendable {
        /// Its identity.
        package let id: String
        /// Identity of its account within the app.
        package let account: String
        /// Whether the account has no session any more.
        package let isLast: Bool
    }

    /// Removes what belongs to an expired session, in the transaction that ends it.
    package typealias Removal = @Sendable (Expired, Database) throws -> Void
    /// The same in the shared store. It may be run again, so it has no effect elsewhere.
    package typealias SharedRemoval = @Sendable (Expired, SQLTransaction) throws -> Void

    /// What belongs to the expired sessions of an app.
    struct ExpiredData: Sendable {
        let remove: Removal
        let removeShared: SharedRemoval
    }

    /// Lets the sessions of an app expire; those of other apps do not.
    ///
    /// - Parameters:
    ///   - remove: removes what belongs to one, if sessions are in the server's own database.
    ///   - removeShared: removes it, if they are in the store that servers share.
    package func letExpire(
        sessionsOf app: String,
        _ remove: @escaping Removal = { _, _ in },
        shared removeShared: @escaping SharedRemoval = { _, _ in }
    ) {
        removals.byApp.withLock { $0[app] = ExpiredData(remove: remove, removeShared: removeShared) }
    }

    /// Writes when sessions were used, then ends those that were not used for their lifetime, with what belongs to
    /// them.
    ///
    /// - Throws: `StorageError`, `SharedStoreError`, `CancellationError`; what the removals throw.
    package func endUnused() async throws {
        // What was used a moment ago must not count as unused.
        try await storeUses()
        guard let oldest else { return }
        for (app, data) in removals.byApp.withLock({ $0 }) {
            while case let hashes = try await table.removeUnused(of: app, since: oldest, Self.batch, data),
                !hashes.isEmpty
            {
                ended(hashes)
            }
        }
    }

    /// Writes when sessions were used, exact to the day. After an error the uses are still recorded.
    ///
    /// - Throws: `StorageError`, `SharedStoreError`, `CancellationError`.
    package func storeUses() async throws {
        let taken = uses.take()
        guard !taken.isEmpty else { return }
        do {
            try await table.storeUses(taken)
        } catch {
            for (hash, time) in taken { uses.note(hash, at: time) }
            throw error
        }
    }

    /// Sessions that end in one transaction.
    private static let batch = 500
}

import Foundation
import Freshness
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

    /// Removes the data of an expired session, in the transaction that ends it.
    package typealias Removal = @Sendable (Expired, Database) throws -> Void
    /// The same in the shared store. It may be run again, so it has no effect elsewhere.
    package typealias SharedRemoval = @Sendable (Expired, SQLTransaction) throws -> Void

    /// The removal of the data of an app's expired sessions.
    struct ExpiredData: Sendable {
        let remove: Removal
        let removeShared: SharedRemoval
    }

    /// Lets the sessions of an app expire; those of other apps do not.
    ///
    /// - Parameters:
    ///   - remove: removes the data of one, if sessions are in the server's own database.
    ///   - removeShared: removes it, if they are in the store that servers share.
    package func letExpire(
        sessionsOf app: String,
        _ remove: @escaping Removal = { _, _ in },
        shared removeShared: @escaping SharedRemoval = { _, _ in }
    ) {
        removals.byApp.withLock { $0[app] = ExpiredData(remove: remove, removeShared: removeShared) }
    }

    /// Writes when sessions were used, then ends those that were not used for their lifetime, with their data.
    ///
    /// - Throws: `StorageError`, `SharedStoreError`, `CancellationError`; errors of the removals.
    package func endUnused() async throws {
        // A session that was used a moment ago must not count as unused.
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

/// Sessions that were read from the database, by the hash of their token, as long as they are known to be open.
final class KnownSessions: Sendable {
    /// The most that are kept; then all are forgotten, which costs one read for each that is still used.
    private static let maximum = 4096

    private struct Entry {
        let session: Session
        let unended: ChangeToken
    }

    private let entries = Mutex<[Data: Entry]>([:])

    /// Returns a session that has not ended since it was read.
    func session(_ tokenHash: Data) -> Session? {
        entries.withLock { entries in
            guard let entry = entries[tokenHash] else { return nil }
            if entry.unended.holds { return entry.session }
            entries[tokenHash] = nil
            return nil
        }
    }

    /// Keeps a session.
    ///
    /// - Parameter unended: Holds while the session is known to be open; taken before it was read.
    func keep(_ session: Session, _ tokenHash: Data, _ unended: ChangeToken) {
        entries.withLock { entries in
            if entries.count >= Self.maximum { entries.removeAll() }
            entries[tokenHash] = Entry(session: session, unended: unended)
        }
    }
}

/// The latest uses of sessions, by the hash of their token, until they are written. Bounded.
final class SessionUses: Sendable {
    /// The most sessions whose uses wait; uses of others are dropped, and count when they are used again.
    private static let maximum = 65_536
    private let latest = Mutex<[Data: Date]>([:])

    /// Records a use. Costs a short lock; never waits for the database.
    func note(_ tokenHash: Data, at time: Date) {
        latest.withLock { latest in
            guard latest[tokenHash] != nil || latest.count < Self.maximum else { return }
            latest[tokenHash] = max(time, latest[tokenHash] ?? time)
        }
    }

    /// Returns the uses and forgets them.
    func take() -> [Data: Date] {
        latest.withLock { latest in
            defer { latest = [:] }
            return latest
        }
    }
}

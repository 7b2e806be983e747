import Foundation
import Freshness
package import GRDB
package import SharedStore
import Synchronization

extension SessionStore {
    /// A session that was not used for the lifetime of sessions.
    package struct Expired: Sendable {
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

    /// The same where other transactions remove it, after the session has ended. If the server ends in between, data
    /// stays that no one can open.
    package typealias LaterRemoval = @Sendable (Expired) async throws -> Void

    /// The removal of the data of an app's expired sessions.
    struct ExpiredData: Sendable {
        let remove: Removal
        let removeShared: SharedRemoval
        let removeLater: LaterRemoval
    }

    /// Lets the sessions of an app expire; those of other apps do not.
    ///
    /// - Parameters:
    ///   - remove: removes the data of one, if sessions are in the server's own database.
    ///   - removeShared: removes it, if they are in the store that servers share.
    ///   - removeLater: removes the rest.
    package func letExpire(
        sessionsOf app: String,
        _ remove: @escaping Removal = { _, _ in },
        shared removeShared: @escaping SharedRemoval = { _, _ in },
        later removeLater: @escaping LaterRemoval = { _ in }
    ) {
        let data = ExpiredData(remove: remove, removeShared: removeShared, removeLater: removeLater)
        removals.byApp.withLock { $0[app] = data }
    }

    /// Writes when sessions were used, then ends those that were not used for their lifetime, with their data.
    ///
    /// - Throws: `StorageError`, `SharedStoreError`, `CancellationError`; errors of the removals.
    package func endUnused() async throws {
        // A session that was used a moment ago must not count as unused.
        try await storeUses()
        guard let oldest else { return }
        for (app, data) in removals.byApp.withLock({ $0 }) {
            while case let removed = try await table.removeUnused(of: app, since: oldest, Self.batch, data),
                !removed.isEmpty
            {
                ended(removed.map(\.hash))
                for (_, expired) in removed { try await data.removeLater(expired) }
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

/// Sessions that were read from the database, by the hash of their token, until they are known to have ended.
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
        entries.withLock { $0[tokenHash].flatMap { $0.unended.holds ? $0.session : nil } }
    }

    /// Returns a session that is not known to have ended, though other servers may have ended it.
    func lastKnown(_ tokenHash: Data) -> Session? { entries.withLock { $0[tokenHash]?.session } }

    /// Forgets a session that has ended.
    func remove(_ tokenHash: Data) { entries.withLock { $0[tokenHash] = nil } }

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

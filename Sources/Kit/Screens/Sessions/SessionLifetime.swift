import Cluster
import Concurrency
import Foundation
package import GRDB
import Synchronization

extension SessionStore {
    /// A session that was not used for the lifetime of sessions.
    package struct Expired: Sendable {
        package let id: String
        /// Identity of its account within the app.
        package let account: String
        /// Whether the account has no other session that is not expired.
        package let isLast: Bool
    }

    /// Removes the data of an expired session, in the transaction that ends it.
    package typealias Removal = @Sendable (Expired, Database) throws -> Void
    /// Removes the data of an expired session on all servers, before it is ended. It may be called again.
    package typealias ClusterRemoval = @Sendable (Expired) async throws -> Void

    /// The removals of the data of expired sessions, by app.
    final class Removals: Sendable {
        let byApp = Mutex<[String: (remove: Removal, removeShared: ClusterRemoval)]>([:])
    }

    /// Lets the sessions of an app expire; those of other apps do not.
    ///
    /// - Parameters:
    ///   - remove: removes the data of one, on a server by itself.
    ///   - removeShared: removes it, on one of several servers: data of an app belongs to a scope of its own.
    package func letExpire(
        sessionsOf app: String,
        _ remove: @escaping Removal = { _, _ in },
        shared removeShared: @escaping ClusterRemoval = { _ in }
    ) {
        removals.byApp.withLock { $0[app] = (remove, removeShared) }
    }

    /// Writes when sessions were used, then ends those that were not used for their lifetime, with their data.
    ///
    /// - Throws: `StorageError`, `ClusterError`, `CancellationError`; errors of the removals.
    package func endUnused() async throws {
        // A session that was used a moment ago must not count as unused.
        try await storeUses()
        guard let oldest else { return }
        try await users.catchUpToEnd()
        for (app, removal) in removals.byApp.withLock({ $0 }) {
            // Most often there is none, and a writer would hold up others.
            while case let unused = try users.read({ try SessionTable.unused(of: app, since: oldest, Self.batch, $0) }),
                !unused.isEmpty
            {
                if users.isShared {
                    for (_, expired) in unused { try await removal.removeShared(expired) }
                    let hashes = unused.map(\.hash)
                    try await end { _ in hashes }
                } else {
                    try await end { db in
                        let unused = try SessionTable.unused(of: app, since: oldest, Self.batch, db)
                        for (_, expired) in unused { try removal.remove(expired, db) }
                        return unused.map(\.hash)
                    }
                }
            }
        }
    }

    /// Ends the sessions that `find` returns in the transaction.
    private func end(_ find: @escaping @Sendable (Database) throws -> [Data]) async throws {
        try await users.write(scope: Self.lock, deleting: .permanent) { db in
            let hashes = try find(db)
            for hash in hashes { try SessionTable.remove(hash, db) }
            ended(hashes, db)
        }
    }

    /// Writes when sessions were used, exact to the day. After an error the uses are still recorded.
    ///
    /// - Throws: `StorageError`, `ClusterError`, `CancellationError`.
    package func storeUses() async throws {
        let taken = uses.take()
        guard !taken.isEmpty else { return }
        do {
            let due = try users.read { try SessionTable.due(taken, $0) }
            for start in stride(from: 0, to: due.count, by: Self.batch) {
                let part = due[start..<min(start + Self.batch, due.count)]
                try await users.write(scope: Self.lock, deleting: .toTrash) { try SessionTable.store(part, $0) }
            }
        } catch {
            for (hash, time) in taken { uses.note(hash, at: time) }
            throw error
        }
    }

    /// Sessions that are changed in one transaction.
    private static let batch = 500
}

/// Sessions that were read from the rows, by the hash of their token, until they are known to have ended.
final class OpenSessions: Sendable {
    /// Largest number that is kept. Beyond it all are removed, which costs one read for each that is still used.
    private static let maximum = 4096

    private struct Entry {
        let session: Session
        let unended: ChangeToken
    }

    private let entries = Mutex<[Data: Entry]>([:])
    private let ends = VersionCounters()
    private let listeners = Mutex<[@Sendable (_ tokenHash: Data) -> Void]>([])

    /// Returns a session that has not ended since it was read.
    func session(_ tokenHash: Data) -> Session? {
        entries.withLock { $0[tokenHash].flatMap { $0.unended.holds ? $0.session : nil } }
    }

    /// Returns a token that becomes invalid when this server learns that the session has ended.
    func token(of tokenHash: Data) -> ChangeToken { ChangeToken(of: ends[tokenHash]) }

    /// Keeps a session.
    ///
    /// - Parameter unended: Holds while the session is known to be open; taken before it was read.
    func keep(_ session: Session, _ tokenHash: Data, _ unended: ChangeToken) {
        entries.withLock { entries in
            if entries.count >= Self.maximum { entries.removeAll() }
            entries[tokenHash] = Entry(session: session, unended: unended)
        }
    }

    /// Forgets a session, which is read again.
    func forget(_ tokenHash: Data) { entries.withLock { $0[tokenHash] = nil } }

    /// Forgets a session that has ended, and tells so.
    func end(_ tokenHash: Data) {
        ends[tokenHash].bump()
        forget(tokenHash)
        for listener in listeners.withLock({ $0 }) { listener(tokenHash) }
    }

    /// Registers a function to be called after any session has ended.
    func onEnd(_ listener: @escaping @Sendable (_ tokenHash: Data) -> Void) {
        listeners.withLock { $0.append(listener) }
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

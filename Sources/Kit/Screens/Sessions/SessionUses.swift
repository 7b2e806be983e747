import Foundation
import Synchronization

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

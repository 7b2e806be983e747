import Foundation
import Freshness
import Synchronization

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

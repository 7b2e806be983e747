import NIOCore
import Synchronization

/// Which clients a server has served lately, for all its event loops.
final class ActiveClients: Sendable {
    /// Time for which a request counts, and without waiting after which a client is calm.
    static let time = TimeAmount.seconds(1)

    /// Hash of the address of the last client.
    private let last = Atomic<Int>(0)
    /// Nanoseconds of the event loops' clock, 0 for never: when another client than before was served, and when a calm
    /// one.
    private let changed = Atomic<UInt64>(0)
    private let calm = Atomic<UInt64>(0)

    /// Notes a request, and returns whether others were served lately as well.
    /// - Parameter client: hash of the client's address
    func areSeveral(_ client: Int, _ now: NIODeadline) -> Bool {
        if last.load(ordering: .relaxed) != client {
            let isFirst = last.exchange(client, ordering: .relaxed) == 0
            if !isFirst { changed.store(now.uptimeNanoseconds, ordering: .relaxed) }
        }
        return Self.isRecent(changed, now)
    }

    /// Notes that a client was served whose work had not waited for some time.
    func noteCalm(_ now: NIODeadline) { calm.store(now.uptimeNanoseconds, ordering: .relaxed) }

    /// Whether such a client was served lately.
    func areCalm(_ now: NIODeadline) -> Bool { Self.isRecent(calm, now) }

    private static func isRecent(_ instant: borrowing Atomic<UInt64>, _ now: NIODeadline) -> Bool {
        let nanoseconds = instant.load(ordering: .relaxed)
        return nanoseconds > 0 && now - .uptimeNanoseconds(nanoseconds) < time
    }
}

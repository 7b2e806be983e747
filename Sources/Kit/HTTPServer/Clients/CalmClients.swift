import NIOCore
import Synchronization

/// When a client was last served whose work had not waited for some time; for all event loops of a server.
final class CalmClients: Sendable {
    /// Time without waiting after which a client is calm, and time for which it counts.
    static let time = TimeAmount.seconds(1)

    /// Nanoseconds of the event loops' clock; 0 for none.
    private let lastRequest = Atomic<UInt64>(0)

    /// Notes that a calm client was served.
    func noteRequest(_ now: NIODeadline) {
        lastRequest.store(now.uptimeNanoseconds, ordering: .relaxed)
    }

    /// Whether a calm client was served lately.
    func areActive(_ now: NIODeadline) -> Bool {
        let last = lastRequest.load(ordering: .relaxed)
        return last > 0 && now - .uptimeNanoseconds(last) < Self.time
    }
}

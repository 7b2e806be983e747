import Concurrency
import Foundation
import Storage
import Upstream

/// Reads the items that a write touches while the write before it is sent: draining a queue then takes as many
/// successive calls as it has writes.
///
/// It is made only if the order of both does not matter, and is not used once it is old, so that the moment between
/// look and request stays short.
struct OutboxLookAhead: Sendable {
    private static let validity = 0.0..<1.0
    /// A longer upload takes so long that the look would be old.
    private static let longest = 1 << 20

    private let entry: OutboxEntry<QueuedWrite>
    private let time: Date
    private let found: Task<WritePreparation.Before?, Never>

    /// Begins to look; nil if the writes concern each other, or no look is needed.
    init?(
        at entry: OutboxEntry<QueuedWrite>,
        during earlier: OutboxEntry<QueuedWrite>,
        _ runner: OutboxRunner,
        _ clock: WallClock
    ) {
        guard !entry.work.isComparedByAPI, !entry.work.touches(earlier.work),
            earlier.blob?.length ?? 0 <= Self.longest
        else { return nil }
        self.entry = entry
        time = clock.now()
        found = Task { await runner.look(at: entry) }
    }

    /// Returns the items found for a write; nil if the look was at another write, failed or is old.
    func found(for entry: OutboxEntry<QueuedWrite>, at now: Date) async -> WritePreparation.Before? {
        guard entry.number == self.entry.number, entry.work == self.entry.work,
            Self.validity.contains(now.timeIntervalSince(time))
        else {
            cancel()
            return nil
        }
        return await found.value
    }

    func cancel() { found.cancel() }
}

import DequeModule
import NIOCore

/// A part of the cached responses, under one lock. What was used least recently goes first; use is noted as a flag, and who
/// is flagged gets a second round, so finding moves nothing.
struct ResponseCacheShard: Sendable {
    private final class Slot: @unchecked Sendable {
        // Everything but the key is read and written under the lock of the stripe only.
        let key: ResponseCacheKey
        var response: CachedBytes?
        var isUsed = false

        init(key: ResponseCacheKey, response: CachedBytes) {
            self.key = key
            self.response = response
        }

        var cost: Int { key.bytes.capacity + 256 + (response?.cost ?? 0) }
    }

    private let budget: Int
    private let entries: Int
    private var slots: [ResponseCacheKey: Slot] = [:]
    private var order = Deque<Slot>()
    /// Bytes that are taken.
    private(set) var bytes = 0

    init(budget: Int, entries: Int) {
        self.budget = budget
        self.entries = entries
    }

    /// Answers and keys that are kept.
    var count: Int { slots.count }

    func find(_ key: ResponseCacheKey) -> CachedBytes? {
        guard let slot = slots[key] else { return nil }
        slot.isUsed = true
        return slot.response
    }

    mutating func insert(_ response: CachedBytes, for key: ResponseCacheKey) {
        if let slot = slots[key] {
            bytes -= slot.cost
            slot.response = response
            bytes += slot.cost
        } else {
            let slot = Slot(key: key, response: response)
            slots[key] = slot
            order.append(slot)
            bytes += slot.cost
        }
        while bytes > budget || slots.count > entries, let oldest = order.popFirst() {
            if oldest.isUsed {
                oldest.isUsed = false
                order.append(oldest)
            } else {
                slots[oldest.key] = nil
                bytes -= oldest.cost
            }
        }
    }

    /// None holds any more.
    mutating func forgetAll() {
        self = ResponseCacheShard(budget: budget, entries: entries)
    }

    /// A response does not hold any more: its bytes go at once, its key when its turn comes, since the next answer to it
    /// is on its way.
    mutating func forget(_ response: CachedBytes, for key: ResponseCacheKey) {
        guard let slot = slots[key], slot.response === response else { return }
        bytes -= slot.cost
        slot.response = nil
        bytes += slot.cost
    }
}

import DequeModule
import NIOCore

/// A part of the cached responses, under one lock. Evicts by second chance: a use sets a flag, and a flagged response
/// is kept for another round, so lookups move nothing.
struct ResponseCacheShard: Sendable {
    private final class Slot: @unchecked Sendable {
        // Everything but the key is read and written under the lock of the shard only.
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
    /// Bytes that responses and keys take.
    private(set) var bytes = 0

    init(budget: Int, entries: Int) {
        self.budget = budget
        self.entries = entries
    }

    /// Number of keys.
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

    /// Removes all responses.
    mutating func removeAll() {
        self = ResponseCacheShard(budget: budget, entries: entries)
    }

    /// Removes the bytes of a response that is no longer valid. Its key stays until it is evicted, since the next
    /// response to it is on its way.
    mutating func remove(_ response: CachedBytes, for key: ResponseCacheKey) {
        guard let slot = slots[key], slot.response === response else { return }
        bytes -= slot.cost
        slot.response = nil
        bytes += slot.cost
    }
}

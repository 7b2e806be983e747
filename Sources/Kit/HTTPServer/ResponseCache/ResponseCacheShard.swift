import DequeModule
import NIOCore

/// A part of the cached responses, under one lock. Evicts by second chance: a use sets a flag, and a flagged response
/// is kept for another round, so lookups move nothing.
struct ResponseCacheShard: Sendable {
    /// Where the response of a key is; without one after it was removed.
    final class Slot: @unchecked Sendable {
        // Everything but the key is read and written under the lock of the shard only.
        fileprivate let key: ResponseCacheKey
        fileprivate var response: CachedBytes?
        fileprivate var isUsed = false

        fileprivate init(key: ResponseCacheKey, response: CachedBytes) {
            self.key = key
            self.response = response
        }

        fileprivate var cost: Int { key.bytes.capacity + 256 + (response?.cost ?? 0) }

        /// Returns the response and keeps it for another round. Called under the lock of the shard.
        func use() -> CachedBytes? {
            isUsed = true
            return response
        }
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

    func find(_ key: ResponseCacheKey) -> (slot: Slot, response: CachedBytes)? {
        guard let slot = slots[key], let response = slot.use() else { return nil }
        return (slot, response)
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
                // A connection may know the slot.
                oldest.response = nil
            }
        }
    }

    /// Removes all responses.
    mutating func removeAll() {
        for slot in order { slot.response = nil }
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

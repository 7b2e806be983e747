import DequeModule
import NIOCore

/// A part of the kept answers, under one lock. What was used least recently goes first; use is noted as a flag, and who
/// is flagged gets a second round, so finding moves nothing.
struct RenderedStripe: Sendable {
    private final class Slot: @unchecked Sendable {
        // Everything but the key is read and written under the lock of the stripe only.
        let key: RenderedKey
        var answer: RenderedAnswer?
        var isUsed = false

        init(key: RenderedKey, answer: RenderedAnswer) {
            self.key = key
            self.answer = answer
        }

        var cost: Int { key.bytes.capacity + 256 + (answer?.cost ?? 0) }
    }

    private let budget: Int
    private let entries: Int
    private var slots: [RenderedKey: Slot] = [:]
    private var order = Deque<Slot>()
    /// Bytes that are taken.
    private(set) var bytes = 0

    init(budget: Int, entries: Int) {
        self.budget = budget
        self.entries = entries
    }

    /// Answers and keys that are kept.
    var count: Int { slots.count }

    func find(_ key: RenderedKey) -> RenderedAnswer? {
        guard let slot = slots[key] else { return nil }
        slot.isUsed = true
        return slot.answer
    }

    mutating func insert(_ answer: RenderedAnswer, for key: RenderedKey) {
        if let slot = slots[key] {
            bytes -= slot.cost
            slot.answer = answer
            bytes += slot.cost
        } else {
            let slot = Slot(key: key, answer: answer)
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
        self = RenderedStripe(budget: budget, entries: entries)
    }

    /// An answer does not hold any more: its bytes go at once, its key when its turn comes, since the next answer to it
    /// is on its way.
    mutating func forget(_ answer: RenderedAnswer, for key: RenderedKey) {
        guard let slot = slots[key], slot.answer === answer else { return }
        bytes -= slot.cost
        slot.answer = nil
        bytes += slot.cost
    }
}

import Foundation

/// Wrong codes by the address that they came from. A value without a clock; bounded.
struct PairingAttempts: Sendable {
    /// Wrong codes that an address may send in a window.
    static let perAddress = 10
    /// Wrong codes that all addresses together may send which are not remembered by themselves.
    static let ofOthers = 100
    /// Addresses that are remembered.
    static let addresses = 1024
    /// Seconds of a window.
    static let window: TimeInterval = 600

    private struct Count {
        var wrong = 0
        let since: Date

        func isOver(at now: Date) -> Bool { now.timeIntervalSince(since) >= window || now < since }
    }

    private var counts: [String: Count] = [:]
    private var others: Count?

    /// Number of addresses that are remembered.
    var count: Int { counts.count }

    /// Returns the seconds after which an address may try again; nil if it may now.
    func wait(of address: String?, at now: Date) -> Int? {
        let known = address.flatMap { counts[$0] }
        if address != nil, known == nil, hasRoom(at: now) { return nil }
        let (count, limit) = known.map { ($0, Self.perAddress) } ?? (others, Self.ofOthers)
        guard let count, count.wrong >= limit, !count.isOver(at: now) else { return nil }
        return max(1, Int((Self.window - now.timeIntervalSince(count.since)).rounded(.up)))
    }

    /// Counts a wrong code.
    mutating func noteWrong(of address: String?, at now: Date) {
        guard let address, makeRoom(for: address, at: now) else {
            others = Self.counted(others, at: now)
            return
        }
        counts[address] = Self.counted(counts[address], at: now)
    }

    /// Forgets the wrong codes of an address that had the right one.
    mutating func forget(_ address: String?) {
        if let address { counts[address] = nil }
    }

    /// Whether another address can be remembered, at the latest once those whose window is over are forgotten.
    private func hasRoom(at now: Date) -> Bool {
        counts.count < Self.addresses || counts.values.contains { $0.isOver(at: now) }
    }

    /// Whether an address is remembered, or can be once those whose window is over are forgotten.
    private mutating func makeRoom(for address: String, at now: Date) -> Bool {
        if counts[address] != nil || counts.count < Self.addresses { return true }
        counts = counts.filter { !$0.value.isOver(at: now) }
        return counts.count < Self.addresses
    }

    private static func counted(_ count: Count?, at now: Date) -> Count {
        var count = count.flatMap { $0.isOver(at: now) ? nil : $0 } ?? Count(since: now)
        count.wrong += 1
        return count
    }
}

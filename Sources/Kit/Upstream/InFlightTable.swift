/// Which requests are under way and who waits for each: single flight as a value. No tasks and no locks of its own.
struct InFlightTable<Key: Hashable, Waiter> {
    /// What a newcomer is to do.
    enum Role: Equatable {
        /// Nobody asks for this yet: send the request.
        case lead
        /// It is under way: wait with the others.
        case follow
    }

    private var flights: [Key: [Int: Waiter]] = [:]
    private var lastTicket = 0

    /// Whether it is under way.
    func isInFlight(_ key: Key) -> Bool { flights[key] != nil }

    /// Registers somebody who waits for a key. The ticket is for ``leave(_:ticket:)``.
    mutating func join(_ key: Key, _ waiter: Waiter) -> (role: Role, ticket: Int) {
        lastTicket += 1
        let role: Role = flights[key] == nil ? .lead : .follow
        flights[key, default: [:]][lastTicket] = waiter
        return (role, lastTicket)
    }

    /// A waiter gives up (its patience is over, or its client has gone); the flight goes on. Returns it if it still
    /// waited.
    mutating func leave(_ key: Key, ticket: Int) -> Waiter? {
        flights[key]?.removeValue(forKey: ticket)
    }

    /// The flight has landed: everybody who still waits, in no order.
    mutating func complete(_ key: Key) -> [Waiter] {
        flights.removeValue(forKey: key).map { Array($0.values) } ?? []
    }
}

extension InFlightTable: Sendable where Key: Sendable, Waiter: Sendable {}

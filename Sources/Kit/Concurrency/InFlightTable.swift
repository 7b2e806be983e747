/// The requests under way and the tasks that wait for each of them: single flight as a value, without tasks and locks.
package struct InFlightTable<Key: Hashable, Waiter> {
    /// The role of a task that joins a flight.
    package enum Role: Sendable, Equatable {
        /// The key is not in flight: run the work.
        case lead
        /// It is in flight: wait with the others.
        case follow
    }

    /// Identifies one wait.
    package struct Ticket: Hashable, Sendable {
        fileprivate let number: Int
    }

    private var flights: [Key: [Ticket: Waiter]] = [:]
    private var lastNumber = 0

    package init() {}

    /// Whether a key is in flight.
    package func isInFlight(_ key: Key) -> Bool { flights[key] != nil }

    /// Returns a new ticket for ``join(_:_:ticket:)`` and ``leave(_:ticket:)``.
    package mutating func makeTicket() -> Ticket {
        lastNumber += 1
        return Ticket(number: lastNumber)
    }

    /// Adds a waiter to the flight of a key, which begins if there is none.
    package mutating func join(_ key: Key, _ waiter: Waiter, ticket: Ticket) -> Role {
        let role: Role = flights[key] == nil ? .lead : .follow
        flights[key, default: [:]][ticket] = waiter
        return role
    }

    /// Removes a waiter whose patience is over or whose client has disconnected; the flight continues.
    ///
    /// - Returns: The waiter, nil if it did not wait any more.
    package mutating func leave(_ key: Key, ticket: Ticket) -> Waiter? {
        flights[key]?.removeValue(forKey: ticket)
    }

    /// Ends a flight.
    ///
    /// - Returns: Its remaining waiters in no particular order.
    package mutating func complete(_ key: Key) -> [Waiter] {
        flights.removeValue(forKey: key).map { Array($0.values) } ?? []
    }
}

extension InFlightTable: Sendable where Key: Sendable, Waiter: Sendable {}

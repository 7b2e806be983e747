import NIOConcurrencyHelpers
import Storage

/// Requests of a mount that others wait for: single flight over answers that arrive in parts, and may turn out to be
/// nobody else's.
final class MountFlights: Sendable {
    struct Key: Hashable, Sendable {
        let url: String
        let credential: CredentialHash?
    }

    /// How a flight ended, for those who waited.
    enum Outcome: Sendable, Equatable {
        /// The response is in the store.
        case stored
        /// The response is for its client only.
        case notStored
        /// The upstream gave none.
        case failed(UpstreamError)
        /// Its client left before anything was known.
        case abandoned
    }

    /// What a newcomer is to do.
    enum Boarding {
        case lead(MountFlight)
        case completed(Outcome)
        /// The waiting task was cancelled.
        case left
    }

    private typealias Waiter = CheckedContinuation<Outcome?, Never>

    private let table = NIOLockedValueBox(InFlightTable<Key, Waiter?>())

    /// Leads where nobody flies, else waits until the one that does has landed.
    func join(_ key: Key) async -> Boarding {
        if let flight = leadIfFree(key) { return .lead(flight) }
        let ticket = NIOLockedValueBox<Int?>(nil)
        let leads = NIOLockedValueBox(false)
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { (waiter: Waiter) in
                let leaving = table.withLockedValue { table -> Waiter? in
                    let (role, number) = table.join(key, waiter)
                    ticket.withLockedValue { $0 = number }
                    if role == .lead {
                        // It has landed since: this one leads now, and waits for nothing.
                        leads.withLockedValue { $0 = true }
                        return table.leave(key, ticket: number) ?? nil
                    }
                    return Task.isCancelled ? table.leave(key, ticket: number) ?? nil : nil
                }
                leaving?.resume(returning: nil)
            }
        } onCancel: {
            let waiter = table.withLockedValue { table in
                ticket.withLockedValue({ $0 }).flatMap { table.leave(key, ticket: $0) ?? nil }
            }
            waiter?.resume(returning: nil)
        }
        if leads.withLockedValue({ $0 }) { return .lead(MountFlight(self, key)) }
        return outcome.map(Boarding.completed) ?? .left
    }

    /// Leads where nobody flies.
    func leadIfFree(_ key: Key) -> MountFlight? {
        table.withLockedValue { table in
            guard !table.isInFlight(key) else { return nil }
            _ = table.join(key, nil)
            return MountFlight(self, key)
        }
    }

    fileprivate func complete(_ key: Key, _ outcome: Outcome) {
        let waiters = table.withLockedValue { $0.complete(key) }
        for waiter in waiters { waiter?.resume(returning: outcome) }
    }
}

/// The right to fetch something for everybody. Lands once; at the latest when it is let go.
final class MountFlight: Sendable {
    private let flights: MountFlights
    private let key: MountFlights.Key
    private let hasLanded = NIOLockedValueBox(false)

    fileprivate init(_ flights: MountFlights, _ key: MountFlights.Key) {
        self.flights = flights
        self.key = key
    }

    deinit { complete(.abandoned) }

    /// Tells those who wait; the first word counts.
    func complete(_ outcome: MountFlights.Outcome) {
        let isFirst = hasLanded.withLockedValue { completed in
            defer { completed = true }
            return !completed
        }
        if isFirst { flights.complete(key, outcome) }
    }
}

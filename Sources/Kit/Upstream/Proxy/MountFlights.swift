import Concurrency
import Storage
import Synchronization

/// Requests of a mount that others wait for: single flight over responses that arrive in parts and may turn out to be
/// for one client only.
final class MountFlights: Sendable {
    struct Key: Hashable, Sendable {
        let url: String
        let credential: CredentialHash?
    }

    /// How a flight ended for the requests that waited.
    enum Outcome: Sendable, Equatable {
        case stored
        /// The response is for its client only.
        case notStored
        /// The upstream sent no usable response.
        case failed(UpstreamError)
        /// Its client disconnected before the response was known.
        case abandoned
    }

    /// How a request joined.
    enum Joined: Sendable {
        /// It is the leader of a new flight.
        case leads(MountFlight)
        /// It waited for a flight, which has ended.
        case completed(Outcome)
        case cancelled
    }

    private typealias Waiter = CheckedContinuation<Joined, Never>

    /// The leader of a flight does not wait: it is in the table without a continuation.
    private let table = Mutex(InFlightTable<Key, Waiter?>())

    /// Begins a flight if the key is not in flight, else waits until its flight ends.
    func join(_ key: Key) async -> Joined {
        let ticket = table.withLock { $0.makeTicket() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { (waiter: Waiter) in
                let now = table.withLock { table -> Joined? in
                    guard table.isInFlight(key) else {
                        _ = table.join(key, nil, ticket: ticket)
                        return .leads(MountFlight(self, key))
                    }
                    guard !Task.isCancelled else { return .cancelled }
                    _ = table.join(key, waiter, ticket: ticket)
                    return nil
                }
                if let now { waiter.resume(returning: now) }
            }
        } onCancel: {
            let waiter = table.withLock { $0.leave(key, ticket: ticket) ?? nil }
            waiter?.resume(returning: .cancelled)
        }
    }

    /// Begins a flight if the key is not in flight; else returns nil.
    func leadIfFree(_ key: Key) -> MountFlight? {
        let leads = table.withLock { table in
            guard !table.isInFlight(key) else { return false }
            let ticket = table.makeTicket()
            _ = table.join(key, nil, ticket: ticket)
            return true
        }
        return leads ? MountFlight(self, key) : nil
    }

    fileprivate func complete(_ key: Key, _ outcome: Outcome) {
        let waiters = table.withLock { $0.complete(key) }
        for waiter in waiters { waiter?.resume(returning: .completed(outcome)) }
    }
}

/// The right to fetch something for all who wait. Completes once, at the latest when it is released.
final class MountFlight: Sendable {
    private let flights: MountFlights
    private let key: MountFlights.Key
    private let isCompleted = Atomic(false)

    fileprivate init(_ flights: MountFlights, _ key: MountFlights.Key) {
        self.flights = flights
        self.key = key
    }

    deinit { complete(.abandoned) }

    /// Ends the flight. Only the first call counts.
    func complete(_ outcome: MountFlights.Outcome) {
        let (isFirst, _) = isCompleted.compareExchange(
            expected: false,
            desired: true,
            ordering: .acquiringAndReleasing
        )
        if isFirst { flights.complete(key, outcome) }
    }
}

import Foundation
import Freshness
import Screens
import SharedStore
import Synchronization

extension SharedOutbox {
    /// What this server is for an account that it sends.
    struct Sender: Sendable {
        /// A name that no other has, nor this server at another time.
        let holder: String
        /// Until when no other server sends, by the clock of this one.
        var end: ContinuousClock.Instant
    }

    /// How long another server waits before it takes over from one that has gone away.
    static let lease = Duration.seconds(15)
    private static let renewal = Duration.seconds(5)
    /// What is taken off for clocks that do not run alike.
    private static let margin = Duration.seconds(2)
    /// When an account that another server sends is asked for again.
    private static let pause = Duration.seconds(5)

    var lookInterval: Duration? { .seconds(10) }

    func sending(_ account: String, at now: Date, _ body: @escaping @Sendable () async throws -> Void) async throws
        -> Duration?
    {
        let rest = state.pauses.withLock { $0[account].map { ContinuousClock.now.duration(to: $0) } }
        if let rest, rest > .zero { return rest }
        let holder = SessionToken.make()
        guard try await begin(account, for: holder, at: now) else {
            state.pauses.withLock { $0[account] = .now + Self.pause }
            return Self.pause
        }
        let isSender: Bool
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await renew(account, for: holder) }
                group.addTask(operation: body)
                defer { group.cancelAll() }
                try await group.next()
            }
            isSender = true
        } catch is NotSender {
            isSender = false
        } catch {
            await end(account, for: holder)
            throw error
        }
        await end(account, for: holder)
        return isSender ? nil : Self.pause
    }

    /// Takes the lease of an account. What was being sent when its last holder went away is doubtful from now on, and
    /// looked at before it is sent again.
    func begin(_ account: String, for holder: String, at now: Date) async throws -> Bool {
        // It may have been used on other servers only.
        try await cache.catchUp(account)
        let begun = ContinuousClock.now
        let isTaken = try await takeOver(account, at: now) { transaction in
            try SharedLeases.take(Self.turn(account), for: holder, lasting: Self.lease, transaction)
        }
        let sender = Sender(holder: holder, end: begun + Self.lease - Self.margin)
        if isTaken { state.senders.withLock { $0[account] = sender } }
        return isTaken
    }

    /// Renews the lease of an account as long as this task is not cancelled.
    ///
    /// - Throws: ``NotSender`` if it is over; `CancellationError`.
    private func renew(_ account: String, for holder: String) async throws {
        while true {
            try await shared.clock.sleep(Self.renewal)
            let begun = ContinuousClock.now
            let name = Self.turn(account)
            do {
                try await shared.database.write(turns: [name]) { transaction in
                    guard try SharedLeases.isHeld(name, by: holder, transaction),
                        try SharedLeases.take(name, for: holder, lasting: Self.lease, transaction)
                    else { throw NotSender() }
                }
                state.senders.withLock { $0[account]?.end = begun + Self.lease - Self.margin }
            } catch is SharedStoreError {
                // The store may be back before the lease is over.
                guard (try? checkIsSender(of: account)) != nil else { throw NotSender() }
            }
        }
    }

    /// Lets other servers send the operations of an account. If that fails, they wait for the end of the lease.
    func end(_ account: String, for holder: String) async {
        state.senders.withLock { $0[account] = nil }
        _ = try? await Task { try await shared.leases.release(Self.turn(account), by: holder) }.value
    }

    func checkIsSender(of account: String) throws {
        guard let sender = state.senders.withLock({ $0[account] }), .now < sender.end else { throw NotSender() }
    }

    /// Checks that this server has the lease of an account, which no other takes before the end of the transaction.
    func checkIsSender(of account: String, _ transaction: SQLTransaction) throws {
        guard let sender = state.senders.withLock({ $0[account] }),
            try SharedLeases.isHeld(Self.turn(account), by: sender.holder, transaction)
        else { throw NotSender() }
    }
}

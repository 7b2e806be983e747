import Cluster
import Concurrency
import Foundation
import Synchronization
import Upstream

/// The accounts whose writes this server sends, if there are others.
final class OutboxSenders: Sendable {
    private struct State {
        var leases: [String: Lease] = [:]
        /// Accounts that another server sends, and until when it is not asked for again.
        var pauses: [String: ContinuousClock.Instant] = [:]
    }

    private let state = Mutex(State())

    /// The lease of an account; nil if another server sends it, or none.
    subscript(account: String) -> Lease? {
        get { state.withLock { $0.leases[account] } }
        set { state.withLock { $0.leases[account] = newValue } }
    }

    /// Returns how long an account is not asked for.
    func rest(of account: String) -> Duration? {
        let rest = state.withLock { $0.pauses[account].map { ContinuousClock.now.duration(to: $0) } }
        return rest.flatMap { $0 > .zero ? $0 : nil }
    }

    func pause(_ account: String, for time: Duration) { state.withLock { $0.pauses[account] = .now + time } }
}

// One server at a time sends the writes of an account: the one that has its lease.
extension DiskStore {
    /// How long another server waits before it takes over from one that has gone away.
    private static let sendingTime = Duration.seconds(15)
    private static let sendingRenewal = Duration.seconds(5)
    /// When an account that another server sends is asked for again.
    private static let sendingPause = Duration.seconds(5)

    /// Runs `body` while no other server sends the writes of an account.
    ///
    /// - Returns: After how long it is to be tried again; nil if `body` has run to its end.
    /// - Throws: Errors of the store and of `body`.
    func sending(_ account: String, at now: Date, _ body: @escaping @Sendable () async throws -> Void) async throws
        -> Duration?
    {
        guard users.isShared else {
            if begun(of: account) != nil { try await interrupt(account, at: now) }
            try await body()
            return nil
        }
        if let rest = senders.rest(of: account) { return rest }
        guard let lease = try await takeLease(of: account) else {
            senders.pause(account, for: Self.sendingPause)
            return Self.sendingPause
        }
        var pause: Duration?
        do {
            try await interrupt(account, at: now)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await renew(lease, of: account) }
                group.addTask(operation: body)
                defer { group.cancelAll() }
                try await group.next()
            }
        } catch is LeaseLost {
            pause = Self.sendingPause
        } catch {
            await leave(account)
            throw error
        }
        await leave(account)
        return pause
    }

    /// Becomes the sender of an account.
    ///
    /// - Returns: Nil if another server is.
    func takeLease(of account: String) async throws -> Lease? {
        // It may have been used on other servers only.
        try await catchUp(account)
        let lease = try await users.leases.take("disk/outbox/\(account)", lasting: Self.sendingTime)
        if let lease { senders[account] = lease }
        return lease
    }

    /// Marks a write as interrupted that was begun, and whose end was not stored: it may be carried out, and is looked
    /// at before it is sent again. Of several servers, one that has ended may have begun it, of which memory knows
    /// within the transaction.
    func interrupt(_ account: String, at now: Date) async throws {
        _ = try await change(of: account, by: .sender) { [self] _ in
            guard var begun = begun(of: account) else { return nil }
            _ = begun.progress.apply(.interrupted, at: now)
            return OutboxDecision(changes: [.put(begun)], shown: begun)
        }
    }

    /// Renews a lease as long as this task is not cancelled.
    ///
    /// - Throws: `LeaseLost`; `CancellationError`.
    private func renew(_ lease: Lease, of account: String) async throws {
        while true {
            try await clock.sleep(Self.sendingRenewal)
            do {
                let renewed = try await users.leases.renew([lease], lasting: Self.sendingTime).first
                guard let renewed else { throw LeaseLost() }
                senders[account] = renewed
            } catch  where UserDatabase.isTemporary(error) {
                // PostgreSQL may respond again before the lease is over.
                try checkIsSender(of: account)
            }
        }
    }

    /// Lets other servers send the writes of an account. If that fails, they wait for the end of the lease.
    func leave(_ account: String) async {
        guard let lease = senders[account] else { return }
        senders[account] = nil
        _ = try? await Task { try await users.leases.release([lease]) }.value
    }

    /// Checks that no other server sends the writes of an account by now.
    ///
    /// - Throws: `LeaseLost`.
    func checkIsSender(of account: String) throws {
        guard !users.isShared || senders[account]?.holds() == true else { throw LeaseLost() }
    }

    /// Returns the write that is being sent, or was when its server ended.
    func begun(of account: String) -> OutboxEntry<QueuedWrite>? {
        outbox.queue(of: account)?.unsettled.first { $0.progress.state == .running }
    }

    /// Returns the lease by which this server sends the writes of an account; nil if there is no other server.
    ///
    /// - Throws: `LeaseLost` if it has none.
    func senderLease(of account: String) throws -> Lease? {
        guard users.isShared else { return nil }
        guard let lease = senders[account] else { throw LeaseLost() }
        return lease
    }
}

import Concurrency
import Database
import Foundation
import Freshness
import Logging
import Synchronization
import Upstream

/// Sends the writes that wait, of each account one at a time in their order, different accounts side by side.
///
/// It is idle until it is woken: by a change of the outbox, by the time of the next attempt, by the recovery of the
/// API, by a login, and by the start of the server. What is to be done is in the store only, so that a process which
/// ends loses nothing of it.
final class OutboxKeeper: Sendable {
    private struct State {
        var drains: [String: Task<Void, Never>] = [:]
        /// Accounts that were woken while they were being drained.
        var mustLookAgain: Set<String> = []
        var timers: [String: Task<Void, Never>] = [:]
        /// Bytes that were taken of the uploads under way.
        var sent: [String: Int] = [:]
        var isStopped = false
    }

    private static let pauseAfterFailure: TimeInterval = 60

    private let state = Mutex(State())
    private let runner: OutboxRunner
    private let announcer: ChangeAnnouncer
    private let store: DiskStore
    private let client: YandexDiskClient
    private let clock: WallClock
    private let logger: Logger

    init(runner: OutboxRunner, announcer: ChangeAnnouncer, clock: WallClock, logger: Logger) {
        self.runner = runner
        self.announcer = announcer
        store = runner.accounts.store
        client = runner.accounts.reader.client
        self.clock = clock
        self.logger = logger
        store.outbox.listen { [weak self] account in
            self?.announcer.changed(account)
            self?.wake(account)
        }
    }

    /// Returns the bytes that were taken of an upload that is being sent.
    func sent(_ id: String) -> Int? { state.withLock { $0.sent[id] } }

    /// Looks for work of all accounts. Returns at once.
    func wake() {
        for account in store.outbox.accounts { wake(account) }
    }

    /// Looks for work of an account. Returns at once.
    func wake(_ account: String) {
        state.withLock { state in
            guard !state.isStopped else { return }
            guard state.drains[account] == nil else {
                state.mustLookAgain.insert(account)
                return
            }
            state.drains[account] = Task { await self.drain(account) }
        }
    }

    /// Cancels the work of an account that was logged out.
    func cancel(account: String) {
        let tasks = state.withLock { state in
            [state.drains[account], state.timers.removeValue(forKey: account)].compactMap { $0 }
        }
        for task in tasks { task.cancel() }
        announcer.forget(account)
        store.outlooks.forget(account)
    }

    /// Cancels everything, and returns when it has ended.
    func stop() async {
        let tasks = state.withLock { state in
            state.isStopped = true
            for timer in state.timers.values { timer.cancel() }
            return Array(state.drains.values)
        }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }

    private func drain(_ account: String) async {
        do {
            while let entry = next(of: account) { try await run(entry) }
        } catch {
            if !(error is CancellationError) {
                logger.error("the outbox could not be written", metadata: ["error": "\(error)"])
                wait(until: clock.now().addingTimeInterval(Self.pauseAfterFailure), account)
            }
        }
        // Another task: this one may be cancelled, and the account logged in again.
        state.withLock { state in
            state.drains[account] = nil
            guard state.mustLookAgain.remove(account) != nil, !state.isStopped else { return }
            state.drains[account] = Task { await self.drain(account) }
        }
    }

    /// Returns the write whose turn it is; nil if none can be sent now.
    private func next(of account: String) -> OutboxEntry<QueuedWrite>? {
        guard !Task.isCancelled, client.isReachable, let queue = store.outbox.queue(of: account) else { return nil }
        let now = clock.now()
        let reachability = client.upstream.reachability
        if let end = reachability.pause(for: client.credential(of: account), at: now)?.end {
            wait(until: end, account)
            return nil
        }
        let operations = queue.entries.lazy.map { (work: $0.work, progress: $0.progress) }
        let isDue = { (progress: OutboxProgress) in progress.nextAttempt.map { $0 <= now } ?? true }
        if let position = OutboxOrder.next(operations, isDue: isDue) { return queue.entries[position] }
        let dates = queue.entries.lazy.compactMap(\.progress.nextAttempt).filter { $0 > now }
        if let date = dates.min() { wait(until: date, account) }
        return nil
    }

    private func wait(until end: Date, _ account: String) {
        let pause = Duration.seconds(max(0.001, end.timeIntervalSince(clock.now())))
        state.withLock { state in
            guard !state.isStopped else { return }
            state.timers[account]?.cancel()
            state.timers[account] = Task { [weak self, clock] in
                // A timer that is cancelled was replaced by another one.
                try? await clock.run(after: pause) { [weak self] in self?.wake(account) }
            }
        }
    }

    /// Sends one write, and stores what happened.
    private func run(_ entry: OutboxEntry<QueuedWrite>) async throws {
        let (id, account, now) = (entry.id, entry.account, clock.now())
        let wasSent = entry.progress.isDoubtful
        // Stored before anything is sent: after a kill it is looked at first.
        let begun = try await store.change(id, account: account) { _ = $0.progress.apply(.began, at: now) }
        guard let begun, begun.progress.state == .running else { return }
        let outcome = await runner.run(begun, wasSent: wasSent) { [weak self] sent in self?.sent(sent, of: begun) }
        state.withLock { $0.sent[id] = nil }
        let (ended, jitter) = (clock.now(), Randomness.fraction(for: "outbox"))
        // Also of a task that is cancelled: what happened is stored.
        _ = try await Task { [store] in
            try await store.change(id, account: account) { entry in
                if let work = outcome.work { entry.work = work }
                _ = entry.progress.apply(outcome.event, at: ended, jitter: jitter)
            }
        }.value
    }

    private func sent(_ bytes: Int, of entry: OutboxEntry<QueuedWrite>) {
        state.withLock { $0.sent[entry.id] = bytes }
        announcer.changed(entry.account)
    }
}

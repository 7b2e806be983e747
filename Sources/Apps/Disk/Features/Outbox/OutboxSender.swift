import Cluster
import Concurrency
import Foundation
import Logging
import Screens
import Storage
import Synchronization
import Upstream

/// Sends the writes that wait, of each account one at a time in their order, different accounts side by side.
///
/// It is idle until it is woken: by the start of the server, a change of the outbox, the time of the next attempt, the
/// recovery of the API, or a login. The pending writes are in the store only, so that a process which ends loses
/// nothing of them.
final class OutboxSender: Sendable {
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
    /// How often a server looks for writes that another server was sending when it ended.
    private static let interval = Duration.seconds(10)

    private let state = Mutex(State())
    private let disk: Disk
    private let runner: OutboxRunner
    private let announcer: ChangeAnnouncer

    private var store: DiskStore { disk.store }

    init(_ disk: Disk) {
        self.disk = disk
        runner = OutboxRunner(disk: disk)
        announcer = ChangeAnnouncer(disk) { account in
            disk.events.outboxChanged(disk.store.pendingWrites(of: account)?.count ?? 0, account: account)
        }
        store.outbox.listen { [weak self] account in
            self?.announcer.changed(account)
            self?.wake(account)
        }
    }

    /// Sends the writes that wait; of several servers, until the task is cancelled.
    @Sendable func run() async {
        await look()
        while store.users.isShared, !Task.isCancelled {
            do { try await disk.clock.run(after: Self.interval) { await self.look() } } catch { return }
        }
    }

    private func look() async {
        do {
            _ = try await store.users.catchUp()
            try store.followOutboxes()
        } catch is CancellationError {
            return
        } catch {
            disk.logger.warning("the outbox could not be read", metadata: ["error": "\(error)"])
        }
        wake()
    }

    /// Returns the bytes that were taken of an upload that is being sent.
    func sent(_ id: String) -> Int? { state.withLock { $0.sent[id] } }

    /// Looks for work of all accounts. Returns at once.
    func wake() {
        for account in store.outbox.accounts { wake(account) }
    }

    /// Looks for work of an account. Returns at once.
    func wake(_ account: String) {
        // The key of the request that wakes it is not that of the writes that it sends.
        WriteCompanion.$current.withValue(nil) {
            state.withLock { state in
                guard !state.isStopped else { return }
                guard state.drains[account] == nil else {
                    state.mustLookAgain.insert(account)
                    return
                }
                state.drains[account] = Task { await self.drain(account) }
            }
        }
    }

    /// Cancels the work of an account that was logged out.
    func cancel(account: String) {
        disk.uploads.end(of: account)
        let tasks = state.withLock { state in
            [state.drains[account], state.timers.removeValue(forKey: account)].compactMap { $0 }
        }
        for task in tasks { task.cancel() }
        announcer.forget(account)
    }

    /// Cancels everything, and returns when it has ended.
    @Sendable func stop() async {
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
            let pause = try await hasWork(account) ? send(account) : nil
            // Another server sends them.
            if let pause { wait(until: disk.clock.now().addingTimeInterval(pause / .seconds(1)), account) }
        } catch {
            if !(error is CancellationError) {
                disk.logger.error("the outbox could not be written", metadata: ["error": "\(error)"])
                wait(until: disk.clock.now().addingTimeInterval(Self.pauseAfterFailure), account)
            }
        }
        // Another task: this one may be cancelled, and the account logged in again.
        state.withLock { state in
            state.drains[account] = nil
            guard state.mustLookAgain.remove(account) != nil, !state.isStopped else { return }
            state.drains[account] = Task { await self.drain(account) }
        }
    }

    /// Sends the writes of an account that can be sent.
    ///
    /// - Returns: After how long it is to be tried again; nil if nothing is left that can be sent.
    private func send(_ account: String) async throws -> Duration? {
        try await store.sending(account, at: disk.clock.now()) { [self] in
            var ahead: OutboxLookAhead?
            while let entry = try await next(of: account) { ahead = try await run(entry, ahead) }
        }
    }

    /// Whether something can be sent, or is taken for being sent.
    private func hasWork(_ account: String) -> Bool {
        if store.begun(of: account) != nil { return true }
        guard canSend(account) else { return false }
        switch store.outbox.next(of: account, at: disk.clock.now()) {
        case .run: return true
        case .wait(let date):
            wait(until: date, account)
            return false
        case .none: return false
        }
    }

    /// Begins the next write to be sent, unless it was begun when the one before was done. That is stored before
    /// anything is sent: after a kill, the API is asked first whether the write was carried out.
    ///
    /// - Returns: The write; nil if none can be sent now.
    private func next(of account: String) async throws -> OutboxEntry<QueuedWrite>? {
        let begun = store.begun(of: account)
        guard canSend(account) else {
            if let begun { _ = try await apply(.postponed, to: begun) }
            return nil
        }
        if let begun { return begun }
        while true {
            switch store.outbox.next(of: account, at: disk.clock.now()) {
            case .run(let entry):
                // It may have been taken back meanwhile.
                if let begun = try await apply(.began, to: entry), begun.progress.state == .running { return begun }
            case .wait(let date):
                wait(until: date, account)
                return nil
            case .none: return nil
            }
        }
    }

    private func canSend(_ account: String) -> Bool {
        guard !Task.isCancelled, disk.client.isReachable else { return false }
        guard let end = pauseEnd(of: account) else { return true }
        wait(until: end, account)
        return false
    }

    /// Returns the time before which nothing of an account is sent because the API has requested a pause; nil without a
    /// pause.
    func pauseEnd(of account: String) -> Date? {
        disk.client.upstream.reachability.pause(for: disk.client.credential(of: account), at: disk.clock.now())?.end
    }

    private func wait(until end: Date, _ account: String) {
        let pause = Duration.seconds(max(0.001, end.timeIntervalSince(disk.clock.now())))
        state.withLock { state in
            guard !state.isStopped else { return }
            state.timers[account]?.cancel()
            state.timers[account] = Task { [weak self, clock = disk.clock] in
                // A timer that is cancelled was replaced by another one.
                try? await clock.run(after: pause) { [weak self] in self?.wake(account) }
            }
        }
    }

    /// Sends one write, and stores its outcome. Meanwhile, the items that the next write touches are read.
    ///
    /// - Parameter ahead: The look-ahead begun while the last write was sent.
    /// - Returns: The look-ahead for the next write; nil if this write was not carried out.
    private func run(_ entry: OutboxEntry<QueuedWrite>, _ ahead: OutboxLookAhead?) async throws -> OutboxLookAhead? {
        var following: OutboxLookAhead?
        if ahead != nil || entry.progress.attempts == 0,
            case .run(let next) = store.outbox.next(of: entry.account, at: disk.clock.now(), after: entry.id)
        {
            following = OutboxLookAhead(at: next, during: entry, runner)
        }
        let found = await ahead?.found(for: entry, at: disk.clock.now())
        let outcome = await runner.run(entry, found) { [weak self] sent in self?.sent(sent, of: entry) }
        state.withLock { $0.sent[entry.id] = nil }
        if outcome.event == .succeeded, store.outbox.entry(entry.id, of: entry.account) == nil { return following }
        following?.cancel()
        _ = try await apply(outcome.event, to: entry, outcome.work, isUpstreamWell: outcome.isUpstreamWell)
        return nil
    }

    /// Stores an event of a write, also if this task is cancelled.
    private func apply(
        _ event: OutboxProgress.Event,
        to entry: OutboxEntry<QueuedWrite>,
        _ work: QueuedWrite? = nil,
        isUpstreamWell: Bool = false
    ) async throws -> OutboxEntry<QueuedWrite>? {
        let (now, jitter) = (disk.clock.now(), Randomness.fraction(for: "outbox"))
        return try await Task { [store] in
            try await store.change(entry.id, account: entry.account) { entry in
                if let work { entry.work = work }
                _ = entry.progress.apply(event, at: now, jitter: jitter, isUpstreamWell: isUpstreamWell)
                // An operation of an earlier attempt tells nothing of the next one.
                if !entry.progress.isOutcomeUnknown { entry.work.following = nil }
            }
        }.value
    }

    private func sent(_ bytes: Int, of entry: OutboxEntry<QueuedWrite>) {
        state.withLock { $0.sent[entry.id] = bytes }
        announcer.changed(entry.account)
    }
}

/// Reads the items that a write touches while the write before it is sent: draining a queue then takes as many
/// successive calls as it has writes.
///
/// It is made only if the order of both does not matter, and is not used once it is old, so that the moment between
/// look and request stays short.
struct OutboxLookAhead: Sendable {
    private static let validity = 0.0..<1.0
    /// A longer upload takes so long that the look would be old.
    private static let longest = 1 << 20

    private let entry: OutboxEntry<QueuedWrite>
    private let time: Date
    private let found: Task<CurrentState?, Never>

    /// Begins to look; nil if the writes concern each other, or no look is needed.
    init?(at entry: OutboxEntry<QueuedWrite>, during earlier: OutboxEntry<QueuedWrite>, _ runner: OutboxRunner) {
        guard !entry.work.isComparedByAPI, !entry.work.touches(earlier.work),
            earlier.blob?.length ?? 0 <= Self.longest
        else { return nil }
        self.entry = entry
        time = runner.disk.clock.now()
        found = Task { await runner.look(at: entry) }
    }

    /// Returns the items found for a write; nil if the look was at another write, failed or is old.
    func found(for entry: OutboxEntry<QueuedWrite>, at now: Date) async -> CurrentState? {
        guard entry.number == self.entry.number, entry.work == self.entry.work,
            Self.validity.contains(now.timeIntervalSince(time))
        else {
            cancel()
            return nil
        }
        return await found.value
    }

    func cancel() { found.cancel() }
}

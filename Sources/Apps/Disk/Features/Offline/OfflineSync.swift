import Concurrency
import Foundation
import HTTP
import Logging
import Screens
import Synchronization
import Upstream

/// Keeps marked files and folders up to date in the background: reads the due work from the store, lets
/// ``OfflineSchedule`` decide which jobs begin, and runs them.
///
/// It is idle until it is woken: by the start of the server, a change of a mark or of a file, the end of a job, the
/// time of the next work, or the recovery of the API. The due work is in the store only, so that a process which ends
/// loses nothing of it.
final class OfflineSync: Sendable {
    private struct State {
        var schedule: OfflineSchedule
        var tasks: [OfflineSchedule.Job: Task<Void, Never>] = [:]
        var partials: [OfflineKey: PartialContent] = [:]
        /// Bytes that are here of the contents that are being fetched.
        var received: [OfflineKey: Int] = [:]
        var pass: Task<Void, Never>?
        var mustPassAgain = false
        var timer: Task<Void, Never>?
        /// Nothing begins before this time, after a failure of the store.
        var pausedUntil: Date?
        var isStopped = false
    }

    /// Largest number of due jobs that are read for each account; the rest follows later.
    private static let mostDue = 64
    /// Beginnings of contents that are kept for another attempt.
    private static let mostPartials = 8
    private static let pauseAfterFailure: TimeInterval = 60

    private let state: Mutex<State>
    private let disk: Disk
    private let announcer: ChangeAnnouncer

    private var store: DiskStore { disk.store }

    init(_ disk: Disk) {
        state = Mutex(State(schedule: OfflineSchedule(limit: disk.settings[DiskApp.offlineFetches])))
        self.disk = disk
        announcer = ChangeAnnouncer(disk) { account in
            // An account that was logged out has no listeners.
            guard let revision = try? disk.store.revision(of: account) else { return }
            disk.events.screenChanged("disk.offline", revision, account: account)
        }
        store.offlineSignal.listen { [weak self] account in
            self?.announcer.changed(account)
            self?.wake()
        }
    }

    /// Returns the bytes that are here of the contents of an account that are being fetched.
    func received(of account: String) -> [DiskPath: Int] {
        let received = state.withLock { $0.received }
        return Dictionary(uniqueKeysWithValues: received.compactMap { $0.account == account ? ($0.path, $1) : nil })
    }

    /// Looks for work. Returns at once.
    func wake() {
        state.withLock { state in
            guard !state.isStopped else { return }
            guard state.pass == nil else {
                state.mustPassAgain = true
                return
            }
            state.pass = Task { self.pass() }
        }
    }

    /// Cancels the work of an account that was logged out.
    func cancel(account: String) {
        cancel(.root, account: account)
        announcer.forget(account)
    }

    /// Cancels the jobs of paths that no mark covers any more.
    func cancel(_ path: DiskPath, account: String) {
        let isCancelled = { (key: OfflineKey) in key.account == account && path.covers(key.path) }
        let tasks = state.withLock { state in
            state.partials = state.partials.filter { !isCancelled($0.key) }
            return state.tasks.filter { isCancelled($0.key.key) }.map(\.value)
        }
        for task in tasks { task.cancel() }
    }

    /// Cancels everything, and returns when it has ended.
    @Sendable func stop() async {
        let tasks = state.withLock { state in
            state.isStopped = true
            state.timer?.cancel()
            state.partials = [:]
            return Array(state.tasks.values) + [state.pass].compactMap { $0 }
        }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }
}

// Looking for work.
extension OfflineSync {
    private func pass() {
        repeat {
            let now = disk.clock.now()
            do {
                begin(try store.offlineWork(at: now, limit: Self.mostDue), at: now)
            } catch {
                paused(by: error, "the work on offline files could not be read")
            }
        } while mustPassAgain()
    }

    private func mustPassAgain() -> Bool {
        state.withLock { state in
            if state.mustPassAgain, !state.isStopped {
                state.mustPassAgain = false
                return true
            }
            state.mustPassAgain = false
            state.pass = nil
            return false
        }
    }

    private func begin(_ work: OfflineWork, at now: Date) {
        let reachability = disk.client.upstream.reachability
        func pause(_ account: String) -> Date? {
            reachability.pause(for: disk.client.credential(of: account), at: now)?.end
        }
        let accounts = Set(work.jobs.map(\.key.account))
        let ends = accounts.compactMap(pause) + [work.nextDue].compactMap { $0 }
        state.withLock { state in
            guard !state.isStopped else { return }
            if let end = state.pausedUntil, now < end { return wait(until: end, from: now, &state) }
            if let end = ends.min() { wait(until: end, from: now, &state) }
            let jobs = state.schedule.begin(work.jobs) { !reachability.isReachable || pause($0) != nil }
            for job in jobs { state.tasks[job] = Task { await self.run(job, work) } }
        }
    }

    private func wait(until end: Date, from now: Date, _ state: inout State) {
        state.timer?.cancel()
        state.timer = Task { [weak self, clock = disk.clock] in
            // A timer that is cancelled was replaced by another one.
            let pause = Duration.seconds(max(0.001, end.timeIntervalSince(now)))
            try? await clock.run(after: pause) { [weak self] in self?.wake() }
        }
    }

    /// Stops for a while after a failure of the store, so that the same failure is not repeated at once.
    private func paused(by error: any Error, _ message: Logger.Message) {
        if error is CancellationError { return }
        disk.logger.error(message, metadata: ["error": "\(error)"])
        let now = disk.clock.now()
        state.withLock { state in
            guard !state.isStopped else { return }
            let end = now.addingTimeInterval(Self.pauseAfterFailure)
            state.pausedUntil = end
            wait(until: end, from: now, &state)
        }
    }
}

// The work itself.
extension OfflineSync {
    private func run(_ job: OfflineSchedule.Job, _ work: OfflineWork) async {
        do {
            switch job {
            case .check(let key):
                if let mark = work.marks.first(where: { $0.key == key }) { try await check(mark) }
            case .fetch(let key):
                if let file = work.files.first(where: { $0.key == key }) { try await fetch(file) }
            }
        } catch {
            paused(by: error, "the state of an offline file could not be written")
        }
        state.withLock { state in
            state.schedule.end(job)
            state.tasks[job] = nil
        }
        announcer.changed(job.key.account)
        wake()
    }

    private func check(_ mark: OfflineMark) async throws {
        let failure: OfflineFailure?
        switch await OfflineChecker(disk: disk).check(mark) {
        case .ended(let reason): failure = reason
        // Another 404 than the API's own is no news (docs/decisions/0027): the mark is still there.
        case .gone: failure = .unavailable
        case .postponed: return
        }
        // It may have been removed on another server.
        try await store.catchUp(mark.account)
        let now = disk.clock.now()
        let isFinal = failure.map { !$0.isRetryable } ?? true
        let next =
            isFinal
            ? now.addingTimeInterval(disk.settings[DiskApp.offlineCheck].seconds)
            : OfflineRetry.date(attempts: mark.attempts + 1, after: now, Randomness.fraction(for: "offline"))
        try await store.endCheck(
            of: mark,
            failure: failure,
            budget: disk.settings[DiskApp.offlineBudget],
            at: now,
            next: next
        )
    }

    private func fetch(_ file: OfflineFile) async throws {
        var partial = state.withLock { state in
            state.received[file.key] = state.partials[file.key]?.received ?? 0
            return state.partials.removeValue(forKey: file.key)
        }
        announcer.changed(file.account)
        let outcome = await OfflineFetcher(disk: disk).fetch(file, &partial) { [weak self] received in
            self?.state.withLock { $0.received[file.key] = received }
            self?.announcer.changed(file.account)
        }
        state.withLock { state in
            state.received[file.key] = nil
            if let partial, !state.isStopped, !Task.isCancelled, state.partials.count < Self.mostPartials {
                state.partials[file.key] = partial
            }
        }
        guard outcome != .stored, outcome != .postponed else { return }
        try await store.note(file.after(outcome, at: disk.clock.now(), jitter: Randomness.fraction(for: "offline")))
    }
}

import Foundation
import Logging
import Screens
import Synchronization

/// Downloads under way: how they stand, who runs them, and who waits for a place. The rules of one are
/// ``DownloadJob``'s.
final class DownloadQueue: Sendable {
    /// Fetches and stores a file. `progress` is told of bytes as they come, and of a new beginning.
    typealias Work =
        @Sendable (_ job: DownloadJob, _ progress: @escaping @Sendable (DownloadJob.Event) -> Void) async ->
        DownloadJob.Event

    private struct Entry {
        var job: DownloadJob
        let work: Work
        var task: Task<Void, Never>?
    }

    private struct State {
        var entries: [String: Entry] = [:]
        var waiting: [String] = []
        var running = 0
        var tasks: [Int: Task<Void, Never>] = [:]
        var lastTask = 0
        var isStopped = false
    }

    private let state = Mutex(State())
    private let store: DiskStore
    private let events: EventStream
    private let limit: Int
    private let logger: Logger

    init(store: DiskStore, events: EventStream, limit: Int, logger: Logger) {
        self.store = store
        self.events = events
        self.limit = max(1, limit)
        self.logger = logger
    }

    /// How a download stands that is under way here.
    func job(_ id: String) -> DownloadJob? { state.withLock { $0.entries[id]?.job } }

    /// Runs a download as soon as there is a place.
    func add(_ job: DownloadJob, _ work: @escaping Work) {
        let isNew = state.withLock { state in
            guard !state.isStopped, state.entries[job.id] == nil else { return false }
            state.entries[job.id] = Entry(job: job, work: work)
            state.waiting.append(job.id)
            return true
        }
        guard isNew else { return }
        tell(job)
        startWaiting()
    }

    /// Ends all downloads of an account; nobody is told.
    func cancel(account: String) {
        let tasks = state.withLock { state in
            let ids = state.entries.filter { $0.value.job.account == account }.keys
            state.waiting.removeAll(where: ids.contains)
            return ids.compactMap { state.entries.removeValue(forKey: $0)?.task }
        }
        for task in tasks { task.cancel() }
    }

    /// Ends everything with the server, and returns when it has ended. What was under way is taken up again at the next
    /// start.
    func stop() async {
        let tasks = state.withLock { state in
            state.isStopped = true
            defer {
                state.entries = [:]
                state.waiting = []
                state.tasks = [:]
            }
            return state.entries.values.compactMap(\.task) + state.tasks.values
        }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }

    /// Something that nobody waits for; it ends with the server.
    func background(_ work: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            guard !state.isStopped else { return }
            state.lastTask += 1
            let number = state.lastTask
            state.tasks[number] = Task {
                await work()
                self.state.withLock { $0.tasks[number] = nil }
            }
        }
    }

    private func startWaiting() {
        state.withLock { state in
            while !state.isStopped, state.running < limit, !state.waiting.isEmpty {
                let id = state.waiting.removeFirst()
                guard let entry = state.entries[id] else { continue }
                state.running += 1
                state.entries[id]?.task = Task { await self.run(entry.job, entry.work) }
            }
        }
    }

    private func run(_ job: DownloadJob, _ work: Work) async {
        await take(.started, for: job.id)
        let outcome = await work(job) { [weak self] event in self?.progressed(event, for: job.id) }
        if !Task.isCancelled { await take(outcome, for: job.id) }
        state.withLock { state in
            state.running -= 1
            state.entries[job.id] = nil
        }
        startWaiting()
    }

    /// A change of status: on the disk first, then told.
    private func take(_ event: DownloadJob.Event, for id: String) async {
        guard var job = job(id), job.apply(event) else { return }
        // A body that was stored has ended its download in the same transaction.
        if event != .stored {
            do {
                try await store.note(job)
            } catch {
                logger.error("a download's state could not be written", metadata: ["error": "\(error)"])
            }
        }
        let isKnown = state.withLock { state in
            guard state.entries[id] != nil else { return false }
            state.entries[id]?.job = job
            return true
        }
        if isKnown { tell(job) }
    }

    /// Bytes have come. Kept in memory only: after a crash they are fetched again anyway.
    private func progressed(_ event: DownloadJob.Event, for id: String) {
        let told = state.withLock { state -> DownloadJob? in
            guard state.entries[id]?.job.apply(event) == true else { return nil }
            return state.entries[id]?.job
        }
        if let told { tell(told) }
    }

    private func tell(_ job: DownloadJob) {
        events.publish(
            .job(
                app: "disk",
                id: job.id,
                status: job.status.rawValue,
                progress: job.progress,
                audience: .account(app: "disk", account: job.account)
            )
        )
    }
}

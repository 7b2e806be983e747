import Foundation
import Logging
import Synchronization

/// Downloads in progress: their states, the tasks that run them, and the jobs that wait for a slot. The rules of one
/// download are those of ``DownloadJob``.
final class DownloadQueue: Sendable {
    /// Fetches and stores a file. `progress` is called with the bytes that arrive, and when the download starts again.
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
        var isStopped = false
    }

    private let state = Mutex(State())
    private let book: any JobBook
    private let events: DiskEvents
    private let limit: Int
    private let logger: Logger

    init(book: any JobBook, events: DiskEvents, limit: Int, logger: Logger) {
        self.book = book
        self.events = events
        self.limit = max(1, limit)
        self.logger = logger
    }

    /// Returns the state of a download in progress.
    func job(_ id: String) -> DownloadJob? { state.withLock { $0.entries[id]?.job } }

    /// Runs a download as soon as a slot is free.
    func add(_ job: DownloadJob, _ work: @escaping Work) {
        let isNew = state.withLock { state in
            guard !state.isStopped, state.entries[job.id] == nil else { return false }
            state.entries[job.id] = Entry(job: job, work: work)
            state.waiting.append(job.id)
            return true
        }
        guard isNew else { return }
        events.downloadChanged(job)
        startWaiting()
    }

    /// The downloads in progress.
    var jobs: [DownloadJob] { state.withLock { $0.entries.values.map(\.job) } }

    /// Cancels all downloads of an account, without events.
    func cancel(account: String) { cancel { $0.account == account } }

    /// Cancels some downloads, without events.
    func cancel(where isCancelled: (DownloadJob) -> Bool) {
        let tasks = state.withLock { state in
            let ids = state.entries.filter { isCancelled($0.value.job) }.keys
            state.waiting.removeAll(where: ids.contains)
            return ids.compactMap { state.entries.removeValue(forKey: $0)?.task }
        }
        for task in tasks { task.cancel() }
    }

    /// Cancels everything, and returns when it has ended. Unfinished downloads are resumed at the next start.
    func stop() async {
        let tasks = state.withLock { state in
            state.isStopped = true
            defer {
                state.entries = [:]
                state.waiting = []
            }
            return state.entries.values.compactMap(\.task)
        }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
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

    /// Applies a change of status: to the store first, then published.
    private func take(_ event: DownloadJob.Event, for id: String) async {
        guard var job = job(id), job.apply(event) else { return }
        // The transaction that stored the body may have ended the download.
        if event != .stored || !book.endsWithContent {
            do {
                // Another server has it, or the account was logged out.
                guard try await book.note(job) || book.endsWithContent else { return }
            } catch {
                logger.error("a download's state could not be written", metadata: ["error": "\(error)"])
                // It is taken up again.
                if job.isOver, !book.endsWithContent { return }
            }
        }
        let isKnown = state.withLock { state in
            guard state.entries[id] != nil else { return false }
            state.entries[id]?.job = job
            return true
        }
        if isKnown { events.downloadChanged(job) }
    }

    /// Applies progress. In memory only: after a crash the bytes are fetched again anyway.
    private func progressed(_ event: DownloadJob.Event, for id: String) {
        let changed = state.withLock { state -> DownloadJob? in
            guard state.entries[id]?.job.apply(event) == true else { return nil }
            return state.entries[id]?.job
        }
        if let changed { events.downloadChanged(changed) }
    }
}

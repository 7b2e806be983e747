import Cluster
import Concurrency
import Foundation
import Logging
import Screens
import Synchronization

/// Downloads in progress: their states, the tasks that run them, and the jobs that wait for a slot. The rules of one
/// download are those of ``DownloadJob``.
final class DownloadQueue: Sendable {
    private struct Entry {
        var job: DownloadJob
        var lease: Lease?
        /// The bytes that other servers know of.
        var bytesNoted = 0
        var task: Task<Void, Never>?
    }

    private struct State {
        var entries: [String: Entry] = [:]
        var waiting: [String] = []
        var running = 0
        var isStopped = false
    }

    /// How often a server renews the leases of its downloads, and looks for downloads without a server.
    private static let pause = Duration.seconds(5)

    private let state = Mutex(State())
    private let disk: Disk

    private var store: DiskStore { disk.store }

    init(_ disk: Disk) {
        self.disk = disk
    }

    /// Resumes the unfinished downloads; of several servers, until the task is cancelled.
    @Sendable func run() async {
        while true {
            do {
                try await resume()
            } catch  where !Task.isCancelled {
                disk.logger.error(
                    "downloads could not be resumed; the next start or another server tries again",
                    metadata: ["error": "\(error)"]
                )
            } catch {
                return
            }
            guard store.users.isShared, (try? await disk.clock.sleep(Self.pause)) != nil else { return }
        }
    }

    /// Renews the leases of this server's downloads, and queues those that no server has. These begin again: parts of
    /// files are not stored.
    func resume() async throws {
        try await renewLeases()
        for (job, lease) in try await store.takeUpDownloads(except: ids) {
            add(job, lease)
        }
    }

    func job(_ id: String) -> DownloadJob? { state.withLock { $0.entries[id]?.job } }

    /// Runs a download as soon as a slot is free.
    ///
    /// - Parameter lease: That of the download; it is released at its end.
    func add(_ job: DownloadJob, _ lease: Lease?) {
        let isNew = state.withLock { state in
            guard !state.isStopped, state.entries[job.id] == nil else { return false }
            state.entries[job.id] = Entry(job: job, lease: lease)
            state.waiting.append(job.id)
            return true
        }
        guard isNew else { return }
        disk.events.downloadChanged(job)
        startWaiting()
    }

    private var ids: Set<String> { state.withLock { Set($0.entries.keys) } }

    /// Renews the leases of this server's downloads and stores their progress; ends those that another server has
    /// taken.
    private func renewLeases() async throws {
        let renewed = try await store.users.leases.renew(leases, lasting: DiskStore.downloadLease)
        let held = Dictionary(renewed.map { ($0.name, $0) }) { first, _ in first }
        let (lost, progressed) = state.withLock { state in
            var (lost, progressed): (Set<String>, [(DownloadJob, Lease)]) = ([], [])
            for (id, entry) in state.entries {
                guard let before = entry.lease else { continue }
                guard let lease = held[before.name] else {
                    lost.insert(id)
                    continue
                }
                state.entries[id]?.lease = lease
                guard entry.job.status == .running, entry.job.bytesDone != entry.bytesNoted else { continue }
                state.entries[id]?.bytesNoted = entry.job.bytesDone
                progressed.append((entry.job, lease))
            }
            return (lost, progressed)
        }
        cancel { lost.contains($0.id) }
        for (job, lease) in progressed { try await store.note(job, holding: lease) }
    }

    private var leases: [Lease] { state.withLock { $0.entries.values.compactMap(\.lease) } }

    /// Cancels all downloads of an account, without events.
    func cancel(account: String) { cancel { $0.account == account } }

    private func cancel(where isCancelled: (DownloadJob) -> Bool) {
        let tasks = state.withLock { state in
            let ids = state.entries.filter { isCancelled($0.value.job) }.keys
            state.waiting.removeAll(where: ids.contains)
            return ids.compactMap { state.entries.removeValue(forKey: $0)?.task }
        }
        for task in tasks { task.cancel() }
    }

    /// Cancels everything, and returns when it has ended. Unfinished downloads are resumed at the next start, or by
    /// another server.
    @Sendable func stop() async {
        let leases = leases
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
        await release(leases)
    }

    private func release(_ leases: [Lease]) async {
        do { try await store.users.leases.release(leases) } catch {
            disk.logger.warning("leases of downloads end later", metadata: ["error": "\(error)"])
        }
    }

    private func startWaiting() {
        state.withLock { state in
            while !state.isStopped, state.running < disk.settings[DiskApp.downloads], !state.waiting.isEmpty {
                let id = state.waiting.removeFirst()
                guard let entry = state.entries[id] else { continue }
                state.running += 1
                state.entries[id]?.task = Task { await self.run(entry.job) }
            }
        }
    }

    private func run(_ job: DownloadJob) async {
        await take(.started, for: job.id)
        let outcome = await DownloadRunner(disk: disk).run(job) { [weak self] in self?.progressed($0, for: job.id) }
        if !Task.isCancelled { await take(outcome, for: job.id) }
        let lease = state.withLock { state in
            state.running -= 1
            return state.entries.removeValue(forKey: job.id)?.lease
        }
        startWaiting()
        if let lease { await release([lease]) }
    }

    /// Applies a change of status: to the store first, then published.
    private func take(_ event: DownloadJob.Event, for id: String) async {
        guard let entry = state.withLock({ $0.entries[id] }) else { return }
        var job = entry.job
        guard job.apply(event) else { return }
        let endsWithContent = store.endsDownloadsWithContents
        // The transaction that stored the body may have ended the download.
        if event != .stored || !endsWithContent {
            do {
                // Another server has it, or the account was logged out.
                guard try await store.note(job, holding: entry.lease) || endsWithContent else { return }
            } catch {
                disk.logger.error("a download's state could not be written", metadata: ["error": "\(error)"])
                // Another attempt or server begins it again.
                if job.isOver, !endsWithContent { return }
            }
        }
        let isKnown = state.withLock { state in
            guard state.entries[id] != nil else { return false }
            state.entries[id]?.job = job
            return true
        }
        if isKnown { disk.events.downloadChanged(job) }
    }

    /// Applies progress. In memory only: after a crash the bytes are fetched again anyway.
    private func progressed(_ event: DownloadJob.Event, for id: String) {
        let changed = state.withLock { state -> DownloadJob? in
            guard state.entries[id]?.job.apply(event) == true else { return nil }
            return state.entries[id]?.job
        }
        if let changed { disk.events.downloadChanged(changed) }
    }
}

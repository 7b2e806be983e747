import Concurrency
import Foundation
import HTTP
import Logging
import Screens
import Synchronization

// The work itself.
extension OfflineKeeper {
    func run(_ job: OfflineSchedule.Job, _ work: OfflineWork) async {
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
        switch await checker.check(mark) {
        case .ended(let reason): failure = reason
        // Another 404 than the API's own is no news (docs/decisions/0027): the mark is still there.
        case .gone: failure = .unavailable
        case .postponed: return
        }
        // It may have been removed on another server.
        try await store.catchUp(mark.account)
        let now = clock.now()
        let isFinal = failure.map { !$0.isRetryable } ?? true
        let next =
            isFinal
            ? now.addingTimeInterval(settings[DiskApp.offlineCheck].seconds)
            : OfflineRetry.date(attempts: mark.attempts + 1, after: now, Randomness.fraction(for: "offline"))
        try await store.endCheck(
            of: mark,
            failure: failure,
            budget: settings[DiskApp.offlineBudget],
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
        let outcome = await fetcher.fetch(file, &partial) { [weak self] received in
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
        try await store.note(file.after(outcome, at: clock.now(), jitter: Randomness.fraction(for: "offline")))
    }
}

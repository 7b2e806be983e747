import Concurrency
import Foundation
import HTTP
import Logging
import Synchronization
import Upstream

// Looking for work.
extension OfflineKeeper {
    func pass() {
        repeat {
            let now = clock.now()
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
        let reachability = client.upstream.reachability
        func pause(_ account: String) -> Date? {
            reachability.pause(for: client.credential(of: account), at: now)?.end
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
        state.timer = Task { [weak self, clock] in
            // A timer that is cancelled was replaced by another one.
            let pause = Duration.seconds(max(0.001, end.timeIntervalSince(now)))
            try? await clock.run(after: pause) { [weak self] in self?.wake() }
        }
    }

    /// Stops for a while after a failure of the store, so that the same failure is not repeated at once.
    func paused(by error: any Error, _ message: Logger.Message) {
        if error is CancellationError { return }
        logger.error(message, metadata: ["error": "\(error)"])
        let now = clock.now()
        state.withLock { state in
            guard !state.isStopped else { return }
            let end = now.addingTimeInterval(Self.pauseAfterFailure)
            state.pausedUntil = end
            wait(until: end, from: now, &state)
        }
    }
}

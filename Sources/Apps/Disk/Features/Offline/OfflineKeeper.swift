import Concurrency
import Foundation
import HTTP
import Logging
import Screens
import Synchronization

/// Keeps marked files and folders up to date in the background: reads the due work from the store, lets
/// ``OfflineSchedule`` decide which jobs begin, and runs them.
///
/// It is idle until it is woken: by a change of a mark or of a file, by the end of a job, by the time of the next work,
/// by the recovery of the API, and by the start of the server. The due work is in the store only, so that a process
/// which ends loses nothing of it.
final class OfflineKeeper: Sendable {
    struct State {
        var schedule: OfflineSchedule
        var tasks: [OfflineSchedule.Job: Task<Void, Never>] = [:]
        var partials: [OfflineKey: PartialContent] = [:]
        /// Bytes that are here of the contents that are being fetched.
        var received: [OfflineKey: Int] = [:]
        var pass: Task<Void, Never>?
        var mustPassAgain = false
        var timer: Task<Void, Never>?
        /// After a failure of the store nothing begins until then.
        var pausedUntil: Date?
        var isStopped = false
    }

    /// Due work that is looked at, of each account; the rest follows.
    static let mostDue = 64
    /// Beginnings of contents that are kept for another attempt.
    static let mostPartials = 8
    static let pauseAfterFailure: TimeInterval = 60

    let state: Mutex<State>
    let store: DiskStore
    let client: YandexDiskClient
    let checker: OfflineChecker
    let fetcher: OfflineFetcher
    let announcer: ChangeAnnouncer
    let settings: SettingValues
    let clock: WallClock
    let logger: Logger

    init(
        checker: OfflineChecker,
        fetcher: OfflineFetcher,
        announcer: ChangeAnnouncer,
        settings: SettingValues,
        clock: WallClock,
        logger: Logger
    ) {
        state = Mutex(State(schedule: OfflineSchedule(limit: settings[DiskApp.offlineFetches])))
        store = checker.accounts.store
        client = checker.accounts.reader.client
        self.checker = checker
        self.fetcher = fetcher
        self.announcer = announcer
        self.settings = settings
        self.clock = clock
        self.logger = logger
        store.offlineSignal.listen { [weak self] account in
            self?.announcer.changed(account)
            self?.wake()
        }
    }

    /// Returns the bytes that are here of the contents of an account that are being fetched.
    func received(of account: String) -> [DiskPath: Int] {
        let received = state.withLock { $0.received }
        return Dictionary(
            uniqueKeysWithValues: received.compactMap { $0.account == account ? ($0.path, $1) : nil }
        )
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
        let tasks = state.withLock { state in
            state.partials = state.partials.filter { $0.key.account != account }
            return state.tasks.filter { $0.key.key.account == account }.map(\.value)
        }
        for task in tasks { task.cancel() }
        announcer.forget(account)
    }

    /// Cancels the jobs of paths that no mark covers any more.
    func cancel(_ path: DiskPath, account: String) {
        let tasks = state.withLock { state in
            state.partials = state.partials.filter { $0.key.account != account || !path.covers($0.key.path) }
            return state.tasks.filter { $0.key.key.account == account && path.covers($0.key.key.path) }.map(\.value)
        }
        for task in tasks { task.cancel() }
    }

    /// Cancels everything, and returns when it has ended.
    func stop() async {
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

import Concurrency
import Freshness
import Logging
import Synchronization

/// Publishes that the screen of offline files has changed, of each account at most once in a second.
final class OfflineAnnouncer: Sendable {
    private static let interval = 1.0

    private let throttles = Mutex<[String: EventThrottle]>([:])
    private let store: DiskStore
    private let events: DiskEvents
    private let background: BackgroundTasks
    private let clock: WallClock
    private let logger: Logger

    init(store: DiskStore, events: DiskEvents, background: BackgroundTasks, clock: WallClock, logger: Logger) {
        self.store = store
        self.events = events
        self.background = background
        self.clock = clock
        self.logger = logger
    }

    /// Publishes a change, now or at the end of the interval.
    func changed(_ account: String) {
        let now = clock.now()
        switch throttles.withLock({
            $0[account, default: EventThrottle(interval: Self.interval)].changed(at: now)
        }) {
        case .publish: publish(account)
        case .wait(let seconds):
            background.start { [self] in
                // A task that is cancelled ends with the server: its event is not needed.
                guard (try? await clock.sleep(.seconds(seconds))) != nil else { return }
                throttles.withLock { $0[account]?.waited(at: clock.now()) }
                publish(account)
            }
        case .nothing: break
        }
    }

    /// Forgets an account that was logged out.
    func forget(_ account: String) { throttles.withLock { $0[account] = nil } }

    private func publish(_ account: String) {
        do {
            // An account that was logged out has no listeners.
            guard let revision = try store.revision(of: account) else { return forget(account) }
            events.screenChanged("disk.offline", revision, account: account)
        } catch {
            logger.warning("an event could not be made", metadata: ["error": "\(error)"])
        }
    }
}

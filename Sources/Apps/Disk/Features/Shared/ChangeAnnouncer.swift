import Concurrency
import Synchronization

/// Announces that something of an account has changed, of each account at most once in a second.
final class ChangeAnnouncer: Sendable {
    private static let interval = 1.0

    private let throttles = Mutex<[String: EventThrottle]>([:])
    private let background: BackgroundTasks
    private let clock: WallClock
    private let publish: @Sendable (_ account: String) -> Void

    /// - Parameter publish: Publishes the event.
    init(background: BackgroundTasks, clock: WallClock, publish: @escaping @Sendable (_ account: String) -> Void) {
        self.background = background
        self.clock = clock
        self.publish = publish
    }

    /// Announces a change, now or at the end of the interval.
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
}

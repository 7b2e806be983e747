import Concurrency
import Database
import Freshness
import Screens
import Synchronization
import Upstream

/// Notifies listeners when a response is in that a search did not wait for.
final class LateResponses: Sendable {
    private let events: EventStream
    private let clock: WallClock
    private let tasks = BackgroundTasks()
    private let expected = Mutex<Set<String>>([])

    init(events: EventStream, clock: WallClock) {
        self.events = events
        self.clock = clock
    }

    /// Waits for a response in the background, once for all searches that need it.
    ///
    /// - Parameters:
    ///   - key: Identifies the response.
    ///   - read: Joins the request for it, and waits to the end.
    func expect(_ key: String, _ read: @escaping @Sendable () async throws -> ReadResult) {
        guard expected.withLock({ $0.insert(key).inserted }) else { return }
        tasks.start { [self] in
            // A failure changes nothing of what was shown.
            let result = try? await read()
            _ = expected.withLock { $0.remove(key) }
            if let result, !result.provenance.stale { publishChange() }
        }
    }

    /// Publishes that searches may find something else now.
    func publishChange() {
        let revision = Int(clock.now().millisecondsSince1970)
        let audience = ServerEvent.Audience.app(ShopApp.name)
        events.publish(
            .screenChanged(app: ShopApp.name, screen: "shop.search", revision: revision, audience: audience)
        )
    }
}

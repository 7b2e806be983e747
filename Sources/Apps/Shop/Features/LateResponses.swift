import Concurrency
import HTTP
import Screens
import Storage
import Synchronization
import Upstream

/// Notifies listeners when a response is in that a search did not wait for.
final class LateResponses: Sendable {
    private let events: EventStream
    private let clock: WallClock
    private let tasks = BackgroundTasks()
    /// The profiles that wait for each response.
    private let expected = Mutex<[String: Set<String>]>([:])

    init(events: EventStream, clock: WallClock) {
        self.events = events
        self.clock = clock
    }

    /// Waits for a response in the background, once for all searches that need it, and notifies their profiles.
    ///
    /// - Parameters:
    ///   - key: Identifies the response.
    ///   - profile: Of the search; nil for one that was made by the server.
    ///   - read: Joins the request for it, and waits to the end.
    func expect(_ key: String, for profile: String?, _ read: @escaping @Sendable () async throws -> ReadResult) {
        let isFirst = expected.withLock { expected in
            let isFirst = expected[key] == nil
            expected[key, default: []].formUnion([profile].compactMap(\.self))
            return isFirst
        }
        guard isFirst else { return }
        tasks.start { [self] in
            // A failed read brings no newer results, so nobody is notified.
            let result = try? await read()
            let profiles = expected.withLock { $0.removeValue(forKey: key) } ?? []
            guard let result, !result.provenance.stale else { return }
            // A client may listen at another server than the one that it searches at.
            for profile in profiles.sorted() {
                events.publish(change(for: .profile(app: ShopApp.name, profile: profile)))
            }
        }
    }

    /// Publishes to all listeners at this server that screens of the catalogue may show something else now: the others
    /// have copies of the catalogue's responses of their own.
    func publishChange(of screens: [String] = ["shop.search", "shop.card", "shop.related", "shop.filters"]) {
        for screen in screens { events.publish(change(of: screen, for: .app(ShopApp.name)), isOwn: true) }
    }

    private func change(of screen: String = "shop.search", for audience: ServerEvent.Audience) -> ServerEvent {
        let revision = Int(clock.now().millisecondsSince1970)
        return .screenChanged(app: ShopApp.name, screen: screen, revision: revision, audience: audience)
    }
}

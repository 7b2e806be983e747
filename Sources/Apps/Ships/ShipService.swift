import Foundation
import HTTPCaching
public import Logging
public import Screens
import Storage
import Synchronization
public import Upstream

/// What the Ships app does: the rules of its screens (design/screens.md 5).
public struct ShipService: Sendable {
    /// What a deletion means when the list is refreshed (setting `ships.deleted`).
    public enum Deletion: String, Sendable, CaseIterable {
        /// A deleted ship stays away until it is restored.
        case hidden
        /// The next refresh brings it back, as the original app's rules say to the letter.
        case literal
    }

    /// What the app can be told.
    public struct Options: Sendable {
        /// How long a login takes; the original simulates a server with it.
        public var loginDelay: Duration
        /// What a deletion means.
        public var deletion: Deletion

        /// Creates options; the defaults are those of design/screens.md 1.8.
        public init(loginDelay: Duration = .milliseconds(2500), deletion: Deletion = .hidden) {
            self.loginDelay = loginDelay
            self.deletion = deletion
        }
    }

    let api: SpaceXAPI
    let store: ShipStore
    let sessions: SessionStore
    let events: EventStream
    let snapshot: ShipSnapshot
    let options: Options
    let clock: WallClock
    /// The refresh, or the deletion, up to which literal mode has brought everything back.
    let lastRefresh: LatestDate

    /// Puts the app together.
    public init(
        api: SpaceXAPI,
        store: ShipStore,
        sessions: SessionStore,
        events: EventStream,
        snapshot: ShipSnapshot,
        options: Options,
        clock: WallClock
    ) {
        self.api = api
        self.store = store
        self.sessions = sessions
        self.events = events
        self.snapshot = snapshot
        self.options = options
        self.clock = clock
        lastRefresh = LatestDate(clock.now())
    }

    /// Brings the ships up to date from the API, or fails over to what is known; the account of it (`provenance`) goes
    /// with every screen that shows ships.
    func refresh(_ cachePolicy: CachePolicy) async throws -> ReadResult {
        let (events, contentChanges) = (self.events, store.contentChanges)
        var resource = api.ships { records in
            ShipStore.persistRows(of: records) { revision in
                contentChanges.bump()
                events.publish(.screenChanged(app: "ships", screen: "ships.list", revision: revision))
            }
        }
        resource.bundledAt = snapshot.recordedAt
        let reading: ReadResult
        do {
            reading = try await api.upstream.read(resource, cachePolicy)
        } catch let error as UpstreamError {
            throw UpstreamFailure(error, of: api.upstream)
        }
        if reading.response == nil { try await store.importSnapshot(snapshot) }
        if options.deletion == .literal {
            // One that nobody waited for in the end counts when its response is first seen.
            let isNew = reading.response.map { lastRefresh.moves(to: $0.head.responseTime) } ?? false
            if isNew || reading.provenance.source == .upstream { try await bringBackDeleted() }
        }
        return reading
    }

    /// What is due when the upstream is back. If it fails again, the upstream's health knows, and the next recovery
    /// tries again.
    public func refreshAfterRecovery(logger: Logger) async {
        do {
            _ = try await refresh(.revalidate)
        } catch {
            logger.warning("ships could not be refreshed after recovery", metadata: ["error": "\(error)"])
        }
    }
}

/// The latest of the dates that it was moved to.
final class LatestDate: Sendable {
    private let date: Mutex<Date>

    init(_ date: Date) { self.date = Mutex(date) }

    /// Moves on; false where it is there already, or beyond.
    @discardableResult
    func moves(to other: Date) -> Bool {
        date.withLock { date in
            guard other > date else { return false }
            date = other
            return true
        }
    }
}

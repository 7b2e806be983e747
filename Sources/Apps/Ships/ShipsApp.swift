import Foundation
import HTTPTypes
public import Logging
public import Screens
public import Storage
public import Upstream

/// The Ships app: the ships of the SpaceX API with a login, a list, details, pictures and deletions.
///
/// This is the smallest of the apps and shows how all are built: this file describes the app and has its routes,
/// `Screens` has what goes over the wire, `Features` what the app does, `Store` its tables, and `SpaceX` the upstream.
public struct ShipsApp: Sendable {
    /// Name of the app in paths, settings, sessions and events.
    public static let name = "ships"
    /// Title of the app in `GET /v1`.
    public static let title = "SpaceX ships"
    /// Path that probes of the upstream ask for, below its base URL.
    public static let probePath = SpaceXAPI.shipsPath
    /// The app's tables.
    public static let migrations = ShipStore.migrations

    private let launch = Launch()
    private let sessions: Sessions
    private let listing: Listing
    private let details: Details
    private let deletions: Deletions
    private let images: Images
    private let refresher: ShipRefresher

    /// Creates the app.
    ///
    /// - Parameters:
    ///   - upstream: The SpaceX API.
    ///   - freshness: For how long the fetched list is fresh.
    ///   - database: The database, migrated with ``migrations``.
    ///   - sessions: The sessions of all apps.
    ///   - events: Where changes of the list are published.
    ///   - options: The app's settings.
    ///   - clock: The wall clock.
    /// - Throws: `DecodingError` or `ShipSnapshot.Damaged` if the bundled snapshot cannot be read.
    public init(
        upstream: Upstream,
        freshness: Duration,
        database: LarderDatabase,
        sessions: SessionStore,
        events: EventStream,
        options: Options,
        clock: WallClock
    ) throws {
        self.init(
            api: SpaceXAPI(upstream: upstream, freshness: freshness),
            store: ShipStore(database),
            sessions: sessions,
            events: ShipListEvents(stream: events),
            snapshot: try .bundled(),
            options: options,
            clock: clock
        )
    }

    init(
        api: SpaceXAPI,
        store: ShipStore,
        sessions: SessionStore,
        events: ShipListEvents,
        snapshot: ShipSnapshot,
        options: Options,
        clock: WallClock
    ) {
        let lookup = ShipLookup(store: store)
        deletions = Deletions(store: store, lookup: lookup, events: events, mode: options.deletion, clock: clock)
        refresher = ShipRefresher(api: api, store: store, snapshot: snapshot, deletions: deletions, events: events)
        self.sessions = Sessions(store: sessions, loginDelay: options.loginDelay, clock: clock)
        listing = Listing(refresher: refresher, store: store, clock: clock)
        details = Details(refresher: refresher, store: store, lookup: lookup, clock: clock)
        images = Images(api: api, store: store, lookup: lookup, clock: clock)
    }

    /// The routes, in the order of openapi.yaml.
    public var routes: [Route] {
        let member = Route.Access.session(app: Self.name)
        return [
            Route(.get, "/v1/ships/launch", "ships.launch", launch.show),
            Route(.post, "/v1/ships/session", "ships.session", sessions.open),
            Route(.get, "/v1/ships/session", "ships.session", access: member, sessions.show),
            Route(.delete, "/v1/ships/session", "ships.session", access: member, sessions.close),
            Route(.get, "/v1/ships", "ships.list", access: member, listing.show),
            Route(.post, "/v1/ships/restore", "ships.list", access: member, deletions.restore),
            Route(.get, "/v1/ships/{id}", "ships.details", access: member, details.show),
            Route(.delete, "/v1/ships/{id}", "ships.list", access: member, deletions.delete),
            Route(.get, "/v1/ships/{id}/image", "ships.image", access: member, images.show),
        ]
    }

    /// Refreshes the list after the upstream recovers.
    ///
    /// A failure is logged and not retried: the upstream's health knows of it, and the next recovery calls this again.
    public func refreshAfterRecovery(logger: Logger) async {
        do {
            _ = try await refresher.refresh(.revalidate)
        } catch {
            logger.warning("ships could not be refreshed after recovery", metadata: ["error": "\(error)"])
        }
    }
}

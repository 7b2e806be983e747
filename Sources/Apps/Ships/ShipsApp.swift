public import AppInterface
import Logging
public import Screens
import Settings
public import Storage

/// The Ships app.
public struct ShipsApp: App {
    /// Name of the app.
    public static let name = "ships"
    /// Title of the app.
    public static let title = "SpaceX ships"
    /// The app's tables.
    public static let migrations = ShipStore.migrations
    private let service: ShipService
    private let logger: Logger

    /// Creates the app.
    public init(_ context: AppContext) throws {
        service = ShipService(
            api: SpaceXAPI(
                upstream: try context.upstream(Self.spacex),
                freshness: try context.settings.seconds("freshness.ships_s")
            ),
            store: ShipStore(context.database),
            sessions: context.sessions,
            events: context.events,
            snapshot: try .bundled(),
            options: try ShipService.Options(context.settings),
            clock: context.clock
        )
        logger = context.logger
    }

    /// The routes.
    public var routes: [Route] { ShipsRoutes(service: service).routes }

    /// Refreshes the list.
    public func upstreamRecovered(_ upstream: UpstreamDescription) async {
        await service.refreshAfterRecovery(logger: logger)
    }
}

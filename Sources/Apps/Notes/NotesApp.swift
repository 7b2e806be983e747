public import AppInterface
public import Screens
import Settings
public import Storage

/// The Notes app.
public struct NotesApp: App {
    /// Name of the app.
    public static let name = "notes"
    /// Title of the app.
    public static let title = "Notes on a map"
    /// The app's tables.
    public static let migrations = NoteStore.migrations
    private let service: NoteService

    /// Creates the app.
    public init(_ context: AppContext) throws {
        let placesFreshness = try context.settings.seconds("freshness.places_s")
        service = NoteService(
            store: NoteStore(context.database),
            people: PeopleAPI(
                upstream: try context.upstream(Self.people),
                options: try PeopleAPI.Options(context.settings)
            ),
            geocoder: context.optionalUpstream(Self.geocoder).map {
                GeocoderAPI(upstream: $0, freshness: placesFreshness)
            },
            gazetteer: try .bundled(),
            sessions: context.sessions,
            events: context.events,
            options: try NoteService.Options(context.settings),
            clock: context.clock
        )
    }

    /// The routes.
    public var routes: [Route] { NotesRoutes(service: service).routes }
}

import Cluster
import Concurrency
import Foundation
import Logging
import Media
import Screens
import Storage
import Upstream

/// The parts of a server that exist before an app and are offered to it.
struct AppParts {
    let database: LarderDatabase
    let sessions: SessionStore
    let events: EventStream
    let scratch: ScratchFolder
    let log = LogRecorder()
    let statements = StatementLog()
    let upstreams: [(description: UpstreamDescription, upstream: Upstream)]
    let context: AppContext

    /// The tables of a server with one app.
    static func migrations(of type: any App.Type) -> [SchemaMigration] {
        SessionStore.migrations + type.migrations + Journal.fileMigrations
    }

    /// Those of them that several servers replicate.
    static func replicated(of type: any App.Type) -> JournalTables {
        JournalTables([SessionStore.replicated] + [type.replicated].compactMap(\.self))
    }

    init<Served: App>(_ type: Served.Type, _ scripted: [AppUpstream], _ surroundings: AppSurroundings) throws {
        let clock = surroundings.clock.wallClock
        let database = try LarderDatabase.withCacheTables(
            in: try surroundings.directory ?? .temporary(),
            migrations: Self.migrations(of: type),
            options: statements.options,
            logger: log.logger
        )
        self.database = database
        let lifetime = Duration.seconds(400 * 86_400)
        let tables = Self.replicated(of: type)
        let users = surroundings.shared?.users(in: database, tables) ?? UserDatabase(database)
        sessions = SessionStore(users, lifetime: lifetime, clock: clock)
        let events = EventStream(run: "test", clock: clock)
        self.events = events
        scratch = try ScratchFolder("uploads", in: database.directory)
        let logger = log.logger
        upstreams = try scripted.map {
            ($0.description, try Self.upstream($0, database, events, clock, logger))
        }
        context = AppContext(
            settings: surroundings.settings,
            upstreams: Dictionary(upstreams.map { ($0.description.name, $0.upstream) }) { first, _ in first },
            database: database,
            users: users,
            sessions: sessions,
            events: events,
            media: try MediaEngine(
                tools: surroundings.tools,
                folder: URL(filePath: database.directory.path).appending(path: "work")
            ),
            scratch: scratch,
            accessRecorder: AccessRecorder(),
            cacheBudget: .unlimited,
            files: nil,
            clock: clock,
            logger: logger
        )
    }

    private static func upstream(
        _ scripted: AppUpstream,
        _ database: LarderDatabase,
        _ events: EventStream,
        _ clock: WallClock,
        _ logger: Logger
    ) throws -> Upstream {
        let name = scripted.description.name
        let upstream = Upstream(
            configuration: try scripted.configuration,
            transport: scripted.transport,
            database: database,
            clock: clock,
            jitter: { 0.5 },  // Pauses are then exactly as configured.
            retries: RetryPolicy(attempts: 1),
            logger: logger
        )
        upstream.onChange { change in
            switch change {
            case .wentDown(let at): events.publish(.connectivity(upstream: name, reachable: false, at: at))
            case .cameBack(let at): events.publish(.connectivity(upstream: name, reachable: true, at: at))
            }
        }
        return upstream
    }

    /// Returns the routes of the app and of the mounts of its upstreams.
    func table<Served: App>(of app: Served) throws -> RouteTable {
        var forms = ScreenForms()
        forms.add(Served.self)
        var table = RouteTable(app.routes, forms: forms, languages: [Served.name: Served.language])
        guard !upstreams.isEmpty else { return table }
        let secrets = try SealedSecrets(database)
        let hasher = try secrets.credentialHasher()
        table.add(
            MountRoutes(
                mounts: upstreams.map { Mount($0.upstream, hasher: hasher, secrets: secrets) },
                sessions: sessions,
                credentials: app.mountCredentials
            ).routes
        )
        return table
    }
}

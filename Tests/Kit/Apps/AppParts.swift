import Cluster
import Concurrency
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
package import Media
import NIOCore
import Server
package import Storage
package import Upstream

@testable package import Screens

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

/// How the requests of a test identify a client.
package enum ClientIdentification: Sendable {
    /// By the token of a session (RFC 6750).
    case token
    /// By the name of a profile.
    case profile
}

/// The surroundings of an app under test, apart from its upstreams.
package struct AppSurroundings: Sendable {
    package var clock: ManualClock
    /// The data directory; nil for a temporary one.
    package var directory: DataDirectory?
    package var settings: SettingValues
    /// The programs that work on pictures and documents.
    package var tools: MediaTools
    /// How the requests of a test identify a client.
    package var identification: ClientIdentification
    /// The store of several servers, with their sessions; nil for a server by itself.
    package var shared: ClusterAccess?

    /// Creates surroundings; by default all is temporary, and no program is found.
    package init(
        clock: ManualClock = ManualClock(),
        directory: DataDirectory? = nil,
        settings: SettingValues = .standard,
        tools: MediaTools = MediaTools(paths: [:]),
        identification: ClientIdentification = .token,
        shared: ClusterAccess? = nil
    ) {
        self.clock = clock
        self.directory = directory
        self.settings = settings
        self.tools = tools
        self.identification = identification
        self.shared = shared
    }
}

extension SettingValues {
    /// The defaults.
    package static let standard = SettingValues()

    /// Returns the values with another one, which need not be within the range for operators.
    package func with<Value>(_ setting: Setting<Value>, _ value: Value) -> SettingValues {
        var values = self
        values[setting] = value
        return values
    }
}

/// An upstream of an app, as its tests have it: at another address, with a scripted network.
package struct AppUpstream: Sendable {
    let description: UpstreamDescription
    let url: String
    let transport: any Transport
    let adjust: @Sendable (inout UpstreamConfiguration) -> Void

    /// Describes an upstream.
    ///
    /// - Parameters:
    ///   - description: the app's own description of it.
    ///   - url: where its API begins.
    ///   - transport: its network.
    ///   - adjust: changes its configuration.
    package init(
        _ description: UpstreamDescription,
        at url: String,
        _ transport: any Transport,
        _ adjust: @escaping @Sendable (inout UpstreamConfiguration) -> Void = { _ in }
    ) {
        self.description = description
        self.url = url
        self.transport = transport
        self.adjust = adjust
    }

    /// The configuration by the app's description. No hosts but the base URL's are allowed.
    var configuration: UpstreamConfiguration {
        get throws {
            guard let url = URL(string: url) else { throw URLError(.badURL) }
            var configuration = UpstreamConfiguration(name: description.name, title: description.title, baseURL: url)
            configuration.followsPublicLinks = description.trustedHosts != nil
            configuration.hasSessions = description.hasSessions
            configuration.probePath = description.probePath
            configuration.mount.shared = description.isShared
            if !description.storesBodies(isShared: description.isShared) { configuration.mount.maximumStoredBytes = 0 }
            configuration.mount.leadsBack = description.leadsBack
            adjust(&configuration)
            return configuration
        }
    }
}

/// Routes of an app behind the real router, in process: guards, sessions, rendering and problems are those of the
/// server.
struct RoutedApp: Sendable {
    private let client: any TestClientProtocol

    /// Runs a test against a table.
    static func run(
        _ table: RouteTable,
        sessions: SessionStore,
        _ test: @Sendable (RoutedApp) async throws -> Void
    ) async throws {
        let logger = Logger.quiet
        let router = ScreenRouter(
            table: table,
            sessions: sessions,
            hosts: HostRules(boundHost: "127.0.0.1", allowed: []),
            origins: OriginRules(allowed: []),
            identities: RequestIdentities(run: "test")
        )
        try await Application(router: router.router, logger: logger).test(.router) { client in
            try await test(RoutedApp(client: client))
        }
    }

    /// Sends a request. A body without a type is declared as JSON.
    func ask(
        _ method: HTTPRequest.Method,
        _ target: String,
        as token: String?,
        _ headerFields: HTTPFields,
        body: Data?
    ) async throws -> Exchanged {
        var fields = headerFields
        if let token { fields[.authorization] = "Bearer \(token)" }
        if body != nil, fields[.contentType] == nil { fields[.contentType] = "application/json" }
        let response = try await client.executeRequest(
            uri: target,
            method: method,
            headers: fields,
            body: body.map { ByteBuffer(bytes: $0) }
        )
        return Exchanged(
            status: response.status.code,
            headerFields: response.headers,
            body: Data(response.body.readableBytesView)
        )
    }
}

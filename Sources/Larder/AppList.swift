import Cluster
import Disk
import Notes
import PDF
import Screens
import ServiceLifecycle
import Ships
import Shop
import Storage
import Upstream

/// The apps of a server, in the order of the index. An app offers its ports to the apps after it.
struct AppList: Sendable {
    /// The apps of this program: those of Larder, followed by its own (``LarderProgram``).
    @TaskLocal static var standard = AppList([DiskApp.self, PDFApp.self, ShipsApp.self, ShopApp.self, NotesApp.self])

    let types: [any App.Type]

    init(_ types: [any App.Type]) {
        self.types = types
    }

    var upstreams: [UpstreamDescription] { types.flatMap { $0.upstreams } }

    /// The steps that make all tables.
    var migrations: [SchemaMigration] {
        CacheTables.migrations + SessionStore.migrations + types.flatMap { $0.migrations } + DeviceStore.migrations
            + Journal.fileMigrations
    }

    /// The steps that make the tables of a store that several servers share.
    var sharedMigrations: [PostgresMigration] {
        (sealsSharedSecrets ? ClusterSeal.migrations : []) + Journal.storeMigrations
    }

    /// The tables that several servers replicate, and the version of their schema: the number of their steps.
    var replicated: (tables: JournalTables, schema: Int) {
        let apps = types.filter { $0.replicated != nil }
        let schema = apps.reduce(SessionStore.migrations.count) { $0 + $1.migrations.count }
        return (JournalTables([SessionStore.replicated] + apps.compactMap { $0.replicated }), schema)
    }

    /// Whether an app stores sealed secrets in the shared store.
    var sealsSharedSecrets: Bool { types.contains { $0.sealsSharedSecrets } }

    var storedAmounts: [StoredAmount] { types.flatMap { $0.storedAmounts } }

    var records: [RecordTable] { types.flatMap { $0.records } }

    /// The documents from which the sandbox simulates upstreams, by their names.
    var simulations: [String: String] {
        Dictionary(upstreams.compactMap { one in one.simulation.map { (one.name, $0) } }) { first, _ in first }
    }

    /// Every problem code that the server may send.
    var problems: [ProblemCode] { ProblemCode.common + types.flatMap { $0.problems } }
}

/// The apps that a server serves, and everything that they register.
struct ServedApps {
    /// The apps as `GET /v1` lists them.
    private(set) var index: [(app: String, title: Text)] = []
    private(set) var routes: [Route] = []
    private(set) var forms = ScreenForms()
    /// The languages of the original apps, by the names of the apps.
    private(set) var languages: [String: Language] = [:]
    private(set) var services: [any Service] = []
    /// Run before the server accepts connections.
    private(set) var preparations: [@Sendable () async throws -> Void] = []
    /// The parts of the apps in the archive of a user's own data.
    private(set) var userData: [(name: String, data: UserData)] = []
    /// The seeds that the apps read from the document of a test.
    private(set) var seedings: [(name: String, seeding: Seeding)] = []
    /// The upstreams of the apps, followed by those that no app uses.
    private(set) var upstreams: [Upstream] = []
    private(set) var mountCredentials: [String: MountRoutes.CredentialProvider] = [:]
    /// Return the writes that wait for upstreams, by the names of the upstreams.
    private(set) var outboxLoads: [@Sendable () -> [String: OutboxLoad]] = []
    /// Names of the apps that other processes serve, and of upstreams that only those apps use.
    private(set) var elsewhere: (apps: Set<String>, upstreams: Set<String>) = ([], [])
    private var files: AccountFiles?

    /// Creates the apps of the configuration.
    /// - Throws: the errors of `App.init(_:)`.
    init(_ resources: ServerResources) throws {
        for type in resources.configuration.node.apps.types { try serve(type, resources) }
        let used = Set(upstreams.map(\.configuration.name))
        elsewhere = resources.configuration.elsewhere
        let further = resources.configuration.upstreams.byName.keys.sorted().filter {
            !used.contains($0) && !elsewhere.upstreams.contains($0)
        }
        upstreams += further.compactMap(resources.upstream)
    }

    /// Serves an app, unless an upstream that it needs has no address.
    private mutating func serve(_ type: any App.Type, _ resources: ServerResources) throws {
        let configured = resources.configuration.upstreams.byName
        guard type.upstreams.allSatisfy({ $0.isOptional || configured[$0.name] != nil }) else { return }
        let used = type.upstreams.compactMap { description in
            upstream(description.name, resources).map { (description: description, upstream: $0) }
        }
        let context = AppContext(
            settings: resources.configuration.settings.restricted(to: type.settings),
            upstreams: Dictionary(used.map { ($0.description.name, $0.upstream) }) { first, _ in first },
            database: resources.database,
            seal: resources.shared?.access.seal,
            users: resources.users,
            sessions: resources.sessions,
            events: resources.events,
            media: resources.media,
            scratch: resources.scratch,
            accessRecorder: resources.accessRecorder,
            cacheBudget: resources.configuration.settings[ServerSettings.cacheBudget],
            files: files,
            clock: resources.clock,
            retention: resources.retention,
            logger: resources.logger
        )
        let app = try type.init(context)
        for (description, upstream) in used {
            upstream.onRecovery { await app.upstreamRecovered(description) }
        }
        add(app)
    }

    /// Returns the upstream with a name: that of an earlier app, or a new one.
    private mutating func upstream(_ name: String, _ resources: ServerResources) -> Upstream? {
        if let known = upstreams.first(where: { $0.configuration.name == name }) { return known }
        guard let new = resources.upstream(name) else { return nil }
        upstreams.append(new)
        return new
    }

    private mutating func add<Served: App>(_ app: Served) {
        index.append((Served.name, Served.title))
        routes += app.routes
        forms.add(Served.self)
        languages[Served.name] = Served.language
        services += app.services
        preparations.append(app.prepare)
        if let data = app.userData { userData.append((Served.name, data)) }
        seedings.append((Served.name, app.seeding))
        outboxLoads.append { app.outboxLoads }
        files = app.files ?? files
        mountCredentials.merge(app.mountCredentials) { first, _ in first }
    }
}

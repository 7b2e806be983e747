import Cluster
import Concurrency
import Foundation
import Hummingbird
import Logging
import Metrics
import NIOCore
import NIOPosix
import Sandbox
import Screens
import Server
import ServiceLifecycle
import Storage
import Upstream

/// The composition root, which provides clock, randomness, network and storage, and wires everything.
struct LarderApplication: ReplaceableServer {
    /// The server, ready to run.
    let application: Application<LarderResponder>
    /// A harness replaces the responder and the services.
    let responder: RouterResponder<ScreenContext>
    private let outages: StoreOutages
    let services: [any Service]
    /// The cache of complete responses; nil without one.
    let responseCache: ResponseCache?
    let events: EventStream
    let table: RouteTable
    /// The certificate that it serves; nil without TLS.
    let certificate: ServedCertificate?

    /// Fills the server with the document of a test.
    let seed: ServerSeed
    /// The upstreams of the apps, those that no app uses, and those that a test has made.
    var upstreams: [Upstream] { settled + stubs.mounts.map(\.upstream) }
    /// The upstreams of the settings.
    private let settled: [Upstream]
    private let stubs: StubMounts
    private let preparations: [@Sendable () async throws -> Void]
    private let mounts: [Mount]
    private let transports: Transports
    let database: LarderDatabase
    private let resources: ServerResources

    var fixtures: FixtureLibrary { resources.fixtures }

    var migrationNames: [String] { resources.configuration.apps.migrations.map(\.name) }

    var directory: DataDirectory { database.directory }

    /// Opens the data directory and wires the server.
    ///
    /// - Parameters:
    ///   - directory: The data directory; nil to lock the configured one.
    ///   - isPrepared: Whether this process has made its files, so that they need no check and no migration.
    ///   - sandbox: The sandbox that was started with the server, and its port; nil if there is none.
    ///   - harness: Controls the server; nil for a server that is not under test.
    ///   - last: The server that this one replaces.
    ///   - trace: Is called with the SQL of each statement, for tests.
    ///   - onListening: Is called with the address and the names of the certificate when connections are accepted.
    /// - Throws: `StorageError` if the data cannot be used, and the errors of apps. Everything that was opened before
    ///   is closed again.
    static func build(
        _ configuration: LarderConfiguration,
        in directory: DataDirectory? = nil,
        isPrepared: Bool = false,
        sandbox: (sandbox: Sandbox, port: Int)? = nil,
        harness: Harness? = nil,
        replacing last: LarderApplication? = nil,
        tracing trace: (@Sendable (String) -> Void)? = nil,
        metrics: PrometheusRegistry,
        onListening: @escaping @Sendable (SocketAddress?, CertificateNames?) async -> Void,
        logger: Logger
    ) async throws -> LarderApplication {
        var options = DatabaseOptions(configuration)
        (options.trace, options.trustsFiles) = (trace, isPrepared)
        let database = try LarderDatabase(
            in: try directory ?? DataDirectory(at: configuration.dataDirectory),
            migrations: configuration.apps.migrations,
            options: options,
            logger: logger
        )
        let transports = Transports(configuration.upstreams.byName.values.map(\.connectTimeout))
        do {
            let run = String(Randomness.number(for: "run") >> 32, radix: 36)
            let resources = try ServerResources(
                configuration,
                database,
                try await ClusterService.open(configuration, node: run, database, logger: logger),
                transports,
                run: run,
                clock: harness?.clock.wallClock,
                sandbox: sandbox,
                isControlled: harness != nil,
                isTested: { harness?.isActive ?? false },
                replacing: last?.resources,
                logger: logger
            )
            let application = try LarderApplication(
                resources,
                sandboxPort: sandbox?.port,
                harness: harness,
                metrics: metrics,
                onListening: onListening
            )
            for prepare in application.preparations { try await prepare() }
            return application
        } catch {
            // async-http-client traps in a debug build if its client was not shut down, and the error would not be
            // reported.
            try await transports.shutdown()
            try database.close()
            throw error
        }
    }

    private init(
        _ resources: ServerResources,
        sandboxPort: Int?,
        harness: Harness?,
        metrics: PrometheusRegistry,
        onListening: @escaping @Sendable (SocketAddress?, CertificateNames?) async -> Void
    ) throws {
        let apps = try ServedApps(resources)
        let secrets = try SealedSecrets(resources.database)
        let hasher = try secrets.credentialHasher()
        settled = apps.upstreams
        let stubs = StubMounts(resources, hasher, secrets)
        self.stubs = stubs
        // Without the harness, a token that a test has chosen must not be valid.
        preparations = (harness == nil ? [resources.sessions.endSeeded] : []) + apps.preparations
        mounts = apps.upstreams.map { Mount($0, hasher: hasher, secrets: secrets) }
        transports = resources.transports
        database = resources.database
        certificate = resources.certificate
        self.resources = resources
        events = resources.events
        seed = ServerSeed(apps.seedings, resources.database)
        let controls = Self.controls(port: sandboxPort, apps.upstreams, resources, harness)
        let pages = try Self.pages(resources.configuration)
        table = Self.table(of: apps, mounts, stubs, resources, metrics, pages: pages, controls: controls)
        let own: [any Service] = [
            resources.events, CacheMaintenance(resources), Self.revocations(resources),
            Self.expiryOfResponses(resources),
        ]
        services =
            own + apps.services + Self.sandboxWatch(port: sandboxPort, apps.upstreams, resources, harness)
            + [resources.shared].compactMap { $0 }
        responseCache = harness == nil || !resources.isReplacement ? Self.responseCache(resources) : nil
        let identities = responseCache?.identities ?? RequestIdentities(run: resources.run)
        let router = Self.router(table, resources, identities, isUnderTest: harness != nil)
        (outages, responder) = (router.outages, router.router.buildResponder())
        application = Self.application(
            LarderResponder(routes: responder, harness: harness),
            table,
            responseCache,
            services: harness.map { [HarnessService(harness: $0)] } ?? services,
            resources,
            metrics,
            onListening: onListening
        )
    }

    /// The routes of the apps, then the kit's own.
    private static func table(
        of apps: ServedApps,
        _ mounts: [Mount],
        _ stubs: StubMounts,
        _ resources: ServerResources,
        _ metrics: PrometheusRegistry,
        pages: WebRoutes?,
        controls: [Route]
    ) -> RouteTable {
        let (sessions, users) = (resources.sessions, resources.users)
        let elsewhere = apps.elsewhere
        var table = RouteTable(apps.routes, forms: apps.forms, languages: apps.languages, elsewhere: elsewhere.apps)
        let mountRoutes = MountRoutes(
            mounts: mounts,
            made: stubs.mount,
            elsewhere: elsewhere.upstreams,
            sessions: sessions,
            credentials: apps.mountCredentials
        )
        table.add(mountRoutes.routes)
        table.add(events(of: apps, resources).routes)
        table.add(status(of: apps, resources, hasControls: !controls.isEmpty).routes)
        table.add(export(of: apps, resources).routes)
        table.add(UsageRoutes(apps: apps.userData, users: users, sessions: sessions).routes)
        table.add(devices(resources).routes)
        table.add(controls)
        let gauges = ServerGauges(resources, outboxes: apps.outboxLoads)
        table.add(health(resources) { metrics.exposition($0, await gauges.samples()) }.routes)
        let contract = Contract(resources.configuration.apps)
        table.add(ContractRoutes(text: contract.text, apps: contract.tags).routes)
        table.add(pages?.routes ?? [])
        (table.missingPage, table.pairingPage) = (pages?.missingPage, pages?.pairingPage)
        let index = IndexRoutes(
            version: LarderVersion.text,
            apps: apps.index,
            web: resources.configuration.web,
            table: table
        )
        table.add(index.routes)
        return table
    }

    private static func events(of apps: ServedApps, _ resources: ServerResources) -> EventRoutes {
        EventRoutes(
            events: resources.events,
            sessions: resources.sessions,
            apps: apps.index.map(\.app),
            elsewhere: apps.elsewhere.apps,
            conditions: { [upstreams = apps.upstreams] in upstreams.compactMap(ServerEvent.outage(of:)) }
        )
    }

    private static func status(of apps: ServedApps, _ resources: ServerResources, hasControls: Bool) -> StatusRoutes {
        let configuration = resources.configuration
        let server = StatusRoutes.Server(
            version: LarderVersion.text,
            startedAt: resources.clock.now(),
            hasSandbox: hasControls && apps.upstreams.contains(where: \.configuration.isSimulated),
            hasHarness: hasControls,
            node: StatusRoutes.Node(name: configuration.node.name, apps: apps.index.map(\.app)),
            budget: configuration.settings[ServerSettings.cacheBudget]
        )
        let store = ResponseStore(resources.database)
        return StatusRoutes(of: server, upstreams: apps.upstreams, store: store, clock: resources.clock)
    }

    private static func export(of apps: ServedApps, _ resources: ServerResources) -> ExportRoutes {
        ExportRoutes(
            apps: apps.userData,
            users: resources.users,
            sessions: resources.sessions,
            scratch: resources.scratch,
            version: LarderVersion.text,
            clock: resources.clock
        )
    }

    private static func health(
        _ resources: ServerResources,
        exposition: @escaping @Sendable (MetricFormat) async -> String
    ) -> HealthRoutes {
        let (database, users, abilities) = (resources.database, resources.users, resources.abilities)
        return HealthRoutes(
            checks: [
                HealthRoutes.Check("database") { try database.checkReadiness() },
                HealthRoutes.Check("storage") { try database.checkSpace() },
            ],
            store: {
                do {
                    try await users.catchUpToEnd()
                } catch ClusterError.unavailable(.tooManyWaiting) {
                    // A process that is busy can use the store.
                }
            },
            abilities: { await abilities.all() },
            exposition: exposition
        )
    }

    private static func application(
        _ responder: LarderResponder,
        _ table: RouteTable,
        _ responseCache: ResponseCache?,
        services: [any Service],
        _ resources: ServerResources,
        _ metrics: PrometheusRegistry,
        onListening: @escaping @Sendable (SocketAddress?, CertificateNames?) async -> Void
    ) -> Application<LarderResponder> {
        let (settings, logger) = (resources.configuration.settings, resources.logger)
        let limits = ConnectionLimits(settings)
        let connections = OpenFileLimit.connections(limits.connections)
        if connections < limits.connections {
            logger.warning("the limit of open files allows \(connections) connections, fewer than http.connections")
        }
        let accepting = ConnectionBurst(connections: connections)
        let places = ConnectionSlots(limit: accepting.limit)
        let tls = resources.certificate.map { certificate in
            TLSOptions(context: { certificate.current.context }, hosts: hosts(resources))
        }
        return Application(
            responder: responder,
            server: .larder(
                limits: limits,
                resources.connections,
                responseCache,
                table,
                tls: tls,
                metrics: metrics
            ),
            configuration: ApplicationConfiguration(
                address: .hostname(settings[HTTPSettings.host], port: settings[HTTPSettings.port]),
                backlog: ConnectionBurst.backlog,
                availableConnectionsDelegate: places
            ),
            services: services.map(NamedService.init),
            onServerRunning: { channel in
                await accepting.apply(to: channel, places, clientLimit: resources.connections.limit, logger: logger)
                if let text = FirstPairing.text(resources, port: channel.localAddress?.port) {
                    StandardOutput.announce(text)
                }
                await onListening(channel.localAddress, resources.certificate?.current.names)
            },
            eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup.singleton),
            logger: logger
        )
    }

    /// Ends the requests to upstreams for which no client waits.
    func stop() {
        for mount in mounts + stubs.mounts { mount.stop() }
        for upstream in upstreams { upstream.stop() }
    }

    /// Ends everything that outlives a request. At last the database is checkpointed and closed.
    /// - Throws: the errors of async-http-client; `StorageError`.
    func close() async throws {
        stop()
        outages.end()
        await resources.abilities.stop()
        try await transports.shutdown()
        resources.shared?.close()
        try database.close()
    }
}

extension DatabaseOptions {
    fileprivate init(_ configuration: LarderConfiguration) {
        let isChecked = configuration.settings[ServerSettings.storageCheck] == .start
        self.init(integrityCheck: isChecked ? .afterUncleanStop : .never)
        isDurable = configuration.isDurable
    }
}

import Foundation
import Hummingbird
import Logging
import Metrics
import NIOCore
import NIOPosix
import Screens
import Ships
import Storage
import Upstream

/// The composition root: the one place where clock, randomness, network and storage come in, and everything is wired.
struct LarderApplication: Sendable {
    /// The server, ready to run.
    let application: Application<RouterResponder<ScreenContext>>
    /// All routes that it serves.
    let table: RouteTable

    private let upstreams: [Upstream]
    private let mounts: [Mount]
    private let transport: HTTPClientTransport
    private let database: LarderDatabase

    /// Opens the data directory and wires the server.
    ///
    /// - Throws: `StorageError` where the data cannot be used.
    static func build(
        _ configuration: LarderConfiguration,
        metrics: PrometheusRegistry,
        onListening: @escaping @Sendable (SocketAddress?) async -> Void,
        logger: Logger
    ) throws -> LarderApplication {
        let clock = configuration.clockStart.map { WallClock.starting(at: $0) } ?? .system
        let run = String(UInt32.random(in: 0...UInt32.max), radix: 36)
        let group = MultiThreadedEventLoopGroup.singleton
        let database = try LarderDatabase(
            in: try DataDirectory(at: configuration.dataDirectory),
            migrations: SessionStore.migrations + ShipStore.migrations,
            logger: logger
        )
        let connectTimeout = configuration.upstreams.values.map(\.connectTimeout).max() ?? .seconds(3)
        let transport = HTTPClientTransport(eventLoopGroup: group, connectTimeout: connectTimeout)
        let lastUses = LastUses()
        let maintenance = CacheMaintenance(
            database: database,
            lastUses: lastUses,
            budget: configuration.cacheBudget,
            clock: clock,
            logger: logger
        )
        let sessions = SessionStore(database)
        let events = EventStream(run: run, clock: clock)

        var table = RouteTable()
        var upstreams: [Upstream] = []
        func upstream(_ name: String) -> Upstream? {
            guard let settings = configuration.upstreams[name] else { return nil }
            let upstream = Upstream(
                configuration: settings,
                transport: transport,
                database: database,
                lastUses: lastUses,
                budget: configuration.cacheBudget,
                clock: clock,
                logger: logger
            )
            upstream.onChange { change in
                switch change {
                case .wentDown(let at): events.publish(.connectivity(upstream: name, reachable: false, at: at))
                case .cameBack(let at): events.publish(.connectivity(upstream: name, reachable: true, at: at))
                }
            }
            upstreams.append(upstream)
            return upstream
        }
        if let spacex = upstream("spacex") {
            let service = ShipService(
                api: SpaceXAPI(upstream: spacex, freshness: configuration.shipsFreshness),
                store: ShipStore(database),
                sessions: sessions,
                events: events,
                snapshot: try .bundled(),
                options: configuration.ships,
                clock: clock
            )
            spacex.onRecovery { await service.refreshAfterRecovery(logger: logger) }
            table.add(ShipsRoutes(service: service).routes)
        }
        for name in configuration.upstreams.keys.sorted() where !upstreams.contains(where: { $0.configuration.name == name }) { _ = upstream(name) }
        let hasher = try SealedSecrets(database).credentialHasher()
        let mounts = upstreams.map { Mount($0, hasher: hasher) }
        table.add(MountRoutes(mounts: mounts, sessions: sessions).routes)
        table.add(EventRoutes(events: events, sessions: sessions).routes)
        table.add(StatusRoutes(upstreams: upstreams, clock: clock).routes)
        let checks = [HealthRoutes.Check("database") { try database.checkReadiness() }]
        table.add(HealthRoutes(checks: checks, exposition: { metrics.exposition() }).routes)
        table.add(IndexRoutes(version: LarderVersion.text, apps: [("ships", "SpaceX ships")], table: table, clock: clock).routes)

        let rendered =
            configuration.renderedBudget > 0 ? RenderedAnswers(budgetBytes: configuration.renderedBudget, run: run, logger: logger) : nil
        let router = ScreenRouter(
            table: table,
            sessions: sessions,
            hosts: HostRules(boundHost: configuration.host, allowed: configuration.allowedHosts),
            origins: OriginRules(allowed: configuration.allowedOrigins),
            run: run,
            rendered: rendered
        )
        let application = Application(
            responder: router.build().buildResponder(),
            server: .larder(limits: configuration.limits, rendered: rendered),
            configuration: ApplicationConfiguration(
                address: .hostname(configuration.host, port: configuration.port),
                availableConnectionsDelegate: .maximum(configuration.limits.connections, logger: logger)
            ),
            services: [events, maintenance],
            onServerRunning: { channel in await onListening(channel.localAddress) },
            eventLoopGroupProvider: .shared(group),
            logger: logger
        )
        return LarderApplication(
            application: application,
            table: table,
            upstreams: upstreams,
            mounts: mounts,
            transport: transport,
            database: database
        )
    }

    /// Ends everything that outlives a request; the last thing is that the database moves its log into its file and closes.
    func close() async throws {
        for mount in mounts { mount.stop() }
        for upstream in upstreams { upstream.stop() }
        try await transport.shutdown()
        try database.close()
    }
}

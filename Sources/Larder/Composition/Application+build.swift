import Foundation
import Hummingbird
import Logging
import Media
import Metrics
import NIOCore
import NIOPosix
import Proxy
import Screens
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
    private let transports: [HTTPClientTransport]
    private let database: LarderDatabase

    /// Opens the data directory and wires the server.
    ///
    /// - Throws: `StorageError` if the data cannot be used. What was opened until then is closed again.
    static func build(
        _ configuration: LarderConfiguration,
        metrics: PrometheusRegistry,
        onListening: @escaping @Sendable (SocketAddress?) async -> Void,
        logger: Logger
    ) async throws -> LarderApplication {
        let database = try LarderDatabase(
            in: try DataDirectory(at: configuration.dataDirectory),
            migrations: Composition.migrations,
            logger: logger
        )
        let connectTimeouts = Set(configuration.upstreams.values.map(\.connectTimeout))
        let transports = Dictionary(
            uniqueKeysWithValues: connectTimeouts.map {
                ($0, HTTPClientTransport(eventLoopGroup: .singleton, connectTimeout: $0))
            }
        )
        do {
            return try wire(
                configuration,
                database,
                transports,
                metrics: metrics,
                onListening: onListening,
                logger: logger
            )
        } catch {
            // async-http-client ends a debug build whose client was not shut down, before the error could be reported.
            for transport in transports.values { try await transport.shutdown() }
            try database.close()
            throw error
        }
    }

    private static func wire(
        _ configuration: LarderConfiguration,
        _ database: LarderDatabase,
        _ transports: [Duration: HTTPClientTransport],
        metrics: PrometheusRegistry,
        onListening: @escaping @Sendable (SocketAddress?) async -> Void,
        logger: Logger
    ) throws -> LarderApplication {
        let clock = configuration.clockStart.map { WallClock.starting(at: $0) } ?? .system
        let run = String(UInt32.random(in: 0...UInt32.max), radix: 36)
        let group = MultiThreadedEventLoopGroup.singleton
        let accessRecorder = AccessRecorder()
        let maintenance = CacheMaintenance(
            database: database,
            accessRecorder: accessRecorder,
            budget: configuration.cacheBudget,
            clock: clock,
            logger: logger
        )
        var composition = Composition(
            configuration: configuration,
            database: database,
            transports: transports,
            accessRecorder: accessRecorder,
            sessions: SessionStore(database),
            events: EventStream(run: run, clock: clock),
            media: try MediaEngine(
                tools: configuration.media.tools,
                limits: configuration.media.limits,
                folder: configuration.dataDirectory.appending(path: "work", directoryHint: .isDirectory)
            ),
            scratch: try ScratchFolder("uploads", in: database.directory),
            clock: clock,
            logger: logger
        )
        try composition.addDisk()
        try composition.addPDF()
        try composition.addShips()
        composition.addShop()
        try composition.addNotes()
        composition.addFurtherUpstreams()
        let (sessions, events, upstreams) = (composition.sessions, composition.events, composition.upstreams)
        var table = composition.table
        let hasher = try SealedSecrets(database).credentialHasher()
        let mounts = upstreams.map { Mount($0, hasher: hasher) }
        table.add(MountRoutes(mounts: mounts, sessions: sessions, credentials: composition.mountCredentials).routes)
        table.add(EventRoutes(events: events, sessions: sessions).routes)
        table.add(StatusRoutes(upstreams: upstreams, clock: clock).routes)
        let checks = [HealthRoutes.Check("database") { try database.checkReadiness() }] + composition.checks
        let abilities = MediaAbilities(composition.media)
        table.add(
            HealthRoutes(checks: checks, abilities: { await abilities.all() }, exposition: { metrics.exposition() })
                .routes
        )
        table.add(IndexRoutes(version: LarderVersion.text, apps: composition.apps, table: table, clock: clock).routes)

        let rendered =
            configuration.renderedBudget > 0
            ? ResponseCache(budgetBytes: configuration.renderedBudget, run: run, logger: logger) : nil
        let router = ScreenRouter(
            table: table,
            sessions: sessions,
            hosts: HostRules(boundHost: configuration.host, allowed: configuration.allowedHosts),
            origins: OriginRules(allowed: configuration.allowedOrigins),
            run: run,
            rendered: rendered
        )
        let burst = Self.burst(of: configuration.limits.connections)
        let application = Application(
            responder: router.build().buildResponder(),
            server: .larder(limits: configuration.limits, rendered: rendered),
            configuration: ApplicationConfiguration(
                address: .hostname(configuration.host, port: configuration.port),
                availableConnectionsDelegate: .maximum(configuration.limits.connections - (burst - 1), logger: logger)
            ),
            services: [events, maintenance] + composition.services,
            onServerRunning: { channel in
                await channel.accept(atATime: UInt(burst), logger: logger)
                await onListening(channel.localAddress)
            },
            eventLoopGroupProvider: .shared(group),
            logger: logger
        )
        return LarderApplication(
            application: application,
            table: table,
            upstreams: upstreams,
            mounts: mounts,
            transports: Array(transports.values),
            database: database
        )
    }

    /// How many connections are accepted at a time. NIO's own four let the last of hundreds that come at once wait for
    /// dozens of turns of the event loop, each as long as all that are there already keep it busy. Hummingbird looks at
    /// its limit between two bursts only: it is set so much lower that a whole one does not go beyond Larder's, and so
    /// a burst is a small part.
    private static func burst(of connections: Int) -> Int {
        min(128, max(1, connections / 16))
    }

    /// Ends everything that outlives a request; the last thing is that the database moves its log into its file and
    /// closes.
    func close() async throws {
        for mount in mounts { mount.stop() }
        for upstream in upstreams { upstream.stop() }
        for transport in transports { try await transport.shutdown() }
        try database.close()
    }
}

extension Channel {
    /// Sets how many connections a listening channel accepts between two looks at those that are there.
    fileprivate func accept(atATime burst: UInt, logger: Logger) async {
        do {
            try await setOption(.maxMessagesPerRead, value: burst).get()
        } catch {
            logger.warning("connections are accepted four at a time", metadata: ["error": "\(error)"])
        }
    }
}

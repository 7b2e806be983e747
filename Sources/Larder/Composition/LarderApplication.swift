import Certificates
import Database
import Foundation
import Freshness
import HTTPServer
import Hummingbird
import Logging
import Metrics
import NIOCore
import NIOPosix
import Proxy
import ResponseStore
import Screens
import ServiceLifecycle
import Upstream
import Web

/// The composition root: the one place where clock, randomness, network and storage come in, and everything is wired.
struct LarderApplication: Sendable {
    /// The server, ready to run.
    let application: Application<RouterResponder<ScreenContext>>
    /// All routes that it serves.
    let table: RouteTable
    /// The certificate that it serves; nil without TLS.
    let certificate: ServedCertificate?

    private let upstreams: [Upstream]
    private let mounts: [Mount]
    private let transports: Transports
    private let database: LarderDatabase

    /// Opens the data directory and wires the server.
    ///
    /// - Parameters:
    ///   - directory: The data directory; nil locks the one that is set.
    ///   - sandboxPort: The port of the sandbox that was started with the server; nil if there is none.
    ///   - trace: Is called with the SQL of each statement, for tests.
    ///   - onListening: Is called with the address once the server accepts connections.
    /// - Throws: `StorageError` if the data cannot be used, and the errors of apps. What was opened until then is
    ///   closed again.
    static func build(
        _ configuration: LarderConfiguration,
        in directory: DataDirectory? = nil,
        sandboxPort: Int? = nil,
        tracing trace: (@Sendable (String) -> Void)? = nil,
        metrics: PrometheusRegistry,
        onListening: @escaping @Sendable (SocketAddress?) async -> Void,
        logger: Logger
    ) async throws -> LarderApplication {
        var options = DatabaseOptions()
        options.integrityCheck = configuration.storageCheck == .start ? .afterUncleanStop : .never
        options.trace = trace
        let database = try LarderDatabase(
            in: try directory ?? DataDirectory(at: configuration.dataDirectory),
            migrations: configuration.apps.migrations,
            options: options,
            logger: logger
        )
        let transports = Transports(configuration.upstreams.byName.values.map(\.connectTimeout))
        do {
            let resources = try ServerResources(configuration, database, transports, logger: logger)
            return try LarderApplication(
                resources,
                sandboxPort: sandboxPort,
                metrics: metrics,
                onListening: onListening
            )
        } catch {
            // async-http-client ends a debug build whose client was not shut down, before the error could be reported.
            try await transports.shutdown()
            try database.close()
            throw error
        }
    }

    private init(
        _ resources: ServerResources,
        sandboxPort: Int?,
        metrics: PrometheusRegistry,
        onListening: @escaping @Sendable (SocketAddress?) async -> Void
    ) throws {
        let apps = try ServedApps(resources)
        let hasher = try SealedSecrets(resources.database).credentialHasher()
        upstreams = apps.upstreams
        mounts = apps.upstreams.map { Mount($0, hasher: hasher) }
        transports = resources.transports
        database = resources.database
        certificate = resources.certificate
        let sandbox = Self.sandbox(port: sandboxPort, apps.upstreams, resources)
        table = Self.table(
            of: apps,
            mounts,
            resources,
            metrics,
            pages: try Self.pages(resources.configuration),
            sandbox: sandbox
        )
        application = Self.application(
            table,
            services: [resources.events, CacheMaintenance(resources)] + apps.services
                + Self.sandboxWatch(port: sandboxPort, apps.upstreams, resources),
            resources,
            onListening: onListening
        )
    }

    /// The routes of the apps, then the kit's own.
    private static func table(
        of apps: ServedApps,
        _ mounts: [Mount],
        _ resources: ServerResources,
        _ metrics: PrometheusRegistry,
        pages: WebRoutes?,
        sandbox: [Route]
    ) -> RouteTable {
        let (database, sessions, clock) = (resources.database, resources.sessions, resources.clock)
        let (abilities, gauges) = (resources.abilities, ServerGauges(resources))
        var table = RouteTable(apps.routes, languages: apps.languages)
        table.add(MountRoutes(mounts: mounts, sessions: sessions, credentials: apps.mountCredentials).routes)
        table.add(EventRoutes(events: resources.events, sessions: sessions, apps: apps.index.map(\.app)).routes)
        let server = StatusRoutes.Server(
            version: LarderVersion.text,
            startedAt: clock.now(),
            hasSandbox: !sandbox.isEmpty,
            budget: resources.configuration.cacheBudget
        )
        let store = ResponseStore(database)
        table.add(StatusRoutes(of: server, upstreams: apps.upstreams, store: store, clock: clock).routes)
        let export = ExportRoutes(
            apps: apps.userData,
            database: database,
            sessions: sessions,
            scratch: resources.scratch,
            version: LarderVersion.text,
            clock: clock
        )
        table.add(export.routes)
        table.add(sandbox)
        let health = HealthRoutes(
            checks: [
                HealthRoutes.Check("database") { try database.checkReadiness() },
                HealthRoutes.Check("storage") { try database.checkSpace() },
            ],
            abilities: { await abilities.all() },
            exposition: { metrics.exposition($0, await gauges.samples()) }
        )
        table.add(health.routes)
        table.add(ContractRoutes(yaml: Contract.yaml, json: { try Contract.json.get() }).routes)
        table.add(pages?.routes ?? [])
        table.missingPage = pages?.missingPage
        let index = IndexRoutes(
            version: LarderVersion.text,
            apps: apps.index,
            web: resources.configuration.web.description,
            table: table,
            clock: clock
        )
        table.add(index.routes)
        return table
    }

    /// The routes of the front end; nil if it is not served.
    private static func pages(_ configuration: LarderConfiguration) throws -> WebRoutes? {
        guard configuration.web.isEnabled else { return nil }
        let assets = try configuration.web.folder.map { try WebAssets(folder: $0) } ?? WebAssets.embedded
        return WebRoutes(
            assets: assets,
            publicOrigin: configuration.http.publicURL?.origin,
            scheme: configuration.http.scheme
        )
    }

    private static func application(
        _ table: RouteTable,
        services: [any Service],
        _ resources: ServerResources,
        onListening: @escaping @Sendable (SocketAddress?) async -> Void
    ) -> Application<RouterResponder<ScreenContext>> {
        let (http, logger) = (resources.configuration.http, resources.logger)
        let responseCache = responseCache(resources)
        let identities = responseCache?.identities ?? RequestIdentities(run: resources.run)
        let connections = OpenFileLimit.connections(http.limits.connections)
        if connections < http.limits.connections {
            logger.warning("the limit of open files allows \(connections) connections, fewer than http.connections")
        }
        let accepting = ConnectionBurst(connections: connections)
        let tls = resources.certificate.map { certificate in
            TLSOptions(context: { certificate.current.context }, hosts: hosts(resources))
        }
        return Application(
            responder: router(table, resources, identities).build().buildResponder(),
            server: .larder(limits: http.limits, resources.connections, responseCache, table, tls: tls),
            configuration: ApplicationConfiguration(
                address: .hostname(http.host, port: http.port),
                availableConnectionsDelegate: .maximum(accepting.limit, logger: logger)
            ),
            services: services.map(NamedService.init),
            onServerRunning: { channel in
                await accepting.apply(to: channel, clientLimit: resources.connections.limit, logger: logger)
                await onListening(channel.localAddress)
            },
            eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup.singleton),
            logger: logger
        )
    }

    private static func router(
        _ table: RouteTable,
        _ resources: ServerResources,
        _ identities: RequestIdentities
    ) -> ScreenRouter {
        let http = resources.configuration.http
        return ScreenRouter(
            table: table,
            sessions: resources.sessions,
            hosts: hosts(resources),
            origins: OriginRules(
                allowed: http.allowedOrigins,
                own: http.publicURL.map { [$0.origin] } ?? [],
                scheme: http.scheme
            ),
            identities: identities,
            proxies: http.trustedProxies
        )
    }

    private static func hosts(_ resources: ServerResources) -> HostRules {
        let http = resources.configuration.http
        return HostRules(
            boundHost: http.host,
            allowed: http.allowedHosts + (http.publicURL.map { [$0.host] } ?? []),
            isCertified: { [certificate = resources.certificate] in certificate?.current.names.contains($0) ?? false }
        )
    }

    /// The cache of complete responses; nil if its budget is 0.
    private static func responseCache(_ resources: ServerResources) -> ResponseCache? {
        let bytes = resources.configuration.responseCacheBytes
        return bytes > 0
            ? ResponseCache(
                budgetBytes: bytes,
                languages: Language.tags,
                cookies: resources.sessions.cookies.prefix,
                run: resources.run,
                logger: resources.logger
            ) : nil
    }

    /// Ends everything that outlives a request; the last thing is that the database moves its log into its file and
    /// closes.
    /// - Throws: the errors of async-http-client; `StorageError`.
    func close() async throws {
        for mount in mounts { mount.stop() }
        for upstream in upstreams { upstream.stop() }
        try await transports.shutdown()
        try database.close()
    }
}

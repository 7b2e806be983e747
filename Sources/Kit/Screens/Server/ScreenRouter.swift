package import HTTPServer
package import Hummingbird

/// The middleware and routes of the server, put together once by the composition root.
package struct ScreenRouter: Sendable {
    /// The routes that are served.
    package let table: RouteTable
    private let sessions: SessionStore
    private let hosts: HostRules
    private let origins: OriginRules
    private let identities: RequestIdentities
    private let proxies: TrustedProxies
    private let access: AccessRules
    private let devices: DeviceStore?
    private let paths: RouterPaths

    /// Creates a router for a table.
    /// - Parameters:
    ///   - table: the routes
    ///   - sessions: the sessions of all apps
    ///   - hosts: which host names are served
    ///   - origins: which web origins may read and write
    ///   - identities: those of the response cache, if there is one
    ///   - proxies: the proxies that name the addresses of clients
    ///   - access: who is served without a paired device
    ///   - devices: those that are paired; nil for none
    ///   - paths: those of a router that this one replaces
    package init(
        table: RouteTable,
        sessions: SessionStore,
        hosts: HostRules,
        origins: OriginRules,
        identities: RequestIdentities,
        proxies: TrustedProxies = .none,
        access: AccessRules = AccessRules(.loopback),
        devices: DeviceStore? = nil,
        paths: RouterPaths = RouterPaths()
    ) {
        self.table = table
        self.sessions = sessions
        self.hosts = hosts
        self.origins = origins
        self.identities = identities
        self.proxies = proxies
        self.access = access
        self.devices = devices
        self.paths = paths
    }

    /// Creates a router without a response cache.
    /// - Parameter run: distinguishes the runs of the server in request identities
    package init(
        table: RouteTable,
        sessions: SessionStore,
        hosts: HostRules,
        origins: OriginRules,
        run: String
    ) {
        self.init(
            table: table,
            sessions: sessions,
            hosts: hosts,
            origins: origins,
            identities: RequestIdentities(run: run)
        )
    }

    /// Builds the way of a request: identity and log → CORS fields, Vary → problems → guards → devices →
    /// form of the path → route.
    package func build() -> Router<ScreenContext> {
        let router = Router(context: ScreenContext.self)
        router.add(middleware: RequestLogMiddleware(identities: identities, proxies: proxies))
        router.add(middleware: CORSFieldsMiddleware(origins: origins))
        router.add(middleware: DeviceVaryMiddleware(rules: access))
        router.add(middleware: ProblemMiddleware(table: table))
        router.add(middleware: GuardMiddleware(hosts: hosts, origins: origins))
        router.add(middleware: InjectedProblemMiddleware())
        router.add(middleware: DeviceMiddleware(rules: access, devices: devices, cookies: sessions.cookies))
        router.add(middleware: CanonicalPathMiddleware(table: table))
        router.add(table, sessions: sessions, paths: paths)
        return router
    }
}

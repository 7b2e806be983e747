public import Hummingbird
import Logging

/// Everything that stands between the socket and a handler, put together once by the composition root.
public struct ScreenRouter: Sendable {
    /// The routes that are served.
    public let table: RouteTable
    private let sessions: SessionStore
    private let hosts: HostRules
    private let origins: OriginRules
    private let run: String
    private let rendered: ResponseCache?

    /// A router for a table. `run` tells the runs of the server apart in request identities; `rendered` are the responses
    /// that its connections keep, if they keep any.
    public init(
        table: RouteTable,
        sessions: SessionStore,
        hosts: HostRules,
        origins: OriginRules,
        run: String,
        rendered: ResponseCache? = nil
    ) {
        self.table = table
        self.sessions = sessions
        self.hosts = hosts
        self.origins = origins
        self.run = run
        self.rendered = rendered
    }

    /// The way of a request: identity and log → CORS fields → problems → guards → route.
    public func build() -> Router<ScreenContext> {
        let router = Router(context: ScreenContext.self)
        router.add(middleware: RequestLogMiddleware(run: run, rendered: rendered))
        router.add(middleware: CORSFieldsMiddleware(origins: origins))
        router.add(middleware: ProblemMiddleware(table: table))
        router.add(middleware: GuardMiddleware(hosts: hosts, origins: origins, table: table))
        router.add(table, sessions: sessions)
        return router
    }
}

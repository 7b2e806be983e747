import Concurrency
import Foundation
import HTTPTypes
package import Hummingbird
package import Server
import Synchronization

/// The middleware and routes of the server, put together once by the composition root.
package struct ScreenRouter: Sendable {
    /// The routes that are served.
    package let table: RouteTable
    /// Counts the requests that fail for want of the shared store; ends with the server.
    package let outages: StoreOutages
    private let sessions: SessionStore
    private let hosts: HostRules
    private let origins: OriginRules
    private let identities: RequestIdentities
    private let proxies: TrustedProxies
    private let access: AccessRules
    private let devices: DeviceStore?
    private let paths: RouterPaths
    private let injectsProblems: Bool

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
    ///   - injectsProblems: whether a test may set ``Problem/injected``
    package init(
        table: RouteTable,
        sessions: SessionStore,
        hosts: HostRules,
        origins: OriginRules,
        identities: RequestIdentities,
        proxies: TrustedProxies = .none,
        access: AccessRules = AccessRules(.loopback),
        devices: DeviceStore? = nil,
        paths: RouterPaths = RouterPaths(),
        injectsProblems: Bool = false
    ) {
        self.table = table
        outages = StoreOutages(clock: sessions.clock)
        self.sessions = sessions
        self.hosts = hosts
        self.origins = origins
        self.identities = identities
        self.proxies = proxies
        self.access = access
        self.devices = devices
        self.paths = paths
        self.injectsProblems = injectsProblems
    }

    /// Builds the way of a request: identity and log → CORS fields, Vary → problems → guards → devices →
    /// form of the path → route.
    package func build() -> Router<ScreenContext> {
        let router = Router(context: ScreenContext.self)
        router.add(middleware: RequestLogMiddleware(identities: identities, proxies: proxies))
        router.add(middleware: CORSFieldsMiddleware(origins: origins))
        router.add(middleware: DeviceVaryMiddleware(rules: access))
        router.add(middleware: ProblemMiddleware(table: table, outages: outages))
        router.add(middleware: GuardMiddleware(hosts: hosts, origins: origins))
        if injectsProblems { router.add(middleware: InjectedProblemMiddleware()) }
        router.add(middleware: DeviceMiddleware(rules: access, devices: devices, cookies: sessions.cookies))
        router.add(middleware: CanonicalPathMiddleware(table: table))
        router.add(table, sessions: sessions, KeyedResponses(sessions), paths: paths)
        return router
    }
}

extension Router where Context == ScreenContext {
    /// Serves every route of a table, HEAD beside GET, with the session that the route takes.
    func add(_ table: RouteTable, sessions: SessionStore, _ responses: KeyedResponses, paths: RouterPaths) {
        for route in table.routes {
            if let raw = route.raw {
                add(raw, route, paths)
                continue
            }
            let (responder, path) = (RouteResponder(route, sessions, responses), paths[route.path])
            on(path, method: route.method, responder: responder)
            if route.method == .get { on(path, method: .head, responder: responder) }
        }
    }

    /// Serves everything below the path, and the path itself, for which the handler has a problem.
    private func add(_ raw: Route.RawHandling, _ route: Route, _ paths: RouterPaths) {
        let responder = CallbackResponder<ScreenContext> { try await raw.handler($0, $1) }
        let base = route.path.prefix(upTo: route.path.lastIndex(of: "/") ?? route.path.endIndex)
        for method in [route.method] + raw.otherMethods {
            on(paths["\(base)/**"], method: method, responder: responder)
            on(paths[String(base)], method: method, responder: responder)
        }
    }
}

/// Calls the handler of one route.
private struct RouteResponder: HTTPResponder {
    private let route: Route
    private let parameterNames: [String]
    private let sessions: SessionStore
    private let responses: KeyedResponses

    init(_ route: Route, _ sessions: SessionStore, _ responses: KeyedResponses) {
        (self.route, self.sessions, self.responses) = (route, sessions, responses)
        parameterNames = route.path.split(separator: "/").filter { $0.hasPrefix("{") }.map {
            String($0.dropFirst().dropLast())
        }
    }

    func respond(to request: Request, context: ScreenContext) async throws -> Response {
        try QueryItems.requireText(request.uri.query)
        let parameters = try parameters(of: context)
        let screenRequest = ScreenRequest(
            request,
            context: context,
            parameters: parameters,
            sessions: sessions,
            input: route.input,
            maximumBodyBytes: route.maximumBodyBytes
        )
        try route.input.check(screenRequest.query)
        try screenRequest.requireWholeContent()
        let profile = try route.profileApp.flatMap { Link.Profile(try screenRequest.profile(), of: $0) }
        guard let profile else { return try await respond(to: request, screenRequest, context) }
        return try await Link.Profile.$current.withValue(profile) {
            try await respond(to: request, screenRequest, context)
        }
    }

    private func respond(to request: Request, _ screenRequest: ScreenRequest, _ context: ScreenContext) async throws
        -> Response
    {
        let screen: ScreenResponse
        var sessionToken = ChangeToken.unlimited
        switch route.handling {
        case .open(let handler):
            screen = try await respond(to: screenRequest, nil) { try await handler($0) }
        case .session(let app, let handler):
            sessionToken = sessions.changeToken(of: screenRequest.credentials, app: app)
            let session = try await sessions.session(of: screenRequest.credentials, app: app)
            screen = try await respond(to: screenRequest, session) { try await handler($0, session) }
        case .knownSession(let app, let handler):
            let credentials = screenRequest.credentials
            sessionToken = sessions.changeToken(of: credentials, app: app)
            let session = try await sessions.knownSession(of: credentials, app: app)
            screen = try await respond(to: screenRequest, session) { try await handler($0, session) }
        case .raw(let raw):
            return try await raw.handler(request, context)
        }
        let response = try ScreenResponseRenderer.render(screen, for: request.head)
        if let changeToken = screen.changeToken {
            context.annotations.update {
                $0.changeToken = changeToken.and(sessionToken)
                $0.isSelective = true
            }
        }
        return response
    }

    /// Calls the handler, unless the request has the key of an earlier one.
    private func respond(
        to request: ScreenRequest,
        _ session: Session?,
        _ handle: (ScreenRequest) async throws -> ScreenResponse
    ) async throws -> ScreenResponse {
        guard route.repetition != .none, let key = try IdempotencyKey(request.headerFields) else {
            return try await handle(request)
        }
        let profile = try route.profileApp.map { _ in try request.profile() }
        let app = route.path.split(separator: "/").dropFirst().first.map(String.init)
        // A space is in none of them.
        let audience = [app, session?.id, profile, request.deviceID].map { $0 ?? "" }.joined(separator: " ")
        return try await responses.respond(
            to: request,
            key,
            audience: audience,
            isKept: route.repetition == .kept,
            handle
        )
    }

    private func parameters(of context: ScreenContext) throws(Problem) -> [String: String] {
        var parameters: [String: String] = [:]
        for name in parameterNames {
            guard let raw = context.parameters.get(name), let value = raw.removingPercentEncoding,
                !value.utf8.contains(0)
            else {
                // SQLite ends texts at NUL: one in a name would name something else.
                throw Problem(.malformedRequest, "The \(name) in the path is not UTF-8, or holds a NUL.")
            }
            parameters[name] = value
        }
        return parameters
    }
}

/// The parsed paths of routes. A server that replaces another has the same ones, and to parse them again would be a
/// good part of the cost of a router.
package final class RouterPaths: Sendable {
    private let known = Mutex<[String: RouterPath]>([:])

    package init() {}

    subscript(text: String) -> RouterPath {
        known.withLock { known in
            if let path = known[text] { return path }
            let path = RouterPath(text)
            known[text] = path
            return path
        }
    }
}

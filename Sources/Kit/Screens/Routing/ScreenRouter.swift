import Concurrency
import Foundation
import HTTP
package import HTTPTypes
package import Hummingbird
package import Server
import Synchronization

/// The middleware and routes of the server, put together once by the composition root.
package struct ScreenRouter {
    /// Counts the requests that fail for want of the shared store; ends with the server.
    package let outages: StoreOutages
    /// The way of a request: identity and log → fields for browsers → problems → guards → devices → form of the path →
    /// route.
    package let router = Router(context: ScreenContext.self)

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
        outages = StoreOutages(clock: sessions.clock)
        router.add(middleware: RequestLogMiddleware(identities: identities, proxies: proxies))
        router.add(middleware: BrowserFieldsMiddleware(origins: origins, access: access))
        router.add(middleware: ProblemMiddleware(table: table, outages: outages))
        router.add(middleware: GuardMiddleware(hosts: hosts, origins: origins))
        if injectsProblems { router.add(middleware: InjectedProblemMiddleware()) }
        router.add(middleware: DeviceMiddleware(rules: access, devices: devices, cookies: sessions.cookies))
        router.add(middleware: CanonicalPathMiddleware(table: table))
        router.add(table, sessions: sessions, KeyedResponses(sessions), paths: paths)
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
        let audience = [app, session?.id, profile, request.context.deviceID].map { $0 ?? "" }.joined(separator: " ")
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

/// All routes that are served, and the methods of each path.
package struct RouteTable: Sendable {
    /// The routes, in the order of their apps.
    package private(set) var routes: [Route]
    /// Makes the page that browsers get for an unknown address, and for a POST that an address does not accept. Nil if
    /// they get the problem, like API clients.
    package var missingPage: MissingPage?
    /// Makes the page that asks the browser of a device that is not paired for a code; nil if it gets the problem.
    package var pairingPage: MissingPage?
    let forms: ScreenForms
    private let languages: [String: Language]
    private let elsewhere: Set<String>

    /// - Parameters:
    ///   - routes: The first routes.
    ///   - forms: The forms of the screens.
    ///   - languages: The languages of the original apps by the names of the apps, unless English.
    ///   - elsewhere: The names of apps that another process serves.
    package init(
        _ routes: [Route] = [],
        forms: ScreenForms = ScreenForms(),
        languages: [String: Language] = [:],
        elsewhere: Set<String> = []
    ) {
        (self.routes, self.forms) = (routes, forms)
        self.languages = languages
        self.elsewhere = elsewhere
    }

    /// Returns the language of responses to clients that name none that Larder speaks.
    ///
    /// - Parameter path: The path, or the target, of the request.
    func originalLanguage(of path: String) -> Language {
        guard !languages.isEmpty else { return .english }
        return Self.app(ofPath: path).flatMap { languages[$0] } ?? .english
    }

    /// Returns the app of a path that another process serves; nil if there is none.
    func appElsewhere(path: String) -> String? {
        guard !elsewhere.isEmpty else { return nil }
        return Self.app(ofPath: path).flatMap { elsewhere.contains($0) ? $0 : nil }
    }

    private static func app(ofPath path: String) -> String? {
        path.hasPrefix("/v1/") ? String(path.dropFirst(4).prefix { $0 != "/" && $0 != "?" }) : nil
    }

    package mutating func add(_ more: [Route]) {
        routes += more
    }

    /// Returns the methods of a path in the order of `Allow`; empty if there is no such path.
    func allowedMethods(path: String) -> [HTTPRequest.Method] {
        if let raw = rawRoute(of: path)?.raw { return raw.allowedMethods(path) }
        guard isCanonical(path) else { return [] }
        let segments = Self.segments(path)
        let matching = routes.compactMap { route -> (shape: String, method: HTTPRequest.Method)? in
            let pattern = Self.segments(route.path)
            guard Self.matches(pattern, segments) else { return nil }
            return (String(pattern.map { $0.hasPrefix("{") ? "1" : "0" }), route.method)
        }
        // As the router does: from left to right, a fixed segment hides a parameter, whatever the methods.
        guard let shape = matching.map(\.shape).min() else { return [] }
        var methods = Set(matching.filter { $0.shape == shape }.map(\.method))
        if methods.contains(.get) { methods.insert(.head) }
        methods.insert(.options)
        return [.get, .head, .post, .put, .patch, .delete, .options].filter(methods.contains)
    }

    /// Whether a path is spelled as routes are: no empty segment and no slash at the end, so that everything has one
    /// address. How paths below a raw route are spelled is that route's business.
    func isCanonical(_ path: String) -> Bool {
        path == "/" || !Self.hasEmptySegment(path) || rawRoute(of: path) != nil
    }

    /// Whether a path has two slashes beside each other, or one at its end.
    private static func hasEmptySegment(_ path: String) -> Bool {
        let slash = UInt8(ascii: "/")
        var last: UInt8?
        for byte in path.utf8 {
            if byte == slash, last == slash { return true }
            last = byte
        }
        return last == slash
    }

    /// Returns a raw route that a path is below.
    private func rawRoute(of path: String) -> Route? {
        routes.first { $0.raw != nil && path.hasPrefix($0.fixedPrefix) }
    }

    private static func segments(_ path: String) -> [Substring] {
        path.split(separator: "/", omittingEmptySubsequences: true)
    }

    private static func matches(_ pattern: [Substring], _ path: [Substring]) -> Bool {
        guard pattern.count == path.count else { return false }
        return zip(pattern, path).allSatisfy { expected, actual in expected.hasPrefix("{") || expected == actual }
    }
}

extension RouteTable {
    /// Makes a page for the request of a browser; nil if there is none.
    package typealias MissingPage = @Sendable (HTTPRequest) -> ScreenResponse?

    /// Returns the page that a browser gets in place of an error. Nil unless the client prefers HTML to JSON, and nil
    /// for an address of the API.
    ///
    /// - Parameter status: That of the error's response.
    func page(inPlaceOf error: any Error, _ status: HTTPResponse.Status, for request: HTTPRequest, path: String)
        -> ScreenResponse?
    {
        if let problem = error as? Problem, problem.code == .pairingRequired {
            return page(pairingPage, for: request, path: path)
        }
        switch status {
        case .notFound: return page(missingPage, for: request, path: path)
        // Browsers post the files of a share sheet with `Origin: null`, which is refused.
        case .methodNotAllowed, .forbidden: return page(missingPage, for: request, path: path, [.post])
        default: return nil
        }
    }

    private func page(
        _ make: MissingPage?,
        for request: HTTPRequest,
        path: String,
        _ methods: Set<HTTPRequest.Method> = [.get, .head]
    ) -> ScreenResponse? {
        guard let make else { return nil }
        let isOfAPI = path == "/v1" || path.hasPrefix("/v1/")
        guard !isOfAPI, methods.contains(request.method) else { return nil }
        let accepted = AcceptedMediaTypes(request.headerFields)
        guard let weight = accepted.explicitWeight(of: "text/html"), weight > accepted.weight(of: "application/json")
        else { return nil }
        return make(request)
    }

    /// Returns the problem of a request that the connection layer refuses, in the language of its client as far as that
    /// is known.
    ///
    /// - Parameter head: The head of the request; nil if it has not arrived.
    package func content(of refusal: ConnectionRefusal, _ head: RefusedHead?) -> RefusalContent {
        let language = head.map {
            Language(acceptedBy: $0.acceptedLanguages, original: originalLanguage(of: $0.target))
        }
        let problem = Problem(ProblemCode(refusal.reason), Text(verbatim: refusal.detail))
        // A problem without fields of its own always encodes; an empty body would still carry the status.
        let bytes = Language.$current.withValue(language ?? .english) {
            (try? ProblemDocument(problem, instance: "").bytes()) ?? Data()
        }
        return RefusalContent(type: MediaType.problem, language: (language ?? .english).rawValue, body: Array(bytes))
    }
}

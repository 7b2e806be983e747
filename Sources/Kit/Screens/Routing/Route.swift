package import HTTPTypes
import Hummingbird

/// The parts of a route that do not depend on its handler: the contract, the index and the router read them.
package struct RouteDeclaration: Sendable {
    /// The session that a route takes, and the app that it is a session of.
    package enum Session: Sendable, Equatable {
        case none
        /// Without a session, the response is 401.
        case required(app: String)
        /// Anyone may use the route, and it responds differently to a session. A token that opens none is ignored.
        case known(app: String)
    }

    /// The use of `Idempotency-Key`.
    enum Repetition {
        /// Nothing: the route reads, or hands out a secret that is stored nowhere.
        case none
        /// The key is stored before the handler runs, the response after it.
        case kept
        /// The handler stores the response with the change (``ScreenRequest/answering(_:to:)``), or the key before it
        /// (``ScreenRequest/keepKey()``).
        case answered
    }

    /// Method. GET also serves HEAD.
    package let method: HTTPRequest.Method
    /// Path with parameters in braces, as in openapi.yaml: `/v1/ships/{id}`.
    package let path: String
    /// Name of the screen, as in `meta.screen`.
    package let screen: String
    package let session: Session
    package fileprivate(set) var maximumBodyBytes: Int
    /// Its query parameters, members of a body, and fields of a form.
    package internal(set) var input = RouteInput()
    /// The app whose profiles it serves; nil if the profile has no meaning there.
    fileprivate(set) var profileApp: String?
    /// How a repeated request gets the first response.
    fileprivate(set) var repetition: Repetition

    fileprivate init(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ screen: String,
        _ session: Session = .none,
        maximumBodyBytes: Int = Route.defaultBodyBytes
    ) {
        (self.method, self.path, self.screen, self.session) = (method, path, screen, session)
        self.maximumBodyBytes = maximumBodyBytes
        repetition = [.get, .head, .options].contains(method) ? .none : .kept
    }

    /// The app whose session it needs; nil if it needs none.
    package var sessionApp: String? {
        if case .required(let app) = session { app } else { nil }
    }

    /// Whether it takes `Idempotency-Key`.
    package var takesKey: Bool { repetition != .none }
}

/// A route: its declaration and its handler.
@dynamicMemberLookup
package struct Route: DeclaredRoute {
    package typealias Handler = @Sendable (ScreenRequest) async throws -> ScreenResponse
    /// Responds to a request with its session.
    package typealias SessionHandler = @Sendable (ScreenRequest, Session) async throws -> ScreenResponse
    /// Responds to a request with its session, if it has one.
    package typealias KnownSessionHandler = @Sendable (ScreenRequest, Session?) async throws -> ScreenResponse

    /// Largest request body of a route that sets no other limit, in bytes.
    package static let defaultBodyBytes = 64 << 10

    package var declaration: RouteDeclaration
    let handling: Handling

    fileprivate init(_ declaration: RouteDeclaration, _ handling: Handling) {
        (self.declaration, self.handling) = (declaration, handling)
    }

    /// Creates a route that needs no session.
    package init(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ screen: String,
        maximumBodyBytes: Int = Route.defaultBodyBytes,
        _ handler: @escaping Handler
    ) {
        self.init(RouteDeclaration(method, path, screen, maximumBodyBytes: maximumBodyBytes), .open(handler))
    }

    /// Creates a route that takes a session of an app; without one the response is 401.
    package init(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ screen: String,
        session app: String,
        _ handler: @escaping SessionHandler
    ) {
        self.init(RouteDeclaration(method, path, screen, .required(app: app)), .session(app: app, handler))
    }

    /// Creates a route for everything below a path.
    /// - Parameters:
    ///   - path: its last segment is a parameter that matches any number of segments
    ///   - raw: handler and methods
    init(_ method: HTTPRequest.Method, _ path: String, _ screen: String, raw: RawHandling) {
        self.init(RouteDeclaration(method, path, screen, maximumBodyBytes: .max), .raw(raw))
        declaration.repetition = .none
    }

    enum Handling: Sendable {
        /// With a response that is rendered for the request.
        case open(Handler)
        /// The same, with a session of an app.
        case session(app: String, SessionHandler)
        /// The same, with a session of an app if there is one.
        case knownSession(app: String, KnownSessionHandler)
        /// Sends the handler's response unchanged.
        case raw(RawHandling)
    }

    /// A handler whose responses are sent unchanged, for all paths below the route's.
    struct RawHandling: Sendable {
        /// Methods served in addition to the one of the route.
        let otherMethods: [HTTPRequest.Method]
        let allowedMethods: @Sendable (_ path: String) -> [HTTPRequest.Method]
        let handler: @Sendable (Request, ScreenContext) async throws -> Response
    }

    package subscript<Value>(dynamicMember member: KeyPath<RouteDeclaration, Value>) -> Value {
        declaration[keyPath: member]
    }

    var raw: RawHandling? {
        if case .raw(let raw) = handling { raw } else { nil }
    }

    /// URI template (RFC 6570) of the route's addresses: the parts of its path, and its query parameters. That of a
    /// mount takes any.
    var template: String {
        let (path, input) = (declaration.path, declaration.input)
        if raw != nil { return path.replacing("{path}", with: "{+path}") + "{?query*}" }
        if input.takesAnyParameter { return path + "{?query*}" }
        return input.parameters.isEmpty ? path : path + "{?\(input.parameters.joined(separator: ","))}"
    }

    /// The path, with `**` in place of a last parameter that takes any number of segments.
    package var pattern: String {
        let path = declaration.path
        return raw == nil ? path : path.split(separator: "/").dropLast().map { "/\($0)" }.joined() + "/**"
    }

    /// The path up to its first parameter.
    var fixedPrefix: Substring { declaration.path.prefix { $0 != "{" } }
}

/// A route of an app, whose handler is a function of the app: so the contract is made of declarations without a server.
/// In an app, `Route` is such a route.
package struct AppRoute<Served: App>: DeclaredRoute {
    package var declaration: RouteDeclaration
    private var bodyLimit: (@Sendable (Served) -> Int)?
    private let handling: @Sendable (Served) -> Route.Handling?

    /// Creates a route that needs no session.
    package init(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ screen: String,
        maximumBodyBytes: Int = Route.defaultBodyBytes,
        _ handler: @escaping @Sendable (Served) -> Route.Handler
    ) {
        declaration = RouteDeclaration(method, path, screen, maximumBodyBytes: maximumBodyBytes)
        handling = { .open(handler($0)) }
    }

    /// Creates a route that takes a session of the app; without one the response is 401.
    package init(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ screen: String,
        maximumBodyBytes: Int = Route.defaultBodyBytes,
        session handler: @escaping @Sendable (Served) -> Route.SessionHandler
    ) {
        let app = Served.name
        declaration = RouteDeclaration(method, path, screen, .required(app: app), maximumBodyBytes: maximumBodyBytes)
        handling = { .session(app: app, handler($0)) }
    }

    /// Creates a route that takes a session of another app. It is not served if the app has no handler.
    package init(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ screen: String,
        sessionOf app: String,
        _ handler: @escaping @Sendable (Served) -> Route.SessionHandler?
    ) {
        declaration = RouteDeclaration(method, path, screen, .required(app: app))
        handling = { handler($0).map { .session(app: app, $0) } }
    }

    /// Creates a route that anyone may use, and that responds differently to a session of the app.
    package init(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ screen: String,
        knownSession handler: @escaping @Sendable (Served) -> Route.KnownSessionHandler
    ) {
        declaration = RouteDeclaration(method, path, screen, .known(app: Served.name))
        handling = { .knownSession(app: Served.name, handler($0)) }
    }

    /// Returns the route with the limit of its body that the app's settings give, in bytes.
    package func bodyLimit(_ bytes: @escaping @Sendable (Served) -> Int) -> Self {
        var route = self
        route.bodyLimit = bytes
        return route
    }

    /// Returns the route as an app serves it; nil if the app has no handler.
    func served(by app: Served) -> Route? {
        var declaration = declaration
        if let bodyLimit { declaration.maximumBodyBytes = bodyLimit(app) }
        return handling(app).map { Route(declaration, $0) }
    }
}

extension App {
    package typealias Route = AppRoute<Self>

    package var routes: [Screens.Route] { Self.routes.compactMap { $0.served(by: self) } }
    package static var declarations: [RouteDeclaration] { routes.map(\.declaration) }
}

extension Array {
    /// Returns the routes of an app with profiles: each of them takes `profile`, and links of its responses name it.
    package func withProfiles<Served: App>() -> Self where Element == AppRoute<Served> {
        map {
            var route = $0
            route.declaration.input.parameters.append("profile")
            route.declaration.profileApp = Served.name
            return route
        }
    }
}

/// A route that a declaration describes.
package protocol DeclaredRoute: Sendable {
    var declaration: RouteDeclaration { get set }
}

extension DeclaredRoute {
    private func declaring(_ change: (inout RouteDeclaration) -> Void) -> Self {
        var route = self
        change(&route.declaration)
        return route
    }

    /// Returns the route with the query parameters that it takes.
    package func query(_ parameters: RouteInput.Parameter...) -> Self {
        declaring { $0.input.parameters = parameters.flatMap(\.names) }
    }

    /// Returns the route as one that takes any query, for the page that it responds with to read.
    package func anyQuery() -> Self { declaring { $0.input.takesAnyParameter = true } }

    /// Returns the route with the members of the JSON body that it takes.
    package func body(_ members: RouteInput.Member...) -> Self { declaring { $0.input.members = members } }

    /// Returns the route with the parts of the form that it takes.
    package func form(_ fields: String...) -> Self { declaring { $0.input.formFields = fields } }

    /// Returns the route as one whose handler makes one change, and stores the response with it
    /// (``ScreenRequest/answering(_:to:)``), or the key before it (``ScreenRequest/keepKey()``).
    package func answering() -> Self { declaring { $0.repetition = .answered } }

    /// Returns the route without `Idempotency-Key`: it opens or ends a session, or hands out a secret.
    package func unkeyed() -> Self { declaring { $0.repetition = .none } }
}

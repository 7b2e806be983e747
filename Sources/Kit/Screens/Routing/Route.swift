package import HTTPTypes
import Hummingbird

/// One line of an app's table: method, path and handler, in the order of openapi.yaml.
package struct Route: Sendable {
    package typealias Handler = @Sendable (ScreenRequest) async throws -> ScreenResponse
    /// Responds to a request with its session.
    package typealias SessionHandler = @Sendable (ScreenRequest, Session) async throws -> ScreenResponse

    /// Responds to a request with its session, if it has one.
    package typealias KnownSessionHandler = @Sendable (ScreenRequest, Session?) async throws -> ScreenResponse

    /// Largest request body of a route that sets no other limit, in bytes.
    package static let defaultBodyBytes = 64 << 10

    /// Method. GET also serves HEAD.
    package let method: HTTPRequest.Method
    /// Path with parameters in braces, as in openapi.yaml: `/v1/ships/{id}`.
    package let path: String
    /// Name of the screen, as in `meta.screen`.
    package let screen: String
    /// Largest request body, in bytes.
    package let maximumBodyBytes: Int
    /// Its query parameters, members of a body, and fields of a form.
    package internal(set) var input = RouteInput()
    /// The app whose profiles it serves; nil if the profile has no meaning there.
    var profileApp: String?
    let handling: Handling
    /// How a repeated request gets the first response.
    private(set) var repetition: Repetition

    /// Creates a route that needs no session.
    package init(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ screen: String,
        maximumBodyBytes: Int = Route.defaultBodyBytes,
        _ handler: @escaping Handler
    ) {
        self.init(method, path, screen, maximumBodyBytes: maximumBodyBytes, .open(handler))
    }

    /// Creates a route that takes a session of an app; without one the response is 401.
    package init(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ screen: String,
        session app: String,
        maximumBodyBytes: Int = Route.defaultBodyBytes,
        _ handler: @escaping SessionHandler
    ) {
        self.init(method, path, screen, maximumBodyBytes: maximumBodyBytes, .session(app: app, handler))
    }

    /// Creates a route that anyone may use, and that responds differently to a session of an app. A token that opens
    /// none is ignored.
    package init(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ screen: String,
        knownSession app: String,
        maximumBodyBytes: Int = Route.defaultBodyBytes,
        _ handler: @escaping KnownSessionHandler
    ) {
        self.init(method, path, screen, maximumBodyBytes: maximumBodyBytes, .knownSession(app: app, handler))
    }

    /// Creates a route for everything below a path.
    /// - Parameters:
    ///   - path: its last segment is a parameter that matches any number of segments
    ///   - raw: handler and methods
    init(_ method: HTTPRequest.Method, _ path: String, _ screen: String, raw: RawHandling) {
        self.init(method, path, screen, maximumBodyBytes: .max, .raw(raw))
    }

    private init(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ screen: String,
        maximumBodyBytes: Int,
        _ handling: Handling
    ) {
        self.method = method
        self.path = path
        self.screen = screen
        self.maximumBodyBytes = maximumBodyBytes
        self.handling = handling
        let isRead = [.get, .head, .options].contains(method)
        if case .raw = handling { repetition = .none } else { repetition = isRead ? .none : .kept }
    }

    /// The use of `Idempotency-Key`.
    enum Repetition {
        /// Nothing: the route reads, or hands out a secret that is stored nowhere.
        case none
        /// The key is stored before the handler runs, the response after it.
        case kept
        /// The handler stores the response with the change (``ScreenRequest/answering(_:to:)``).
        case answered
    }

    /// How a route responds.
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

    /// The app whose session it takes; nil if it takes none.
    package var sessionApp: String? {
        if case .session(let app, _) = handling { app } else { nil }
    }

    /// The raw handler, if it has one.
    var raw: RawHandling? {
        if case .raw(let raw) = handling { raw } else { nil }
    }

    /// URI template (RFC 6570) of the route's addresses: the parts of its path, and its query parameters. That of a
    /// mount takes any.
    var template: String {
        if raw != nil { return path.replacing("{path}", with: "{+path}") + "{?query*}" }
        if input.takesAnyParameter { return path + "{?query*}" }
        return input.parameters.isEmpty ? path : path + "{?\(input.parameters.joined(separator: ","))}"
    }

    /// The path, with `**` in place of a last parameter that takes any number of segments.
    package var pattern: String {
        raw == nil ? path : path.split(separator: "/").dropLast().map { "/\($0)" }.joined() + "/**"
    }

    /// The path up to its first parameter.
    var fixedPrefix: Substring { path.prefix { $0 != "{" } }
}

extension [Route] {
    /// Returns the routes of an app with profiles: each of them takes `profile`, and links of its responses name it.
    package func withProfiles(of app: String) -> [Route] {
        map {
            var route = $0
            route.input.parameters.append("profile")
            route.profileApp = app
            return route
        }
    }
}

extension Route {
    /// Returns the route with the query parameters that it takes.
    package func query(_ parameters: RouteInput.Parameter...) -> Route {
        var route = self
        route.input.parameters = parameters.flatMap(\.names)
        return route
    }

    /// Returns the route as one that takes any query, for the page that it responds with to read.
    package func anyQuery() -> Route {
        var route = self
        route.input.takesAnyParameter = true
        return route
    }

    /// Returns the route with the members of the JSON body that it takes.
    package func body(_ members: RouteInput.Member...) -> Route {
        var route = self
        route.input.members = members
        return route
    }

    /// Returns the route as one whose handler makes one change, and stores the response with it
    /// (``ScreenRequest/answering(_:to:)``).
    package func answering() -> Route {
        var route = self
        route.repetition = .answered
        return route
    }

    /// Returns the route without `Idempotency-Key`: it opens or ends a session, or hands out a secret.
    package func unkeyed() -> Route {
        var route = self
        route.repetition = .none
        return route
    }

    /// Returns the route with the parts of the form that it takes.
    package func form(_ fields: String...) -> Route {
        var route = self
        route.input.formFields = fields
        return route
    }
}

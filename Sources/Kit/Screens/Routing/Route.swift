public import HTTPTypes
import Hummingbird

/// One line of an app's table: method and path to handler. Reads like the index of openapi.yaml.
public struct Route: Sendable {
    /// What answers a request.
    public typealias Handler = @Sendable (ScreenRequest) async throws -> ScreenResponse

    /// Who may use it.
    public enum Access: Sendable, Equatable {
        /// Anybody.
        case open
        /// Whoever has a session of this app; 401 otherwise.
        case session(app: String)
    }

    /// Method. GET also serves HEAD.
    public let method: HTTPRequest.Method
    /// Path with parameters in braces, as in openapi.yaml: `/v1/ships/{id}`.
    public let path: String
    /// Name of the screen, as in `meta.screen`.
    public let screen: String
    /// Who may use it.
    public let access: Access
    /// Largest request body, in bytes.
    public let maximumBodyBytes: Int
    /// What answers.
    let responding: Handling

    /// A line of the table.
    public init(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ screen: String,
        access: Access = .open,
        maximumBodyBytes: Int = 64 << 10,
        _ handler: @escaping Handler
    ) {
        self.method = method
        self.path = path
        self.screen = screen
        self.access = access
        self.maximumBodyBytes = maximumBodyBytes
        responding = .response(handler)
    }

    /// How it answers.
    enum Handling: Sendable {
        /// With a response that is fitted to the request.
        case response(Handler)
        /// With a response that is sent as it is. Its last parameter stands for any number of segments.
        case raw(RawHandling)
    }

    /// What belongs to a response that is sent as it is.
    struct RawHandling: Sendable {
        /// Methods served beside the one of the route.
        let beside: [HTTPRequest.Method]
        /// The methods of a path.
        let allowed: @Sendable (_ path: String) -> [HTTPRequest.Method]
        let handler: @Sendable (Request, ScreenContext) async throws -> Response
    }

    /// A line of the table for everything below a path.
    init(
        raw method: HTTPRequest.Method,
        _ path: String,
        _ screen: String,
        beside: [HTTPRequest.Method],
        allowed: @escaping @Sendable (String) -> [HTTPRequest.Method],
        _ handler: @escaping @Sendable (Request, ScreenContext) async throws -> Response
    ) {
        self.method = method
        self.path = path
        self.screen = screen
        access = .open
        maximumBodyBytes = .max
        responding = .raw(RawHandling(beside: beside, allowed: allowed, handler: handler))
    }

    /// The raw part, where it is one.
    var raw: RawHandling? {
        if case .raw(let raw) = responding { raw } else { nil }
    }
}

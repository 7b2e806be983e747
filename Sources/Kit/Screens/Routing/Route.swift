public import HTTPTypes

/// One line of an app's table: method and path to handler. Reads like the index of openapi.yaml.
public struct Route: Sendable {
    /// What answers a request.
    public typealias Handler = @Sendable (ScreenRequest) async throws -> Reply

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
    public let handler: Handler

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
        self.handler = handler
    }
}

public import HTTPServer
public import Hummingbird
import Logging
import NIOCore

/// The context of a request in Hummingbird: its identity and its source.
public struct ScreenContext: RequestContext {
    /// Hummingbird's own part.
    public var coreContext: CoreRequestContextStorage
    /// Identity of the request; set before anything else sees the request.
    public var requestID: String
    /// Address of the client: that of the connection, unless a trusted proxy names another. Nil if it has none.
    public var clientAddress: IPAddress?
    /// Whether the request may change what a user sees, whatever its method.
    var allowsEffects = false
    /// What the browser of the request may do with cookies.
    var browser = BrowserRules()
    /// What the connection has to know of the response. Shared by the copies of this context.
    public let annotations: ResponseAnnotations

    /// Called by Hummingbird for every request.
    public init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        requestID = ""
        annotations = ResponseAnnotations.ofConnection ?? ResponseAnnotations()
        clientAddress = source.channel.remoteAddress.flatMap(IPAddress.init)
    }
}

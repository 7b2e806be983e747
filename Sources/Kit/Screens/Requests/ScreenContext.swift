package import HTTPServer
package import Hummingbird
import Logging
package import NIOCore

/// The context of a request in Hummingbird: its identity and its source.
package struct ScreenContext: RequestContext {
    /// Hummingbird's own part.
    package var coreContext: CoreRequestContextStorage
    /// Identity of the request; set before anything else sees the request.
    package var requestID: String
    /// Address of the client: that of the connection, unless a trusted proxy names another. Nil if it has none.
    package var clientAddress: IPAddress?
    /// Address of the connection's other end, whatever fields say; nil if it has none.
    package internal(set) var peerAddress: IPAddress?
    /// What the response is sent on: the channel of the connection, or of the stream.
    package let channel: any Channel
    /// Whether the operator has sent the request: a program of this machine, directly, or a client with the operator's
    /// key (docs/decisions/0141, 0142).
    var isOperator = false
    /// Identity of the paired device that has sent it; nil if none has, or it does not matter.
    var deviceID: String?
    /// The only profile that its device has; nil for any.
    var boundProfile: String?
    /// Whether the request may change what a user sees, whatever its method.
    var allowsEffects = false
    /// What the browser of the request may do with cookies.
    var browser = BrowserRules()
    /// What the connection has to know of the response. Shared by the copies of this context.
    package let annotations: ResponseAnnotations

    /// Called by Hummingbird for every request.
    package init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        requestID = ""
        annotations = ResponseAnnotations.ofConnection ?? ResponseAnnotations()
        channel = source.channel
        peerAddress = source.channel.remoteAddress.flatMap(IPAddress.init)
        clientAddress = peerAddress
    }
}

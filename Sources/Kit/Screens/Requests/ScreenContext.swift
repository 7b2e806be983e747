public import Hummingbird
import Logging
public import NIOConcurrencyHelpers
import NIOCore
public import Upstream

/// What travels with a request through Hummingbird: its identity and where it came from.
public struct ScreenContext: RequestContext {
    /// Hummingbird's own part.
    public var coreContext: CoreRequestContextStorage
    /// Identity of the request; set before anything else sees the request.
    public var requestID: String
    /// Address of the client without its port, where it has one.
    public let clientAddress: String?
    /// For how long the response holds, once it is made; nil for one that is not kept. Shared by the copies of this
    /// context.
    public let changeToken = NIOLockedValueBox<ChangeToken?>(nil)

    /// Called by Hummingbird for every request.
    public init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        requestID = ""
        clientAddress = source.channel.remoteAddress?.ipAddress
    }
}

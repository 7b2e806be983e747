public import Concurrency
public import Freshness
import HTTPSemantics
public import HTTPTypes
public import NIOCore
import Upstream

/// The response of a mount: the upstream's own head with what the cache adds, and the body in memory or as it arrives.
public struct ProxyResponse: Sendable {
    /// The body.
    public enum Body: Sendable {
        /// No body.
        case none
        /// In memory.
        case bytes(ByteBuffer)
        /// In parts; `length` in bytes if it is known.
        case stream(ByteStream, length: Int?)
    }

    /// Status and header fields.
    public var head: HTTPResponse
    /// Body.
    public var body: Body
    /// Holds while the same request would get the same response; nil for one that must not be cached as bytes.
    public var changeToken: ChangeToken?

    /// Creates a response.
    public init(head: HTTPResponse, body: Body) {
        self.head = head
        self.body = body
    }
}

extension HTTPField.Name {
    /// `Larder-Offline: ?1` (a boolean of RFC 9651): the upstream cannot be reached, this comes from the store.
    public static let larderOffline = HTTPField.Name(literal: "Larder-Offline")
}

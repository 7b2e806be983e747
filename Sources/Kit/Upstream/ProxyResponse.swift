import HTTPSemantics
public import HTTPTypes
public import NIOCore

/// What a mount answers: the upstream's own head with what the cache adds, and the body as it is or as it comes.
public struct ProxyResponse: Sendable {
    /// The body.
    public enum Body: Sendable {
        /// None.
        case none
        /// At hand.
        case bytes(ByteBuffer)
        /// In parts; `length` where it is known.
        case stream(ByteStream, length: Int?)
    }

    /// Status and header fields.
    public var head: HTTPResponse
    /// Body.
    public var body: Body
    /// For how long the same request would get the same response; nil for one that must not be kept.
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

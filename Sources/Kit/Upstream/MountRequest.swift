public import HTTPTypes

/// A client's request for something below a mount.
public struct MountRequest: Sendable {
    /// Method.
    public var method: HTTPRequest.Method
    /// Path and query below the upstream's base URL, byte for byte as it came; begins with a slash.
    public var target: String
    /// The client's header fields, without tokens of Larder's own sessions.
    public var headerFields: HTTPFields
    /// Body, if any.
    public var body: ByteStream?
    /// Bytes of the body where they are known.
    public var bodyLength: Int?

    /// Creates a request.
    public init(method: HTTPRequest.Method, target: String, headerFields: HTTPFields, body: ByteStream? = nil, bodyLength: Int? = nil) {
        self.method = method
        self.target = target
        self.headerFields = headerFields
        self.body = body
        self.bodyLength = bodyLength
    }

    /// Whether a target stays below the base URL: it begins with a slash and has no dot segments (RFC 3986 §3.3), encoded ones included.
    public static func isBelowBase(_ target: String) -> Bool {
        guard target.hasPrefix("/") else { return false }
        return !target.prefix { $0 != "?" }.lowercased().replacing("%2e", with: ".").split(separator: "/").contains { $0 == "." || $0 == ".." }
    }
}

import HTTPTypes

/// A request to one upstream.
struct UpstreamRequest: Sendable {
    var method: HTTPRequest.Method
    /// Below the upstream's prefix.
    var path: [String]
    var query: [RequestTarget.QueryItem] = []
    /// The query read as a form.
    var form: [RequestTarget.QueryItem] = []
    var headers: HTTPFields = [:]
    var body: [UInt8] = []
    /// Instead of `body` if the upstream takes long bodies.
    var received: ReceivedBody?
    /// The sandbox's own origin, as `http://127.0.0.1:PORT`, for links to itself.
    var origin: String
}

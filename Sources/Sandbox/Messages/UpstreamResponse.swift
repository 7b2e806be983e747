import HTTPTypes

/// A response as a value; `Content-Length` is left to the server.
struct UpstreamResponse: Sendable, Equatable {
    var status: HTTPResponse.Status
    var headers: HTTPFields = [:]
    var body: [UInt8] = []
    /// Sent instead of `body` if given.
    var stream: StreamedBody?

    /// Bytes of the body.
    var length: Int { stream?.range.count ?? body.count }

    static func text(_ status: HTTPResponse.Status, _ text: String) -> UpstreamResponse {
        UpstreamResponse(status: status, headers: [.contentType: "text/plain; charset=utf-8"], body: Array(text.utf8))
    }

    static func json(
        _ status: HTTPResponse.Status,
        _ value: JSONValue,
        type: String = "application/json; charset=utf-8"
    ) -> UpstreamResponse {
        UpstreamResponse(status: status, headers: [.contentType: type], body: value.serialized())
    }
}

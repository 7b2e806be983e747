import HTTPTypes

@testable import Sandbox

extension SimulatedUpstream {
    /// Calls it without a server; `target` is below its prefix.
    func response(
        _ method: HTTPRequest.Method,
        _ target: String,
        headers: HTTPFields = [:],
        body: String = "",
        origin: String = "http://127.0.0.1:4711"
    ) -> UpstreamResponse {
        let target = RequestTarget(target)
        return respond(
            to: UpstreamRequest(
                method: method,
                path: target.segments,
                query: target.query,
                headers: headers,
                body: Array(body.utf8),
                origin: origin
            )
        )
    }
}

package import HTTPTypes
package import Upstream

/// Returns a step that responds.
package func response(_ status: HTTPResponse.Status = .ok, _ body: String = "", fields: HTTPFields = [:])
    -> ScriptedTransport.Step
{
    { _ in IncomingResponse(status: status, headerFields: fields, body: Array(body.utf8)) }
}

/// Returns a step that fails.
package func failure(_ error: UpstreamError) -> ScriptedTransport.Step {
    { _ throws(UpstreamError) in throw error }
}

/// Returns a step that waits for a gate; a cancelled request fails as a transport's does.
package func held(by gate: Gate, _ step: @escaping ScriptedTransport.Step) -> ScriptedTransport.Step {
    { request throws(UpstreamError) in
        await gate.pass()
        if Task.isCancelled { throw .unreachable(.totalTimeout) }
        return try await step(request)
    }
}

extension IncomingResponse {
    /// Returns a response of JSON text.
    package static func json(_ text: String, status: HTTPResponse.Status = .ok, headerFields: HTTPFields = [:])
        -> IncomingResponse
    {
        var fields = headerFields
        fields[.contentType] = "application/json; charset=utf-8"
        return IncomingResponse(status: status, headerFields: fields, body: Array(text.utf8))
    }

    /// Returns an HTML page of something in between: a proxy, a captive portal, another server.
    package static func page(_ status: Int) -> IncomingResponse {
        let page = "<html><head><title>\(status)</title></head><body>nginx</body></html>"
        return IncomingResponse(
            status: .init(code: status),
            headerFields: [.contentType: "text/html"],
            body: Array(page.utf8)
        )
    }
}

package import HTTPTypes
package import Testing
package import Upstream

/// An upstream that sends the responses that the test scripts, and records the requests. Nothing leaves the process.
package final class ScriptedTransport: Transport {
    package typealias Step = @Sendable (OutgoingRequest) async throws(UpstreamError) -> IncomingResponse

    /// A request that was sent.
    package struct Exchange: Sendable {
        package let request: OutgoingRequest
        /// The limits within which its response was to arrive.
        package let limits: TransportLimits
    }

    private struct State {
        var steps: [Step] = []
        var last: Step
        var exchanges: [Exchange] = []
        var isHolding = false
        var held = 0
    }

    private let state: Watched<State>

    /// Creates an upstream without a script: every request fails.
    package convenience init() {
        self.init { request throws(UpstreamError) in
            throw .badResponse(status: nil, reason: "the script says nothing of \(request.url)")
        }
    }

    /// Creates an upstream that sends this response to every request.
    package init(_ step: @escaping Step) {
        state = Watched(State(last: step))
    }

    /// The requests so far with their limits.
    package var exchanges: [Exchange] { state.value.exchanges }
    /// The requests so far.
    package var requests: [OutgoingRequest] { exchanges.map(\.request) }
    /// Number of requests so far.
    package var count: Int { exchanges.count }

    /// Adds the next responses, one for each request.
    package func then(_ steps: Step...) { state.update { $0.steps += steps } }

    /// Sets the response to all requests from now on.
    package func always(_ step: @escaping Step) {
        state.update {
            $0.steps = []
            $0.last = step
        }
    }

    /// Makes every request fail from now on.
    package func goAway(_ reason: UnreachableReason = .refused) { always(failure(.unreachable(reason))) }

    /// Waits until this many requests have arrived.
    package func requests(_ count: Int, sourceLocation: SourceLocation = #_sourceLocation) async {
        await state.until("request \(count) to an upstream", sourceLocation: sourceLocation) {
            $0.exchanges.count >= count
        }
    }

    /// Makes requests wait until ``release()``.
    package func hold() { state.update { $0.isHolding = true } }

    /// Waits until a request is held.
    package func requestIsHeld(sourceLocation: SourceLocation = #_sourceLocation) async {
        await state.until("a request to an upstream to be held", sourceLocation: sourceLocation) { $0.held > 0 }
    }

    /// Lets the held requests continue.
    package func release() {
        state.update {
            $0.isHolding = false
            $0.held = 0
        }
    }

    /// Records the request and responds by the script. A request that is cancelled while it is held fails, as a
    /// transport's does.
    package func exchange(_ request: OutgoingRequest, within limits: TransportLimits) async throws(UpstreamError)
        -> IncomingResponse
    {
        let step = state.update { state -> Step? in
            state.exchanges.append(Exchange(request: request, limits: limits))
            if !state.isHolding { return Self.next(&state) }
            state.held += 1
            return nil
        }
        if let step { return try await step(request) }
        await state.suspend { !$0.isHolding }
        if Task.isCancelled { throw .unreachable(.totalTimeout) }
        let next = state.update { Self.next(&$0) }
        return try await next(request)
    }

    private static func next(_ state: inout State) -> Step {
        state.steps.isEmpty ? state.last : state.steps.removeFirst()
    }
}

/// A transport that sends nothing.
package struct NoTransport: Transport {
    package init() {}

    /// Fails.
    package func exchange(_ request: OutgoingRequest, within limits: TransportLimits) async throws(UpstreamError)
        -> IncomingResponse
    {
        throw .unreachable(.network)
    }
}

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

/// Pictures that upstreams send.
package enum TestPicture {
    /// A PNG of a grey pixel.
    package static let greyPixel: [UInt8] = [
        0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0x00, 0x00, 0x00, 0x0D, 0x49, 0x48, 0x44, 0x52, 0x00,
        0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x00, 0x00, 0x00, 0x00, 0x3A, 0x7E, 0x9B, 0x55, 0x00,
        0x00, 0x00, 0x0A, 0x49, 0x44, 0x41, 0x54, 0x78, 0xDA, 0x63, 0x68, 0x00, 0x00, 0x00, 0x82, 0x00, 0x81,
        0xDA, 0x45, 0x08, 0x3B, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82,
    ]
}

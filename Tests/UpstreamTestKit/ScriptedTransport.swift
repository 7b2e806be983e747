package import HTTPTypes
package import Upstream

/// An upstream that sends the responses that the test scripts, and records the requests.
package final class ScriptedTransport: Transport {
    package typealias Step = @Sendable (OutgoingRequest) async throws(UpstreamError) -> IncomingResponse

    package struct Exchange: Sendable {
        package let request: OutgoingRequest
        package let limits: TransportLimits
    }

    private struct State {
        var steps: [Step] = []
        var last: Step = { request throws(UpstreamError) in
            throw .badResponse(status: nil, reason: "the script says nothing of \(request.url)")
        }
        var exchanges: [Exchange] = []
    }

    private let state = Watched(State())

    /// Creates an upstream without a script.
    package init() {}

    /// The requests so far with their limits.
    package var exchanges: [Exchange] { state.value.exchanges }
    package var requests: [OutgoingRequest] { exchanges.map(\.request) }
    package var count: Int { exchanges.count }

    /// Adds the next responses, one for each request.
    package func then(_ steps: Step...) { state.update { $0.steps += steps } }

    /// Sets the response for requests when no other is left.
    package func always(_ step: @escaping Step) {
        state.update {
            $0.steps = []
            $0.last = step
        }
    }

    /// Waits until this many requests have arrived.
    package func requests(_ count: Int) async { await state.until { $0.exchanges.count >= count } }

    package func exchange(_ request: OutgoingRequest, within limits: TransportLimits) async throws(UpstreamError)
        -> IncomingResponse
    {
        let step = state.update { state in
            state.exchanges.append(Exchange(request: request, limits: limits))
            return state.steps.isEmpty ? state.last : state.steps.removeFirst()
        }
        return try await step(request)
    }
}

/// A step that responds.
package func response(_ status: HTTPResponse.Status = .ok, _ body: String = "", fields: HTTPFields = [:])
    -> ScriptedTransport.Step
{
    { _ in IncomingResponse(status: status, headerFields: fields, body: Array(body.utf8)) }
}

/// A step that fails.
package func failure(_ error: UpstreamError) -> ScriptedTransport.Step {
    { _ throws(UpstreamError) in throw error }
}

/// A step that waits for a gate; a cancelled request fails as a transport's does.
package func held(by gate: Gate, _ step: @escaping ScriptedTransport.Step) -> ScriptedTransport.Step {
    { request throws(UpstreamError) in
        await gate.pass()
        if Task.isCancelled { throw .unreachable(.totalTimeout) }
        return try await step(request)
    }
}

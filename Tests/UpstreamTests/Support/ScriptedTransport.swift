import HTTPTypes

@testable import Upstream

/// An upstream that responses what the test says, and remembers what it was asked.
final class ScriptedTransport: Transport {
    typealias Step = @Sendable (OutgoingRequest) async throws(UpstreamError) -> IncomingResponse

    struct Exchange: Sendable {
        let request: OutgoingRequest
        let limits: TransportLimits
    }

    private struct State {
        var steps: [Step] = []
        var last: Step = { request throws(UpstreamError) in
            throw .badResponse(status: nil, reason: "the script says nothing of \(request.url)")
        }
        var exchanges: [Exchange] = []
    }

    private let state = Watched(State())

    /// What was asked so far.
    var exchanges: [Exchange] { state.value.exchanges }
    var requests: [OutgoingRequest] { exchanges.map(\.request) }
    var count: Int { exchanges.count }

    /// The next answers, one each.
    func then(_ steps: Step...) { state.update { $0.steps += steps } }

    /// The response when no other is left.
    func always(_ step: @escaping Step) {
        state.update {
            $0.steps = []
            $0.last = step
        }
    }

    /// Until so many requests have come.
    func requests(_ count: Int) async { await state.until { $0.exchanges.count >= count } }

    func exchange(_ request: OutgoingRequest, within limits: TransportLimits) async throws(UpstreamError)
        -> IncomingResponse
    {
        let step = state.update { state in
            state.exchanges.append(Exchange(request: request, limits: limits))
            return state.steps.isEmpty ? state.last : state.steps.removeFirst()
        }
        return try await step(request)
    }
}

/// A response of made data.
func response(_ status: HTTPResponse.Status = .ok, _ body: String = "", fields: HTTPFields = [:])
    -> ScriptedTransport.Step
{
    { _ in IncomingResponse(status: status, headerFields: fields, body: Array(body.utf8)) }
}

/// A failure to get one.
func failure(_ error: UpstreamError) -> ScriptedTransport.Step {
    { _ throws(UpstreamError) in throw error }
}

/// The same behind a gate; a cancelled request fails as a transport's does.
func held(by gate: Gate, _ step: @escaping ScriptedTransport.Step) -> ScriptedTransport.Step {
    { request throws(UpstreamError) in
        await gate.pass()
        if Task.isCancelled { throw .unreachable(.totalTimeout) }
        return try await step(request)
    }
}

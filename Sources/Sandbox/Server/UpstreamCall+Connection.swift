import HTTPTypes
import Hummingbird
import NIOCore
import ServiceLifecycle

extension UpstreamCall {
    /// Closes the connection with a reset.
    /// - Returns: The error to throw, so that the caller sends no response.
    func reset() async -> any Error {
        await context.channel.reset()
    }

    /// Lets time pass; the end of the sandbox ends the connection.
    func wait(_ time: Duration) async throws {
        do {
            try await cancelWhenGracefulShutdown { try await clock.sleep(for: time) }
        } catch {
            throw await reset()
        }
    }

    /// Waits until a held request is released. A client that hangs up no longer waits.
    func waitForRelease(_ ticket: FaultGate.Ticket) async throws {
        context.channel.closeFuture.whenComplete { _ in ticket.released.cancel() }
        do {
            defer { slot.gate.leave(ticket) }
            try await ticket.released.wait()
        } catch {
            throw await reset()
        }
    }

    /// - Parameter token: the request in the journal.
    func response(_ outcome: FaultOutcome, to method: HTTPRequest.Method, _ token: Journal.Token) async throws
        -> Response
    {
        guard let response = outcome.response else { throw await reset() }
        guard !outcome.delivery.isPlain else { return SandboxResponder.response(response, to: method) }
        let length = method == .head ? 0 : response.length
        guard !outcome.delivery.isSilent(of: length) else { throw await reset() }
        var headers = response.headers
        if outcome.delivery.closeDelay != nil { headers[.connection] = "close" }
        if method == .head { headers[.contentLength] = String(response.length) }
        let body = ResponseBody(contentLength: method == .head ? nil : length) { writer in
            for step in outcome.delivery.steps(of: length) { try await perform(step, response, token, &writer) }
            if outcome.delivery.closeDelay == nil { try await writer.finish(nil) }
        }
        return Response(status: response.status, headers: headers, body: body)
    }

    private func perform(
        _ step: DeliveryStep,
        _ response: UpstreamResponse,
        _ token: Journal.Token,
        _ writer: inout any ResponseBodyWriter
    ) async throws {
        switch step {
        case .send(let range): try await response.write(range, to: &writer)
        case .wait(let time): try await wait(time)
        case .hold: try await hold(token)
        case .cut: throw ResponseTruncated()
        case .reset: throw await reset()
        case .close:
            try await writer.finish(nil)
            try await context.channel.close().get()
        }
    }

    /// Waits in the middle of a response until it is released; the upstream's fault at that time may still cut it
    /// off.
    private func hold(_ token: Journal.Token) async throws {
        try await waitForRelease(slot.gate.hold(sequence: token.sequence))
        let decision = slot.gate.readmit(Admission(plan: .online, decision: .response)).decision
        if decision.source == .none || decision.delivery.end == .nothing { throw await reset() }
        if decision.delivery.end == .half { throw ResponseTruncated() }
    }
}

package import HTTPTypes
package import Hummingbird
package import NIOCore
import ServiceLifecycle

/// What the server that is tested does for a request with a fault.
package struct FrontResponses: Sendable {
    /// Responds as if there were no fault.
    let whole: @Sendable (Request) async throws -> Response
    /// Responds with a status and, in seconds, `Retry-After`: by the server's own problem, if it has one for it.
    let refusal: @Sendable (HTTPResponse.Status, _ retryAfter: Int?) async throws -> Response?

    /// Collects the ways to respond.
    package init(
        whole: @escaping @Sendable (Request) async throws -> Response,
        refusal: @escaping @Sendable (HTTPResponse.Status, _ retryAfter: Int?) async throws -> Response?
    ) {
        self.whole = whole
        self.refusal = refusal
    }
}

extension FrontRequest {
    /// Responds as the faults of the request decide.
    ///
    /// - Parameters:
    ///   - channel: What the response is sent on.
    ///   - server: Responds without the faults.
    /// - Throws: If no response is to be sent; the errors of the server.
    package func respond(to request: Request, on channel: any Channel, by server: FrontResponses) async throws
        -> Response
    {
        guard let fault else { return try await server.whole(request) }
        var admission = fault.admission
        if let ticket = fault.ticket {
            try await Self.wait(for: ticket, fault.faults.gate, on: channel)
            admission = fault.faults.readmit(admission, fault.head)
            let plan = admission.plan
            if plan != .online, plan != fault.admission.plan { journal.update(token) { $0.fault += ", then \(plan)" } }
        }
        let decision = admission.decision
        if decision.delay > 0 { try await Self.pass(.milliseconds(decision.delay), on: channel) }
        let delivery = decision.delivery
        let conditional = delivery.end == .whole && decision.source == .upstream
        guard let response = try await Self.response(decision.source, conditional ? request : request.plain, server)
        else { throw await channel.reset() }
        guard !delivery.isPlain else { return response }
        guard !delivery.isSilent(of: response.body.contentLength) else { throw await channel.reset() }
        return response.delivered(delivery, fault.faults, token.sequence, on: channel)
    }

    /// Returns the response before it is sent; nil if there is none.
    private static func response(
        _ source: FaultDecision.Source,
        _ request: Request,
        _ server: FrontResponses
    ) async throws -> Response? {
        switch source {
        case .none: return nil
        case .upstream: return try await server.whole(request)
        case .status(let code, let retryAfter):
            let status = HTTPResponse.Status(code: code)
            if let refusal = try await server.refusal(status, retryAfter) { return refusal }
            var plain = UpstreamResponse.text(status, "\(code) \(status.reasonPhrase)".trimmed)
            plain.headers[.retryAfter] = retryAfter.map { String($0) }
            return SandboxResponder.response(plain, to: request.method)
        case .html(let code):
            return SandboxResponder.response(FaultOutcome.page(.init(code: code)), to: request.method)
        case .garbage:
            var garbled = try await server.whole(request)
            garbled.status = .ok
            for name in [HTTPField.Name.eTag, .contentRange, .contentEncoding] { garbled.headers[name] = nil }
            garbled.headers[.contentLength] = String(FaultOutcome.garbage.count)
            let body = ResponseBody(byteBuffer: ByteBuffer(bytes: FaultOutcome.garbage))
            garbled.body = request.method == .head ? ResponseBody() : body
            return garbled
        }
    }

    /// Waits until a held request is released. A client that hangs up no longer waits.
    static func wait(for ticket: FaultGate.Ticket, _ gate: FaultGate, on channel: any Channel) async throws {
        channel.closeFuture.whenComplete { _ in ticket.released.cancel() }
        defer { gate.leave(ticket) }
        do {
            try await cancelWhenGracefulShutdown { try await ticket.released.wait() }
        } catch {
            throw await end(error, on: channel)
        }
    }

    /// Lets time pass.
    static func pass(_ time: Duration, on channel: any Channel) async throws {
        do {
            try await cancelWhenGracefulShutdown { try await Task.sleep(for: time) }
        } catch {
            throw await end(error, on: channel)
        }
    }

    /// The server stops, or its state is reset: the harness has a response then.
    private static func end(_ error: any Error, on channel: any Channel) async -> any Error {
        Task.isCancelled ? error : await channel.reset()
    }
}

extension Request {
    /// The request without its conditions: a fault of the body needs a response with a body.
    fileprivate var plain: Request {
        var head = head
        head.headerFields[.ifNoneMatch] = nil
        head.headerFields[.ifModifiedSince] = nil
        return Request(head: head, body: body)
    }
}

package import Foundation
package import HTTPTypes
package import Hummingbird
package import NIOCore
import ServiceLifecycle

/// A request of a client in the journal, and its faults.
package struct FrontRequest: Sendable {
    let journal: Journal
    let token: Journal.Token
    let fault: FrontFault?

    /// Its number in the journal.
    package var number: Int { token.sequence }

    package var isFaulty: Bool { fault != nil }

    /// Records that the request begins or ends to wait for an upstream.
    package func waits(_ isWaiting: Bool) { journal.update(token) { $0.waits += isWaiting ? 1 : -1 } }

    /// Returns a request whose body is recorded while it is read, and its recorder; nil without a body.
    package func recording(_ request: Request) -> (Request, FrontBody?) {
        let length = request.headers[.contentLength]
        guard length != "0", length != nil || request.headers.contains(.transferEncoding) || request.head.mayStream
        else {
            return (request, nil)
        }
        let body = FrontBody(request, of: self)
        var request = request
        request.body = RequestBody(asyncSequence: body.parts)
        return (request, body)
    }

    package func complete(_ response: HTTPResponse, bytes: Int?, at now: Date) {
        journal.update(token) { entry in
            entry.respond(response.status.code, bytes: bytes, at: now)
            entry.assignedID = HTTPField.Name("X-Request-Id").flatMap { response.headerFields[$0] }
        }
    }
}

// The responses of the server that is tested to requests with faults.
extension FrontRequest {
    /// Responds as the faults of the request decide.
    ///
    /// - Parameters:
    ///   - channel: The connection of the response.
    ///   - whole: Responds as if there were no fault.
    ///   - refusal: Responds with a status and, in seconds, `Retry-After`: with the server's own problem, if it has
    ///     one.
    /// - Throws: If no response is to be sent; the errors of the server.
    package func respond(
        to request: Request,
        on channel: any Channel,
        whole: (Request) async throws -> Response,
        refusal: (HTTPResponse.Status, _ retryAfter: Int?) async throws -> Response?
    ) async throws -> Response {
        guard let fault else { return try await whole(request) }
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
        let asked = conditional ? request : request.plain
        guard let response = try await Self.response(decision.source, asked, whole, refusal) else {
            throw await channel.reset()
        }
        return try await response.delivered(delivery, on: channel) {
            try await Self.pass($0, on: channel)
        } holding: { [gate = fault.faults.gate, sequence = token.sequence] in
            try await Self.wait(for: gate.hold(sequence: sequence), gate, on: channel)
        }
    }

    /// Returns the response before it is sent; nil if there is none.
    private static func response(
        _ source: FaultDecision.Source,
        _ request: Request,
        _ whole: (Request) async throws -> Response,
        _ refusal: (HTTPResponse.Status, _ retryAfter: Int?) async throws -> Response?
    ) async throws -> Response? {
        switch source {
        case .none: return nil
        case .upstream, .stub: return try await whole(request)
        case .status(let code, let retryAfter):
            let status = HTTPResponse.Status(code: code)
            if let refusal = try await refusal(status, retryAfter) { return refusal }
            var plain = UpstreamResponse.text(status, "\(code) \(status.reasonPhrase)".trimmed)
            plain.headers[.retryAfter] = retryAfter.map { String($0) }
            return SandboxResponder.response(plain, to: request.method)
        case .html(let code):
            return SandboxResponder.response(FaultOutcome.page(.init(code: code)), to: request.method)
        case .garbage:
            var garbled = try await whole(request)
            garbled.status = .ok
            for name in [HTTPField.Name.eTag, .contentRange, .contentEncoding] { garbled.headers[name] = nil }
            garbled.headers[.contentLength] = String(FaultOutcome.garbage.count)
            let body = ResponseBody(byteBuffer: ByteBuffer(bytes: FaultOutcome.garbage))
            garbled.body = request.method == .head ? ResponseBody() : body
            return garbled
        }
    }

    /// Waits until a held request is released. The wait ends if the client disconnects.
    static func wait(for ticket: FaultGate.Ticket, _ gate: FaultGate, on channel: any Channel) async throws {
        channel.closeFuture.whenComplete { _ in ticket.released.cancel() }
        defer { gate.leave(ticket) }
        do {
            try await cancelWhenGracefulShutdown { try await ticket.released.wait() }
        } catch {
            throw await end(error, on: channel)
        }
    }

    static func pass(_ time: Duration, on channel: any Channel) async throws {
        do {
            try await cancelWhenGracefulShutdown { try await Task.sleep(for: time) }
        } catch {
            throw await end(error, on: channel)
        }
    }

    /// The server stops, or its state is reset. In the second case the harness responds.
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

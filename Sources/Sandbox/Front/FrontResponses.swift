package import HTTPTypes
package import Hummingbird
package import NIOCore
import ServiceLifecycle

/// The responses of the server that is tested to requests with faults.
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
    ///   - channel: The connection of the response.
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
        case .upstream, .stub: return try await server.whole(request)
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

extension Response {
    /// Returns the response with a body that is sent as a fault has it.
    ///
    /// - Parameter sequence: The number of the request in the journal.
    func delivered(_ delivery: Delivery, _ faults: FrontFaults, _ sequence: Int, on channel: any Channel) -> Response {
        var response = self
        if delivery.closeDelay != nil { response.headers[.connection] = "close" }
        let (body, length) = (body, body.contentLength)
        response.body = ResponseBody(contentLength: length) { writer in
            try await body.write(
                FrontBodyWriter(
                    base: writer,
                    // The length of a stream is unknown; it has no middle.
                    steps: delivery.steps(of: length ?? .max),
                    faults: faults,
                    sequence: sequence,
                    channel: channel
                )
            )
        }
        return response
    }
}

/// Writes a body step by step.
private struct FrontBodyWriter: ResponseBodyWriter {
    var base: any ResponseBodyWriter
    var steps: DeliverySteps
    let faults: FrontFaults
    let sequence: Int
    let channel: any Channel
    /// Bytes of the current step that are still to be sent.
    private var left = 0

    init(
        base: any ResponseBodyWriter,
        steps: DeliverySteps,
        faults: FrontFaults,
        sequence: Int,
        channel: any Channel
    ) {
        (self.base, self.steps, self.faults) = (base, steps, faults)
        (self.sequence, self.channel) = (sequence, channel)
    }

    mutating func write(_ buffer: ByteBuffer) async throws {
        var rest = buffer
        while rest.readableBytes > 0 {
            while left == 0 {
                // A body that is longer than was announced is not sent.
                guard let step = steps.next() else { return }
                if case .send(let range) = step { left = range.count } else { try await perform(step) }
            }
            guard let piece = rest.readSlice(length: min(left, rest.readableBytes)) else { return }
            left -= piece.readableBytes
            try await base.write(piece)
        }
    }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {
        let last = steps.end()
        for step in last where step != .close { try await perform(step) }
        try await base.finish(trailingHeaders)
        if last.contains(.close) { try await channel.close().get() }
    }

    private func perform(_ step: DeliveryStep) async throws {
        switch step {
        case .send, .close: break
        case .wait(let time): try await FrontRequest.pass(time, on: channel)
        case .hold: try await FrontRequest.wait(for: faults.gate.hold(sequence: sequence), faults.gate, on: channel)
        case .cut: throw ResponseTruncated()
        case .reset: throw await channel.reset()
        }
    }
}

import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import ServiceLifecycle

/// One request to one upstream: carries out the decision of its faults and writes it into the journal.
struct UpstreamCall {
    let slot: SimulatedUpstreams.Slot
    let stage: SimulatedUpstreams
    let clock: any Clock<Duration>
    let context: SandboxContext

    func respond(to request: Request, target: RequestTarget) async throws -> Response {
        do {
            return try await respond(request, target)
        } catch {
            slot.upstream.breakOff(upstreamHead(request, target))
            throw error
        }
    }

    private func respond(_ request: Request, _ target: RequestTarget) async throws -> Response {
        var entry = JournalEntry(request.head, upstream: slot.upstream.name, at: stage.now(), stage.journal.cleaner)
        let override: FaultPlan?
        do throws(FaultSyntaxError) {
            override = try request.headers[.sandboxFault].map { (text) throws(FaultSyntaxError) in
                try FaultPlan(parsing: text).ofRequests()
            }
        } catch {
            entry.fault = error.text
            return recording(entry, ControlProblem.fault(error, field: "Sandbox-Fault").response, to: request)
        }
        // The body is read here only if a rule needs it, so that faults can reset a connection before the body is
        // received.
        var whole: UpstreamRequest?
        if override == nil, slot.gate.rules.readsBodies {
            guard let read = try await upstreamRequest(request, target) else { return tooLarge(entry, request) }
            whole = read
        }
        let admission = slot.gate.admit(matched(request, target, whole), override: override)
        entry.fault = admission.plan.description
        entry.rule = admission.rule
        guard admission.decision.source != .none else {
            if let whole { entry.body = JournalBody(of: whole, stage.journal.cleaner) }
            stage.journal.record(entry)
            throw await reset()
        }
        if whole == nil { whole = try await upstreamRequest(request, target) }
        guard let whole else { return tooLarge(entry, request) }
        entry.body = JournalBody(of: whole, stage.journal.cleaner)
        return try await response(to: whole, admission, entry)
    }

    private func matched(_ request: Request, _ target: RequestTarget, _ whole: UpstreamRequest?) -> MatchedRequest {
        MatchedRequest(
            method: request.method.rawValue,
            path: Array(target.segments.dropFirst()),
            query: target.query,
            headers: request.headers,
            body: whole?.start(SandboxResponder.maximumBody) ?? []
        )
    }

    /// Records a response that is not the upstream's.
    private func recording(_ entry: JournalEntry, _ response: UpstreamResponse, to request: Request) -> Response {
        var entry = entry
        entry.respond(response.status.code, bytes: response.length, at: stage.now())
        stage.journal.record(entry)
        return SandboxResponder.response(response, to: request.method)
    }

    private func tooLarge(_ entry: JournalEntry, _ request: Request) -> Response {
        recording(entry, .text(.contentTooLarge, "Payload Too Large"), to: request)
    }

    /// Returns the request with its body; nil if the body is longer than the upstream accepts.
    private func upstreamRequest(_ request: Request, _ target: RequestTarget) async throws -> UpstreamRequest? {
        var upstreamRequest = upstreamHead(request, target)
        if slot.upstream.takesLongBody(upstreamRequest) {
            upstreamRequest.received = try await ReceivedBody.receive(request.body)
        } else {
            guard let body = try await SandboxResponder.body(of: request) else { return nil }
            upstreamRequest.body = body
        }
        return upstreamRequest
    }

    /// Returns the request without its body.
    private func upstreamHead(_ request: Request, _ target: RequestTarget) -> UpstreamRequest {
        UpstreamRequest(
            method: request.method,
            path: Array(target.segments.dropFirst()),
            query: target.query,
            form: target.form,
            headers: request.headers,
            origin: context.origin
        )
    }

    /// Carries out faults that end with a response.
    private func response(to request: UpstreamRequest, _ admission: Admission, _ entry: JournalEntry) async throws
        -> Response
    {
        guard admission.decision.isHeld || admission.decision.delay > 0 else {
            let outcome = FaultOutcome(admission.decision, slot.upstream, request, at: stage.now())
            var entry = entry
            outcome.complete(&entry, of: request, at: stage.now())
            let token = stage.journal.record(entry)
            return try await response(outcome, to: request.method, token)
        }
        var (admission, fault) = (admission, entry.fault)
        let token: Journal.Token
        if admission.decision.isHeld {
            token = try await holding(entry)
            let next = slot.gate.readmit(admission)
            if next.plan != .online, next.plan != admission.plan { fault += ", then \(next.plan)" }
            admission = next
        } else {
            token = stage.journal.record(entry)
        }
        try await wait(.milliseconds(admission.decision.delay))
        let outcome = FaultOutcome(admission.decision, slot.upstream, request, at: stage.now())
        stage.journal.update(token) { [fault] entry in
            entry.fault = fault
            outcome.complete(&entry, of: request, at: stage.now())
        }
        return try await response(outcome, to: request.method, token)
    }

    /// Records a request and waits until it is released.
    private func holding(_ entry: JournalEntry) async throws -> Journal.Token {
        // Requests in the journal can be released.
        let (token, ticket) = stage.journal.record(entry) { slot.gate.hold(sequence: $0) }
        try await waitForRelease(ticket)
        return token
    }

    /// Closes the connection with a reset.
    /// - Returns: The error to throw, so that the caller sends no response.
    func reset() async -> any Error {
        await context.channel.reset()
    }

    /// Sleeps. If the sandbox stops meanwhile, the connection ends.
    func wait(_ time: Duration) async throws {
        do {
            try await cancelWhenGracefulShutdown { try await clock.sleep(for: time) }
        } catch {
            throw await reset()
        }
    }

    /// Waits until a held request is released. The wait ends if the client disconnects.
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
        return try await SandboxResponder.response(response, to: method)
            .delivered(outcome.delivery, on: context.channel) {
                try await wait($0)
            } holding: {
                try await hold(token)
            }
    }

    /// Waits in the middle of a response until it is released. The upstream's fault at that time may still end it
    /// early.
    private func hold(_ token: Journal.Token) async throws {
        try await waitForRelease(slot.gate.hold(sequence: token.sequence))
        let decision = slot.gate.readmit(Admission(plan: .online, decision: .response)).decision
        if decision.source == .none || decision.delivery.end == .nothing { throw await reset() }
        if decision.delivery.end == .half { throw ResponseTruncated() }
    }
}

/// The response to the client after faults were applied to the upstream's response.
struct FaultOutcome: Sendable, Equatable {
    /// nil if not a byte is sent.
    let response: UpstreamResponse?
    let delivery: Delivery

    /// - Parameter decision: its waits are over.
    init(_ decision: FaultDecision, _ upstream: any SimulatedUpstream, _ request: UpstreamRequest, at now: Date) {
        delivery = decision.delivery
        switch decision.source {
        case .upstream:
            let request = delivery.end == .whole ? request : request.unconditional
            response = upstream.respond(to: request)
        case .stub(let stub, let count):
            upstream.breakOff(request)
            response = stub.response(to: request, count: count, at: now)
        case .none: response = nil
        case .status(let code, let retryAfter):
            upstream.breakOff(request)
            let status = HTTPResponse.Status(code: code)
            var refusal =
                upstream.refusal(status) ?? UpstreamResponse.text(status, "\(code) \(status.reasonPhrase)".trimmed)
            refusal.headers[.retryAfter] = retryAfter.map { String($0) }
            response = refusal
        case .html(let code):
            upstream.breakOff(request)
            response = Self.page(HTTPResponse.Status(code: code))
        case .garbage:
            var garbled = upstream.respond(to: request.unconditional)
            garbled.status = .ok
            garbled.headers[.eTag] = nil
            garbled.body = Self.garbage
            garbled.stream = nil
            garbled.headers[.contentRange] = nil
            response = garbled
        }
    }

    /// The page of a server that is not the upstream.
    static func page(_ status: HTTPResponse.Status) -> UpstreamResponse {
        let title = "\(status.code) \(status.reasonPhrase)".trimmed
        var response = UpstreamResponse.text(
            status,
            "<html><head><title>\(title)</title></head><body><h1>\(title)</h1></body></html>\n"
        )
        response.headers[.contentType] = "text/html"
        return response
    }

    /// Neither JSON, nor UTF-8, nor a picture.
    static let garbage: [UInt8] = Array(#"{"garbage":["#.utf8) + [0xFF, 0xFE, 0x00, 0xC3, 0x28] + Array("<html>".utf8)

    /// Adds the response to the request's entry in the journal, if there is one.
    func complete(_ entry: inout JournalEntry, of request: UpstreamRequest, at now: Date) {
        guard let response else { return }
        let bytes = request.method == .head ? 0 : delivery.sentBytes(of: response.length)
        entry.respond(response.status.code, bytes: bytes, at: now)
    }
}

extension UpstreamRequest {
    /// The request without its conditions: a fault of the body needs a response with a body.
    fileprivate var unconditional: UpstreamRequest {
        var request = self
        request.headers[.ifNoneMatch] = nil
        request.headers[.ifModifiedSince] = nil
        return request
    }
}

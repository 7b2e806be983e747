import HTTPTypes
import Hummingbird
import NIOCore
import ServiceLifecycle

/// One request to one upstream: carries out what its fault decides and writes it into the journal.
struct UpstreamCall {
    let slot: SimulatedUpstreams.Slot
    let journal: Journal
    let clock: any Clock<Duration>
    let context: SandboxContext

    func respond(to request: Request, target: RequestTarget) async throws -> Response {
        var entry = JournalEntry(
            upstream: slot.upstream.name.rawValue,
            method: request.method.rawValue,
            path: JournalEntry.path(of: request.head.path ?? "/"),
            headers: JournalEntry.headers(of: request.headers, authority: request.head.authority),
            fault: "",
            status: nil
        )
        let override: Fault?
        do throws(FaultSyntaxError) {
            override = try request.headers[.sandboxFault].map { (text) throws(FaultSyntaxError) in
                try Fault(parsing: text)
            }
        } catch {
            entry.fault = error.text
            return recording(entry, ControlProblem.fault(error, field: "Sandbox-Fault").response, to: request)
        }
        let (fault, decision) = slot.gate.admit(override: override)
        entry.fault = fault.description
        guard decision != .reset else {
            journal.record(entry)
            throw await reset()
        }
        guard let upstreamRequest = try await upstreamRequest(request, target) else {
            return recording(entry, .text(.contentTooLarge, "Payload Too Large"), to: request)
        }
        return try await response(to: upstreamRequest, decision, entry)
    }

    /// Records a response that is not the upstream's.
    private func recording(_ entry: JournalEntry, _ response: UpstreamResponse, to request: Request) -> Response {
        var entry = entry
        entry.status = response.status.code
        journal.record(entry)
        return SandboxResponder.response(response, to: request.method)
    }

    /// Returns the request with its body; nil if the body is longer than the upstream takes.
    private func upstreamRequest(_ request: Request, _ target: RequestTarget) async throws -> UpstreamRequest? {
        var upstreamRequest = UpstreamRequest(
            method: request.method,
            path: Array(target.segments.dropFirst()),
            query: target.query,
            form: target.form,
            headers: request.headers,
            origin: context.origin
        )
        if slot.upstream.takesLongBody(upstreamRequest) {
            upstreamRequest.received = try await ReceivedBody.receive(request.body)
        } else {
            guard let body = try await SandboxResponder.body(of: request) else { return nil }
            upstreamRequest.body = body
        }
        return upstreamRequest
    }

    /// Carries out a decision that leads to a response.
    private func response(
        to request: UpstreamRequest,
        _ decision: FaultDecision,
        _ entry: JournalEntry
    ) async throws -> Response {
        switch decision {
        case .hold:
            return try await held(request, entry)
        case .delay(let milliseconds):
            let token = journal.record(entry)
            do {
                try await cancelWhenGracefulShutdown { try await clock.sleep(for: .milliseconds(milliseconds)) }
            } catch {
                throw await reset()
            }
            let outcome = FaultOutcome(.response, upstream: slot.upstream, request: request)
            journal.complete(token, fault: entry.fault, status: outcome.status)
            return try await response(outcome, to: request.method)
        default:
            let outcome = FaultOutcome(decision, upstream: slot.upstream, request: request)
            var entry = entry
            entry.status = outcome.status
            journal.record(entry)
            return try await response(outcome, to: request.method)
        }
    }

    private func held(_ request: UpstreamRequest, _ entry: JournalEntry) async throws -> Response {
        let ticket = slot.gate.hold()
        // A client that hangs up no longer waits.
        context.channel.closeFuture.whenComplete { _ in ticket.released.cancel() }
        let token = journal.record(entry)
        do {
            defer { slot.gate.leave(ticket) }
            try await ticket.released.wait()
        } catch {
            throw await reset()
        }
        let (fault, decision) = slot.gate.readmit()
        if case .delay(let milliseconds) = decision { try await clock.sleep(for: .milliseconds(milliseconds)) }
        let outcome = FaultOutcome(decision, upstream: slot.upstream, request: request)
        journal.complete(
            token,
            fault: fault == .online ? entry.fault : "\(entry.fault), then \(fault)",
            status: outcome.status
        )
        return try await response(outcome, to: request.method)
    }
}

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
            let problem = ControlProblem.fault(error, field: "Sandbox-Fault").response
            entry.fault = error.text
            entry.status = Int(problem.status.code)
            journal.record(entry)
            return SandboxResponder.response(problem, to: request.method)
        }
        let (fault, decision) = slot.gate.admit(override: override)
        entry.fault = fault.description

        guard decision != .reset else {
            journal.record(entry)
            throw await reset()
        }
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
        } else if let body = try await SandboxResponder.body(of: request) {
            upstreamRequest.body = body
        } else {
            entry.status = 413
            journal.record(entry)
            return SandboxResponder.response(.text(.contentTooLarge, "Payload Too Large"), to: request.method)
        }

        switch decision {
        case .hold:
            return try await held(upstreamRequest, entry)
        case .delay(let milliseconds):
            let token = journal.record(entry)
            do {
                try await cancelWhenGracefulShutdown { try await clock.sleep(for: .milliseconds(milliseconds)) }
            } catch {
                throw await reset()
            }
            let outcome = FaultOutcome(.response, upstream: slot.upstream, request: upstreamRequest)
            journal.complete(token, fault: fault.description, status: outcome.status)
            return try await response(outcome, to: request.method)
        default:
            let outcome = FaultOutcome(decision, upstream: slot.upstream, request: upstreamRequest)
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

import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import ServiceLifecycle

/// One request to one upstream: carries out what its faults decide and writes it into the journal.
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
        // Only what a rule asks for is waited for: a connection is reset before its body has come.
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

    /// Returns the request with its body; nil if the body is longer than the upstream takes.
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

    /// Carries out faults that lead to a response.
    private func response(to request: UpstreamRequest, _ admission: Admission, _ entry: JournalEntry) async throws
        -> Response
    {
        guard admission.decision.isHeld || admission.decision.delay > 0 else {
            let outcome = FaultOutcome(admission.decision, upstream: slot.upstream, request: request)
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
        let outcome = FaultOutcome(admission.decision, upstream: slot.upstream, request: request)
        stage.journal.update(token) { [fault] entry in
            entry.fault = fault
            outcome.complete(&entry, of: request, at: stage.now())
        }
        return try await response(outcome, to: request.method, token)
    }

    /// Records a request and waits until it is released.
    private func holding(_ entry: JournalEntry) async throws -> Journal.Token {
        // What is in the journal can be released.
        let (token, ticket) = stage.journal.record(entry) { slot.gate.hold(sequence: $0) }
        try await waitForRelease(ticket)
        return token
    }
}

import Foundation
import HTTPCaching
import HTTPTypes
import Logging
import NIOCore
import Storage

/// Why a request goes to the upstream, and what its answer is held against.
struct Relay: Sendable {
    var reason: CacheStatus.Forward
    var validation: Validation?
    var candidates: [StoredAnswer]

    init(reason: CacheStatus.Forward, candidates: [StoredAnswer]) {
        self.reason = reason
        self.candidates = candidates
    }

    init(validation: Validation, candidates: [StoredAnswer]) {
        reason = validation.reason
        self.validation = validation
        self.candidates = candidates
    }
}

/// An answer of which the head has arrived, with the times that its age is counted from. RFC 9111 §4.2.3.
struct Arrival: Sendable {
    let answer: StreamedAnswer
    let requestTime: Date
    let responseTime: Date
    /// Holds until a write makes its URL doubtful that was answered after this was asked for: it may tell of the time
    /// before.
    var uninvalidated: Validity

    /// Head as received, `Connection` included.
    var head: HTTPResponse { HTTPResponse(status: answer.status, headerFields: answer.headerFields) }
    /// Bytes of the body where they are announced.
    var announced: Int? { answer.headerFields[.contentLength].flatMap { Int($0) } }
}

extension Mount {
    /// Asks the upstream, and answers with what it says, or with what is stored where that means the same or it fails.
    func relay(_ inquiry: MountInquiry, _ plan: Relay, _ flight: MountFlight?) async throws -> MountAnswer {
        var fields = inquiry.fields
        plan.validation?.condition.apply(to: &fields)
        let arrival: Arrival
        do throws(UpstreamError) {
            arrival = try await send(inquiry, fields)
        } catch {
            try Task.checkCancellation()
            flight?.land(.failed(error))
            return try await standIn(inquiry, plan, for: error)
        }
        guard let validation = plan.validation else { return try await pass(arrival, inquiry, plan, flight) }
        let outcome = policy.outcome(
            of: validation,
            response: arrival.head,
            request: inquiry.judged,
            candidates: plan.candidates.map(\.response),
            requestTime: arrival.requestTime,
            responseTime: arrival.responseTime
        )
        switch outcome {
        case .freshened(let updates, let serving):
            try await drain(arrival)
            // Opened before anything is removed: an answer that may not be kept still answers this request.
            let body = try await open(plan.candidates[serving.index])
            try await keep(updates, of: plan.candidates, by: arrival, confirms: true)
            flight?.land(.stored)
            guard let body else { return try await relay(inquiry, Relay(reason: .miss, candidates: []), flight) }
            let reuse = policy.reuse(of: serving.stored, at: serving.index, now: upstream.clock.now())
            return served(
                inquiry,
                reuse,
                body,
                account: policy.account(of: plan.reason, upstreamStatus: 304),
                isOffline: false
            )
        case .retryUnconditionally:
            try await drain(arrival)
            return try await relay(
                inquiry.unconditional,
                Relay(reason: plan.reason, candidates: plan.candidates),
                flight
            )
        case .useStored:
            flight?.land(.failed(.failing(status: arrival.answer.status, retryAfter: nil)))
            let status = arrival.answer.status.code
            guard
                let answer = try await standIn(
                    inquiry,
                    validation,
                    plan.candidates[validation.index],
                    status: status,
                    detail: "stale-if-error"
                )
            else {
                return try await pass(arrival, inquiry, plan, flight)
            }
            return answer
        case .passNotModified, .replace:
            return try await pass(arrival, inquiry, plan, flight)
        }
    }

    /// One exchange; the upstream's health is told of it.
    private func send(_ inquiry: MountInquiry, _ fields: HTTPFields) async throws(UpstreamError) -> Arrival {
        let requestTime = upstream.clock.now()
        let uninvalidated = Validity(of: invalidations[inquiry.key])
        // A large body takes the time that its client takes.
        let total: Duration = inquiry.body == nil ? upstream.configuration.totalTimeout : .seconds(3600)
        let limits = TransportLimits(
            total: total,
            maximumBytes: upstream.configuration.maximumAnswerBytes,
            publicAddressesOnly: false
        )
        let request = StreamedRequest(
            method: inquiry.judged.method,
            url: inquiry.url,
            headerFields: fields,
            body: inquiry.body,
            bodyLength: inquiry.bodyLength
        )
        do throws(UpstreamError) {
            let answer = try await upstream.exchange.transport.stream(request, within: limits)
            upstream.exchange.onAttempt(.success(answer.status))
            upstream.health.heed(.success(IncomingAnswer(status: answer.status, headerFields: answer.headerFields)))
            return Arrival(
                answer: answer.withValidStatus.withoutOwnFields,
                requestTime: requestTime,
                responseTime: upstream.clock.now(),
                uninvalidated: uninvalidated
            )
        } catch {
            // A client that left says nothing of the upstream.
            if !Task.isCancelled, error != .badAnswer(status: nil, reason: UpstreamError.requestCutShort) {
                upstream.exchange.onAttempt(.failure(error))
                upstream.health.heed(.failure(error))
            }
            throw error
        }
    }

    /// What is stored, where it may stand in for an upstream that gave no answer; else the error.
    private func standIn(_ inquiry: MountInquiry, _ plan: Relay, for error: UpstreamError) async throws -> MountAnswer {
        guard let validation = plan.validation, validation.fallback.contains(.unreachable) else { throw error }
        let detail = if case .unreachable = error { "unreachable" } else { "bad-response" }
        guard let answer = try await standIn(inquiry, validation, plan.candidates[validation.index], detail: detail)
        else { throw error }
        return answer
    }

    /// A stored answer in place of the upstream's; nil where its body is lost.
    func standIn(
        _ inquiry: MountInquiry,
        _ validation: Validation,
        _ stored: StoredAnswer,
        status: Int? = nil,
        detail: String,
        isTried: Bool = true,
        isOffline: Bool? = nil
    ) async throws -> MountAnswer? {
        guard let body = try await open(stored) else { return nil }
        let reuse = policy.reuse(of: validation.stored, at: validation.index, now: upstream.clock.now(), detail: detail)
        let account =
            isTried ? policy.account(of: validation.reason, upstreamStatus: status, detail: detail) : reuse.status
        return served(inquiry, reuse, body, account: account, isOffline: isOffline ?? (status == nil))
    }

    /// The bodies of answers that have none end at once; reading them leaves the connection to the next request.
    func drain(_ arrival: Arrival) async throws {
        do {
            for try await _ in arrival.answer.body {}
        } catch {
            try Task.checkCancellation()
            upstream.logger.debug("an answer without a body broke off", metadata: ["error": "\(error)"])
        }
    }
}

extension StreamedAnswer {
    /// The same with 502 in place of a status from 600 to 999: RFC 9110 §15 has them processed as 5xx, and a gateway
    /// may not send them on.
    fileprivate var withValidStatus: StreamedAnswer {
        guard status.code >= 600 else { return self }
        var answer = self
        answer.status = .badGateway
        return answer
    }

    /// Without fields that are Larder's to send: what it says of itself, to its clients or within the process, nobody
    /// else says.
    fileprivate var withoutOwnFields: StreamedAnswer {
        var answer = self
        answer.headerFields.removeAll { $0.name.canonicalName.hasPrefix("larder-") }
        return answer
    }
}

extension MountInquiry {
    /// The same for the whole of it.
    var withoutRange: MountInquiry { without([.range, .ifRange]) }

    /// The same without preconditions that a 304 answers.
    var unconditional: MountInquiry { without([.ifNoneMatch, .ifModifiedSince]) }
}

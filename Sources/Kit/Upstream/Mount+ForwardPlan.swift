import Foundation
import HTTPCaching
import HTTPSemantics
import HTTPTypes
import Logging
import NIOCore
import Storage

/// Why a request goes to the upstream, and what its response is held against.
struct ForwardPlan: Sendable {
    var reason: CacheStatus.Forward
    var validation: Validation?
    var candidates: [CachedResponse]

    init(reason: CacheStatus.Forward, candidates: [CachedResponse]) {
        self.reason = reason
        self.candidates = candidates
    }

    init(validation: Validation, candidates: [CachedResponse]) {
        reason = validation.reason
        self.validation = validation
        self.candidates = candidates
    }
}

/// A response of which the head has arrived, with the times that its age is counted from. RFC 9111 §4.2.3.
struct Arrival: Sendable {
    let response: StreamedResponse
    let requestTime: Date
    let responseTime: Date
    /// Holds until a write makes its URL doubtful that was answered after this was asked for: it may tell of the time
    /// before.
    var uninvalidated: ChangeToken

    /// Head as received, `Connection` included.
    var head: HTTPResponse { HTTPResponse(status: response.status, headerFields: response.headerFields) }
    /// Bytes of the body where they are announced.
    var announced: Int? { response.headerFields.declaredContentLength }
}

extension Mount {
    /// Asks the upstream, and answers with what it says, or with what is stored where that means the same or it fails.
    func relay(_ inquiry: ProxiedRequest, _ plan: ForwardPlan, _ flight: MountFlight?) async throws -> ProxyResponse {
        var fields = inquiry.fields
        plan.validation?.condition.apply(to: &fields)
        let arrival: Arrival
        do throws(UpstreamError) {
            arrival = try await send(inquiry, fields)
        } catch {
            try Task.checkCancellation()
            flight?.complete(.failed(error))
            return try await serveStale(inquiry, plan, for: error)
        }
        guard let validation = plan.validation else { return try await pass(arrival, inquiry, plan, flight) }
        let outcome = policy.outcome(
            of: validation,
            response: arrival.head,
            request: inquiry.cacheKeyRequest,
            candidates: plan.candidates.map(\.head),
            requestTime: arrival.requestTime,
            responseTime: arrival.responseTime
        )
        switch outcome {
        case .freshened(let updates, let serving):
            try await drain(arrival)
            // Opened before anything is removed: a response that may not be kept still answers this request.
            let body = try await open(plan.candidates[serving.index])
            try await keep(updates, of: plan.candidates, by: arrival, confirms: true)
            flight?.complete(.stored)
            guard let body else { return try await relay(inquiry, ForwardPlan(reason: .miss, candidates: []), flight) }
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
                ForwardPlan(reason: plan.reason, candidates: plan.candidates),
                flight
            )
        case .useStored:
            flight?.complete(.failed(.failing(status: arrival.response.status, retryAfter: nil)))
            let status = arrival.response.status.code
            guard
                let response = try await serveStale(
                    inquiry,
                    validation,
                    plan.candidates[validation.index],
                    status: status,
                    detail: "stale-if-error"
                )
            else {
                return try await pass(arrival, inquiry, plan, flight)
            }
            return response
        case .passNotModified, .replace:
            return try await pass(arrival, inquiry, plan, flight)
        }
    }

    /// One exchange; the upstream's health is told of it.
    private func send(_ inquiry: ProxiedRequest, _ fields: HTTPFields) async throws(UpstreamError) -> Arrival {
        let requestTime = upstream.clock.now()
        let uninvalidated = ChangeToken(of: invalidations[inquiry.key])
        // A large body takes the time that its client takes.
        let total: Duration = inquiry.body == nil ? upstream.configuration.totalTimeout : .seconds(3600)
        let limits = TransportLimits(
            total: total,
            maximumBytes: upstream.configuration.maximumResponseBytes,
            publicAddressesOnly: false
        )
        let request = StreamedRequest(
            method: inquiry.cacheKeyRequest.method,
            url: inquiry.url,
            headerFields: fields,
            body: inquiry.body,
            bodyLength: inquiry.bodyLength
        )
        do throws(UpstreamError) {
            let response = try await upstream.exchange.transport.stream(request, within: limits)
            upstream.exchange.onAttempt(.success(response.status))
            upstream.health.record(
                .success(IncomingResponse(status: response.status, headerFields: response.headerFields))
            )
            return Arrival(
                response: response.withValidStatus.withoutOwnFields,
                requestTime: requestTime,
                responseTime: upstream.clock.now(),
                uninvalidated: uninvalidated
            )
        } catch {
            // A client that left says nothing of the upstream.
            if !Task.isCancelled, error != .badResponse(status: nil, reason: UpstreamError.requestCutShort) {
                upstream.exchange.onAttempt(.failure(error))
                upstream.health.record(.failure(error))
            }
            throw error
        }
    }

    /// What is stored, where it may stand in for an upstream that gave no response; else the error.
    private func serveStale(_ inquiry: ProxiedRequest, _ plan: ForwardPlan, for error: UpstreamError) async throws
        -> ProxyResponse
    {
        guard let validation = plan.validation, validation.fallback.contains(.unreachable) else { throw error }
        let detail = if case .unreachable = error { "unreachable" } else { "bad-response" }
        guard
            let response = try await serveStale(inquiry, validation, plan.candidates[validation.index], detail: detail)
        else { throw error }
        return response
    }

    /// A stored response in place of the upstream's; nil where its body is lost.
    func serveStale(
        _ inquiry: ProxiedRequest,
        _ validation: Validation,
        _ stored: CachedResponse,
        status: Int? = nil,
        detail: String,
        isTried: Bool = true,
        isOffline: Bool? = nil
    ) async throws -> ProxyResponse? {
        guard let body = try await open(stored) else { return nil }
        let reuse = policy.reuse(of: validation.stored, at: validation.index, now: upstream.clock.now(), detail: detail)
        let account =
            isTried ? policy.account(of: validation.reason, upstreamStatus: status, detail: detail) : reuse.status
        return served(inquiry, reuse, body, account: account, isOffline: isOffline ?? (status == nil))
    }

    /// The bodies of responses that have none end at once; reading them leaves the connection to the next request.
    func drain(_ arrival: Arrival) async throws {
        do {
            for try await _ in arrival.response.body {}
        } catch {
            try Task.checkCancellation()
            upstream.logger.debug("an answer without a body broke off", metadata: ["error": "\(error)"])
        }
    }
}

extension StreamedResponse {
    /// The same with 502 in place of a status from 600 to 999: RFC 9110 §15 has them processed as 5xx, and a gateway
    /// may not send them on.
    fileprivate var withValidStatus: StreamedResponse {
        guard status.code >= 600 else { return self }
        var response = self
        response.status = .badGateway
        return response
    }

    /// Without fields that are Larder's to send: what it says of itself, to its clients or within the process, nobody
    /// else says.
    fileprivate var withoutOwnFields: StreamedResponse {
        var response = self
        response.headerFields.removeAll { $0.name.canonicalName.hasPrefix("larder-") }
        return response
    }
}

extension ProxiedRequest {
    /// The same for the whole of it.
    var withoutRange: ProxiedRequest { without([.range, .ifRange]) }

    /// The same without preconditions that a 304 answers.
    var unconditional: ProxiedRequest { without([.ifNoneMatch, .ifModifiedSince]) }
}

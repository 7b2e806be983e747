import Concurrency
import Foundation
import HTTPCaching
import HTTPTypes
import Logging
import NIOCore
import ResponseStore
import Upstream

extension ProxyExchange {
    /// Longest wait for the head of a response to a request with a body: a large one takes the time that its client
    /// takes.
    private static let longestUpload: Duration = .seconds(3600)

    /// Sends the request, with the preconditions of a stored response if it is validated (RFC 9111 §4.3.1).
    mutating func send(_ validation: Validation?) async throws -> ProxyEvent {
        var fields = request.fields
        validation?.condition.apply(to: &fields)
        let forwarded: ForwardedResponse
        do throws(UpstreamError) {
            forwarded = try await forward(fields)
        } catch {
            try Task.checkCancellation()
            flight?.complete(.failed(error))
            return .failed(error)
        }
        self.forwarded = forwarded
        let status = forwarded.response.status
        guard let validation else { return .responded(status, nil) }
        let outcome = rules.outcome(
            of: validation,
            response: forwarded.head,
            request: request.cacheKeyRequest,
            candidates: candidates.map(\.head),
            requestTime: forwarded.requestTime,
            responseTime: forwarded.responseTime
        )
        if outcome == .useStored { flight?.complete(.failed(.failing(status: status, retryAfter: nil))) }
        return .responded(status, outcome)
    }

    /// Sends the request again without preconditions.
    mutating func sendUnconditionally() async throws -> ProxyEvent {
        if let forwarded { try await drain(forwarded) }
        request = request.unconditional
        return try await send(nil)
    }

    func forward(_ fields: HTTPFields) async throws(UpstreamError) -> ForwardedResponse {
        let requestTime = now
        let uninvalidated = store.uninvalidated(request.key)
        var response = try await client.stream(
            StreamedRequest(
                method: request.cacheKeyRequest.method,
                url: request.url,
                headerFields: fields,
                body: request.body,
                bodyLength: request.bodyLength,
                credential: request.credential,
                interim: request.interim
            ),
            .forwarding(headTimeout: request.body == nil ? nil : Self.longestUpload)
        )
        ForwardedFields.addKeys(to: &response.headerFields, mount.upstream.configuration.mount)
        return ForwardedResponse(
            response: response.withValidStatus.withoutOwnFields,
            requestTime: requestTime,
            responseTime: now,
            uninvalidated: uninvalidated
        )
    }

    /// Reads a response without content to its end, which frees the connection for the next request.
    func drain(_ forwarded: ForwardedResponse) async throws {
        do {
            for try await _ in forwarded.response.body {}
        } catch {
            try Task.checkCancellation()
            mount.upstream.logger.debug("a response without a body was truncated", metadata: ["error": "\(error)"])
        }
    }
}

import Foundation
import HTTPTypes

extension Upstream {
    /// Sends a request whose response is not stored: a write, or a link that is used once.
    ///
    /// Redirects are followed for GET and HEAD, and credentials leave for no other origin.
    /// - Parameter errors: The form in which the API refuses the request.
    /// - Returns: The response, 3xx included.
    /// - Throws: ``UpstreamError/failing(status:retryAfter:)`` for 5xx, 408 and 429;
    ///   ``UpstreamError/rejected(status:body:)`` for a 4xx in the API's own form,
    ///   ``UpstreamError/badResponse(status:reason:)`` for another one; ``UpstreamError/unreachable(_:)`` and others.
    public func call(_ request: OutgoingRequest, errors: ErrorForm = .none) async throws(UpstreamError)
        -> IncomingResponse
    {
        let response = try await send(request)
        do throws(UpstreamError) {
            try errors.check(response)
        } catch {
            if case .badResponse(_, let reason) = error, !request.isPicture {
                client.recordUnusable(request.url, reason)
            }
            throw error
        }
        return response
    }

    /// Sends a request with bodies in parts, both ways. Nothing is sent twice.
    ///
    /// - Parameters:
    ///   - headTimeout: Longest wait for the head of the response, in place of `total_timeout_ms`: a body that is sent
    ///     takes the time that its client takes.
    ///   - responseTimeout: Longest part of it after the last byte of the body, in place of `total_timeout_ms`.
    /// - Returns: The response, whatever its status: other hosts' statuses say nothing of the upstream.
    /// - Throws: ``UpstreamError/unreachable(_:)``, ``UpstreamError/badResponse(status:reason:)`` or
    ///   ``UpstreamError/forbiddenTarget(_:)``.
    public func stream(
        _ request: StreamedRequest,
        headTimeout: Duration? = nil,
        responseTimeout: Duration? = nil
    ) async throws(UpstreamError) -> StreamedResponse {
        try await client.stream(request, .streaming(headTimeout: headTimeout, responseTimeout: responseTimeout))
    }
}

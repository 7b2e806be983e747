import Foundation
import HTTPCaching
import HTTPTypes

extension Upstream {
    /// Sends a request whose response is not kept: a write, a link that is used once, a body that passes by.
    ///
    /// Redirects are followed for GET and HEAD, credentials leave for no other origin, and the upstream's health is
    /// told as with every request.
    /// - Parameter errors: the form in which the API refuses the request.
    /// - Returns: The response, 3xx included.
    /// - Throws: ``UpstreamError/failing(status:retryAfter:)`` for 5xx, 408 and 429;
    ///   ``UpstreamError/rejected(status:body:)`` for a 4xx in the API's own
    ///   form, ``UpstreamError/badResponse(status:reason:)`` for another one; ``UpstreamError/unreachable(_:)`` and
    ///   others.
    public func call(_ request: OutgoingRequest, errors: ErrorForm = .none) async throws(UpstreamError)
        -> IncomingResponse
    {
        let response = try await send(request)
        do throws(UpstreamError) {
            try errors.check(response)
        } catch {
            if case .badResponse(_, let reason) = error, exchange.targets.target(of: request.url) == .ownOrigin {
                health.failed(reason)
            }
            throw error
        }
        return response
    }

    /// The same with bodies in parts. Every status is a response here, because the bodies of other hosts say nothing of
    /// the upstream. Nothing is tried twice.
    ///
    /// The total timeout ends with the response's head; `headTimeout` takes its place where a body goes out, which takes
    /// the time that its client takes.
    public func stream(_ request: StreamedRequest, headTimeout: Duration? = nil) async throws(UpstreamError)
        -> StreamedResponse
    {
        var request = request
        request.headerFields.nameUserAgent()
        for _ in 0...RequestExecutor.maximumRedirects {
            let target = exchange.targets.target(of: request.url)
            if case .forbidden(let what) = target { throw .forbiddenTarget(what) }
            let response = try await streamed(request, at: target, within: headTimeout ?? configuration.totalTimeout)
            guard [301, 302, 303, 307, 308].contains(response.status.code),
                request.method == .get || request.method == .head,
                let location = response.headerFields[.location]
            else { return response }
            guard let url = TargetRules.resolve(location: location, from: request.url) else {
                throw .badResponse(status: response.status, reason: "a redirect to nowhere")
            }
            request.url = url
        }
        throw .badResponse(status: nil, reason: "more than \(RequestExecutor.maximumRedirects) redirects")
    }

    private func streamed(
        _ request: StreamedRequest,
        at target: TargetRules.Target,
        within total: Duration
    ) async throws(UpstreamError) -> StreamedResponse {
        var request = request
        if target != .ownOrigin {
            request.headerFields.removeCredentials()
        }
        let limits = TransportLimits(
            total: total,
            maximumBytes: configuration.maximumResponseBytes,
            publicAddressesOnly: exchange.targets.needsPublicAddress(target)
        )
        do throws(UpstreamError) {
            let response = try await exchange.transport.stream(request, within: limits)
            exchange.onAttempt(.success(response.status))
            if target == .ownOrigin {
                health.record(.success(IncomingResponse(status: response.status, headerFields: response.headerFields)))
            }
            return response
        } catch {
            // A client that left, or that stopped sending, says nothing of the upstream.
            if !Task.isCancelled, error != .badResponse(status: nil, reason: UpstreamError.requestCutShort) {
                exchange.onAttempt(.failure(error))
                if target == .ownOrigin { health.record(.failure(error)) }
            }
            throw error
        }
    }
}

extension UpstreamError {
    /// Whether the client's own body broke off while it was passed on.
    public var isRequestCutShort: Bool { self == .badResponse(status: nil, reason: Self.requestCutShort) }
}

import Foundation
import HTTPCaching
import HTTPSemantics
public import HTTPTypes

/// One request to an upstream with everything that belongs to it: redirects to allowed hosts, retries, the deadline
/// over all of them.
struct RequestExecutor: Sendable {
    /// Longest chain of redirects that is followed.
    static let maximumRedirects = 5

    let configuration: UpstreamConfiguration
    let transport: any Transport
    let targets: TargetRules
    let retries: RetryPolicy
    let clock: WallClock
    let jitter: @Sendable () -> Double
    /// Told of every attempt that reached out.
    let onAttempt: @Sendable (Result<HTTPResponse.Status, UpstreamError>) -> Void

    /// The final response, whatever its status. `record` is told what the upstream itself came to, retries behind it; hosts
    /// that it links to say nothing of it.
    func run(_ request: OutgoingRequest, record: (Result<IncomingResponse, UpstreamError>) -> Void)
        async throws(UpstreamError) -> IncomingResponse
    {
        let deadline = clock.now().addingTimeInterval(configuration.totalTimeout.seconds)
        var request = request
        request.headerFields.nameUserAgent()
        for _ in 0...Self.maximumRedirects {
            let target = targets.target(of: request.url)
            if case .forbidden(let what) = target { throw .forbiddenTarget(what) }
            let result = await attempts(request, at: target, until: deadline)
            if target == .ownOrigin { record(result) }
            let response = try result.get()
            guard Self.isRedirect(response.status), let location = response.headerFields[.location] else {
                return response
            }
            guard request.method == .get || request.method == .head else { return response }
            guard let url = TargetRules.resolve(location: location, from: request.url) else {
                throw .badResponse(status: response.status, reason: "a redirect to nowhere")
            }
            request.url = url
        }
        throw .badResponse(status: nil, reason: "more than \(Self.maximumRedirects) redirects")
    }

    private static func isRedirect(_ status: HTTPResponse.Status) -> Bool {
        [301, 302, 303, 307, 308].contains(status.code)
    }

    private func attempts(_ request: OutgoingRequest, at target: TargetRules.Target, until deadline: Date) async
        -> Result<IncomingResponse, UpstreamError>
    {
        var request = request
        if target != .ownOrigin {
            request.headerFields.removeCredentials()
        }
        var attempt = 0
        while true {
            attempt += 1
            let remaining = deadline.timeIntervalSince(clock.now())
            guard remaining > 0 else { return .failure(.unreachable(.totalTimeout)) }
            let limits = TransportLimits(
                total: .seconds(remaining),
                maximumBytes: configuration.maximumResponseBytes,
                publicAddressesOnly: targets.needsPublicAddress(target)
            )
            let result = await self.attempt(request, within: limits)
            onAttempt(result.map(\.status))
            guard !request.isSentOnce, let outcome = outcome(of: result),
                let pause = retries.pause(after: outcome, attempt: attempt, method: request.method, jitter: jitter()),
                pause.seconds < deadline.timeIntervalSince(clock.now())
            else { return result }
            do {
                try await clock.sleep(pause)
            } catch {
                return result  // cancelled: what there is stands
            }
        }
    }

    private func attempt(_ request: OutgoingRequest, within limits: TransportLimits) async -> Result<
        IncomingResponse, UpstreamError
    > {
        do throws(UpstreamError) {
            return .success(try await transport.exchange(request, within: limits))
        } catch {
            return .failure(error)
        }
    }

    private func outcome(of result: Result<IncomingResponse, UpstreamError>) -> RetryPolicy.Outcome? {
        switch result {
        case .success(let response):
            .responded(response.status, retryAfter: RetryAfter.seconds(response.headerFields, at: clock.now()))
        case .failure(.unreachable(let reason)): .unreachable(reason)
        case .failure(.badResponse(_, UpstreamError.cutShort)): .truncated
        case .failure: nil
        }
    }
}

extension HTTPFields {
    /// Says who asks, as RFC 9110 §10.1.5 wants it of every user agent; services may turn away those who do not.
    mutating func nameUserAgent() {
        if self[.userAgent] == nil { self[.userAgent] = "Larder" }
    }

    /// Credentials belong to the upstream's own origin and never leave for another.
    mutating func removeCredentials() {
        for name in [.authorization, .cookie, .apiKey] as [HTTPField.Name] { self[name] = nil }
    }
}

extension HTTPField.Name {
    /// `X-API-Key`: the credential of services without a scheme of RFC 9110.
    public static let apiKey = HTTPField.Name(literal: "X-API-Key")
}

import Foundation
import HTTPTypes

/// One request to an upstream with everything that belongs to it: redirects to allowed hosts, retries, the deadline over all of them.
struct Exchange: Sendable {
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

    /// The final answer, whatever its status.
    func run(_ request: OutgoingRequest) async throws(UpstreamError) -> IncomingAnswer {
        let deadline = clock.now().addingTimeInterval(configuration.totalTimeout.seconds)
        var request = request
        for _ in 0...Self.maximumRedirects {
            let answer = try await attempts(request, until: deadline)
            guard Self.isRedirect(answer.status), let location = answer.headerFields[.location] else { return answer }
            guard request.method == .get || request.method == .head else { return answer }
            guard let url = TargetRules.resolve(location: location, from: request.url) else {
                throw .badAnswer(status: answer.status, reason: "a redirect to nowhere")
            }
            request.url = url
        }
        throw .badAnswer(status: nil, reason: "more than \(Self.maximumRedirects) redirects")
    }

    private static func isRedirect(_ status: HTTPResponse.Status) -> Bool {
        [301, 302, 303, 307, 308].contains(status.code)
    }

    private func attempts(_ request: OutgoingRequest, until deadline: Date) async throws(UpstreamError) -> IncomingAnswer {
        var request = request
        let publicOnly: Bool
        switch targets.target(of: request.url) {
        case .ownOrigin: publicOnly = false
        case .listedHost:
            publicOnly = true
            // Credentials belong to the upstream's own origin and never leave for another.
            request.headerFields[.authorization] = nil
            request.headerFields[.cookie] = nil
        case .forbidden(let target): throw .forbiddenTarget(target)
        }
        var attempt = 0
        while true {
            attempt += 1
            let remaining = deadline.timeIntervalSince(clock.now())
            guard remaining > 0 else { throw .unreachable(.totalTimeout) }
            let limits = TransportLimits(
                total: .seconds(remaining),
                maximumBytes: configuration.maximumAnswerBytes,
                publicAddressesOnly: publicOnly
            )
            let result = await self.attempt(request, within: limits)
            onAttempt(result.map(\.status))
            guard let outcome = Self.outcome(of: result),
                let pause = retries.pause(after: outcome, attempt: attempt, method: request.method, jitter: jitter()),
                pause.seconds < deadline.timeIntervalSince(clock.now())
            else { return try result.get() }
            do {
                try await clock.sleep(pause)
            } catch {
                return try result.get()  // cancelled: what there is stands
            }
        }
    }

    private func attempt(_ request: OutgoingRequest, within limits: TransportLimits) async -> Result<IncomingAnswer, UpstreamError> {
        do throws(UpstreamError) {
            return .success(try await transport.exchange(request, within: limits))
        } catch {
            return .failure(error)
        }
    }

    private static func outcome(of result: Result<IncomingAnswer, UpstreamError>) -> RetryPolicy.Outcome? {
        switch result {
        case .success(let answer): .answered(answer.status, retryAfter: RetryAfter.seconds(answer.headerFields))
        case .failure(.unreachable(let reason)): .unreachable(reason)
        case .failure(.badAnswer(_, UpstreamError.cutShort)): .truncated
        case .failure: nil
        }
    }
}

/// `Retry-After` (RFC 9110 §10.2.3), as far as upstreams send it: seconds.
enum RetryAfter {
    static func seconds(_ fields: HTTPFields) -> Int? {
        fields[.retryAfter].flatMap { Int($0.trimmingCharacters(in: .whitespaces)) }.map { max(0, $0) }
    }
}

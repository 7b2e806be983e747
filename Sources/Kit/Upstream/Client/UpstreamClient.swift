package import Concurrency
package import Foundation
import HTTP
import HTTPTypes
import Logging
import Metrics
package import Storage

/// Sends requests to an upstream, with buffered or streamed bodies.
///
/// Only this code knows which targets requests may have, which redirects are followed, which attempts are repeated and
/// until when. It counts attempts and reports attempts at the upstream's own origin to `UpstreamHealth`; hosts that the
/// upstream links to, and clients that disconnected, say nothing of the upstream.
package struct UpstreamClient: Sendable {
    /// Longest chain of redirects that is followed.
    static let maximumRedirects = 5

    let configuration: UpstreamConfiguration
    let transport: any Transport
    let targets: TargetRules
    let retries: RetryPolicy
    let clock: WallClock
    /// Returns numbers in 0..<1.
    let jitter: @Sendable () -> Double
    let health: UpstreamHealth
    let linkedHosts: LinkedHostHealth
}

extension UpstreamClient {
    /// Creates a client with a health of its own, whose probes it sends.
    ///
    /// - Parameter notify: Called for one change of reachability after the other.
    init(
        configuration: UpstreamConfiguration,
        transport: any Transport,
        retries: RetryPolicy,
        clock: WallClock,
        jitter: @escaping @Sendable () -> Double,
        logger: Logger,
        notify: @escaping @Sendable (ReachabilityChange) async -> Void
    ) {
        let targets = TargetRules(configuration)
        let client = { @Sendable (health: UpstreamHealth) in
            UpstreamClient(
                configuration: configuration,
                transport: transport,
                targets: targets,
                retries: retries,
                clock: clock,
                jitter: jitter,
                health: health,
                linkedHosts: LinkedHostHealth(probeInterval: configuration.probeInterval)
            )
        }
        let health = UpstreamHealth(
            configuration: configuration,
            clock: clock,
            jitter: jitter,
            logger: logger,
            notify: notify,
            probe: { health throws(UpstreamError) in
                _ = try await client(health).send(OutgoingRequest(url: configuration.url(of: configuration.probePath)))
            }
        )
        self = client(health)
    }

    /// Sends a request and waits for the whole response. Idempotent requests are repeated as ``RetryPolicy`` says,
    /// unless ``OutgoingRequest/isSentOnce``.
    ///
    /// - Returns: The final response, whatever its status but those of a gateway without an upstream
    ///   (``UnreachableReason/init(gateway:)``).
    func send(_ request: OutgoingRequest) async throws(UpstreamError) -> IncomingResponse {
        let options = ExchangeOptions(retries: request.isSentOnce ? nil : retries)
        let response = try await exchange(request, options) { request, limits throws(UpstreamError) in
            try await transport.exchange(request, within: limits)
        }
        if let reason = UnreachableReason(gateway: response.status) { throw .unreachable(reason) }
        return response
    }

    /// Sends a request and waits for the head of the response. Nothing is repeated.
    ///
    /// - Returns: The final response, whatever its status.
    package func stream(_ request: StreamedRequest, _ options: ExchangeOptions) async throws(UpstreamError)
        -> StreamedResponse
    {
        var options = options
        options.sharesDeadline = request.body == nil
        let start = clock.now()
        defer {
            if request.body != nil { RequestScope.current?.extend(by: clock.now().timeIntervalSince(start)) }
        }
        return try await exchange(request, options) { request, limits throws(UpstreamError) in
            try await transport.stream(request, within: limits)
        }
    }

    private typealias Attempt<Request, Response> = (Request, TransportLimits) async throws(UpstreamError) -> Response

    /// Sends a request along its redirects (RFC 9110 §15.4).
    private func exchange<Request: OutgoingMessage, Response: IncomingMessage>(
        _ request: Request,
        _ options: ExchangeOptions,
        by attempt: Attempt<Request, Response>
    ) async throws(UpstreamError) -> Response {
        let deadline = deadline(options)
        var request = request
        if options.namesUserAgent { request.headerFields.nameUserAgent() }
        for hop in 0...Self.maximumRedirects {
            let target = targets.target(of: request.url)
            if case .forbidden(let what) = target { throw .forbiddenTarget(what) }
            if hop > 0, request.isPicture, !isReachable(request.url, at: target, isPicture: true, clock.now()) {
                throw .unreachable(.network)
            }
            let wait =
                request.isPicture ? linkedHosts.began(linkedHost(of: request.url, at: target), at: clock.now()) : nil
            let result = await attempts(request, at: target, options, until: deadline, by: attempt)
            if let wait { linkedHosts.ended(wait) }
            record(result.map(\.head), of: request, at: target, deadline)
            let response = try result.get()
            guard options.followsRedirects, let url = try Self.redirect(response, from: request) else {
                return response
            }
            request.url = url
        }
        throw .badResponse(status: nil, reason: "more than \(Self.maximumRedirects) redirects")
    }

    /// When an exchange ends.
    private struct Deadline {
        let date: Date
        /// Whether it is earlier than the exchange's own, so that its end says nothing of the upstream.
        let isShared: Bool
    }

    /// Returns the deadline of an exchange that begins now: its own, or the earlier one of the request that it belongs
    /// to (``RequestScope``).
    private func deadline(_ options: ExchangeOptions) -> Deadline {
        let now = clock.now()
        let own = now.addingTimeInterval((options.timeout ?? configuration.totalTimeout).seconds)
        guard options.sharesDeadline,
            let shared = RequestScope.current?.deadline(configuration.totalTimeout, at: now), shared < own
        else { return Deadline(date: own, isShared: false) }
        return Deadline(date: shared, isShared: true)
    }

    /// Records the result of a request in the health of its target.
    private func record(
        _ result: Result<HTTPResponse, UpstreamError>,
        of request: some OutgoingMessage,
        at target: TargetRules.Target,
        _ deadline: Deadline
    ) {
        let isCutShort = deadline.isShared && !request.isPicture && result == .failure(.unreachable(.totalTimeout))
        guard Self.concernsUpstream(result), !isCutShort else { return }
        self.record(result, of: request, at: target)
    }

    /// Sends a request to one target until it succeeds or the failure is final.
    private func attempts<Request: OutgoingMessage, Response: IncomingMessage>(
        _ request: Request,
        at target: TargetRules.Target,
        _ options: ExchangeOptions,
        until deadline: Deadline,
        by attempt: Attempt<Request, Response>
    ) async -> Result<Response, UpstreamError> {
        var request = request
        if target.isOwnOrigin {
            RequestTrace.current?.mark(&request.headerFields)
            if configuration.isSimulated {
                RequestTrace.current?.markFault(&request.headerFields)
                RequestCause.mark(&request.headerFields)
            }
        } else {
            request.headerFields.removeCredentials()
        }
        var number = 0
        while true {
            number += 1
            guard let limits = limits(at: target, options, until: deadline) else {
                return .failure(.unreachable(.totalTimeout))
            }
            let began = clock.now()
            let result = await Self.result { () throws(UpstreamError) in try await attempt(request, limits) }
            if Self.concernsUpstream(result) { count(result.map(\.status), clock.now().timeIntervalSince(began)) }
            let (retries, method) = (options.retries, request.method)
            guard let outcome = outcome(of: result),
                let pause = retries?.pause(after: outcome, attempt: number, method: method, jitter: jitter()),
                pause.seconds < deadline.date.timeIntervalSince(clock.now())
            else { return result }
            do {
                try await clock.sleep(pause)
            } catch {
                return result  // cancelled: the last result stands
            }
        }
    }

    /// Returns the limits of an attempt that begins now; nil after the deadline.
    private func limits(at target: TargetRules.Target, _ options: ExchangeOptions, until deadline: Deadline)
        -> TransportLimits?
    {
        let remaining = deadline.date.timeIntervalSince(clock.now())
        guard remaining > 0 else { return nil }
        return TransportLimits(
            total: .seconds(remaining),
            maximumBytes: configuration.maximumResponseBytes,
            publicAddressesOnly: targets.needsPublicAddress(target),
            stall: max(options.stall ?? .zero, configuration.totalTimeout),
            response: options.responseTimeout ?? configuration.totalTimeout
        )
    }

    private static func result<Response>(of attempt: () async throws(UpstreamError) -> Response) async
        -> Result<Response, UpstreamError>
    {
        do throws(UpstreamError) {
            return .success(try await attempt())
        } catch {
            return .failure(error)
        }
    }

    /// Whether a result says something of the upstream. A failure after the client left, or because its body was
    /// truncated, does not.
    private static func concernsUpstream<Response>(_ result: Result<Response, UpstreamError>) -> Bool {
        guard case .failure(let error) = result else { return true }
        return !Task.isCancelled && !error.isRequestCutShort
    }

    /// Returns the URL that a response redirects to; nil if the response itself is to be returned.
    private static func redirect(_ response: some IncomingMessage, from request: some OutgoingMessage)
        throws(UpstreamError) -> String?
    {
        guard [301, 302, 303, 307, 308].contains(response.status.code),
            request.method == .get || request.method == .head,
            let location = response.headerFields[.location]
        else { return nil }
        guard let url = TargetRules.resolve(location: location, from: request.url) else {
            throw .badResponse(status: response.status, reason: "a redirect to nowhere")
        }
        return url
    }

    private func outcome(of result: Result<some IncomingMessage, UpstreamError>) -> RetryPolicy.Outcome? {
        switch result {
        case .success(let response):
            .responded(response.status, retryAfter: RetryAfter.seconds(response.headerFields, at: clock.now()))
        case .failure(.unreachable(let reason)): .unreachable(reason)
        case .failure(.badResponse(_, UpstreamError.cutShort)): .truncated
        case .failure: nil
        }
    }

    private func count(_ result: Result<HTTPResponse.Status, UpstreamError>, _ seconds: TimeInterval) {
        let outcome =
            switch result {
            case .success(let status): "\(status.code / 100)xx"
            case .failure(.unreachable(let reason)): reason.rawValue
            case .failure: "bad-response"
            }
        Counter(
            label: "larder_upstream_requests_total",
            dimensions: [("upstream", configuration.name), ("outcome", outcome)]
        ).increment()
        Metrics.Timer(
            label: "larder_upstream_request_duration_seconds",
            dimensions: [("upstream", configuration.name)]
        ).recordSeconds(seconds)
    }
}

extension UpstreamClient {
    /// Whether the upstream can be reached, as far as is known.
    package var reachability: Reachability { health.reachability }

    /// Counts the changes of ``reachability`` that responses from the store depend on.
    package var reachabilityVersion: VersionCounter { health.version }

    /// Returns the pause that the upstream requested, for the requests of an account or all; nil if there is none.
    package func pause(for credential: CredentialHash?, at now: Date) -> Reachability.Pause? {
        health.pause(for: credential, at: now)
    }

    /// Whether requests to a URL are to be tried, as far as is known of its host.
    func isReachable(_ url: String, at target: TargetRules.Target, isPicture: Bool, _ now: Date) -> Bool {
        let isOwn = target == .ownOrigin
        guard !isOwn || reachability.isReachable else { return false }
        return isOwn && !isPicture || linkedHosts.isReachable(linkedHost(of: url, at: target), at: now)
    }

    /// Begins an attempt to read a URL of which nothing is stored. Of several reads at a host that was not reached
    /// lately, one tries the host once the pause is over. At the API itself, that attempt takes the place of a probe.
    ///
    /// - Returns: Whether the caller is to send its request.
    func beginAttempt(_ url: String, at target: TargetRules.Target, isPicture: Bool, _ now: Date) -> Bool {
        let isOwn = target == .ownOrigin
        if isOwn && !isPicture { return health.beginAttempt() }
        guard !isOwn || reachability.isReachable else { return false }
        return linkedHosts.beginAttempt(linkedHost(of: url, at: target), at: now)
    }

    /// Returns the pause that the host of a URL requested; nil if there is none.
    func pause(
        _ url: String,
        at target: TargetRules.Target,
        isPicture: Bool,
        _ credential: CredentialHash?,
        _ now: Date
    ) -> Reachability.Pause? {
        let isOwn = target == .ownOrigin
        let ofAPI = isOwn ? pause(for: credential, at: now) : nil
        let ofHost = isOwn && !isPicture ? nil : linkedHosts.pause(linkedHost(of: url, at: target), at: now)
        return [ofAPI, ofHost].compactMap { $0 }.max { $0.end < $1.end }
    }

    /// Sends a probe in the background if the upstream is unreachable and none was sent just now.
    package func probeIfIdle() { health.probeIfIdle() }

    /// Records the result of a request in the health of its target.
    func record(
        _ result: Result<HTTPResponse, UpstreamError>,
        of request: some OutgoingMessage,
        at target: TargetRules.Target
    ) {
        var result = result
        if case .success(let response) = result, let reason = UnreachableReason(gateway: response.status) {
            result = .failure(.unreachable(reason))
        }
        guard target != .ownOrigin || request.isPicture else {
            return health.record(result, credential: request.credential)
        }
        let host = linkedHost(of: request.url, at: target)
        switch result {
        case .success(let response):
            let retryAfter = RetryAfter.seconds(response.headerFields, at: clock.now())
            linkedHosts.responded(host, response.status, retryAfter: retryAfter, at: clock.now())
        case .failure(.unreachable(let reason)):
            linkedHosts.unreachable(host, reason, at: clock.now(), jitter: jitter())
        case .failure: break
        }
    }

    /// Returns the origin of a URL. The API's own origin may have pictures, uploads and downloads as well: there the
    /// folder tells them apart, below the API's own path if the URL is there.
    func linkedHost(of url: String, at target: TargetRules.Target) -> String {
        let parts = URIParts(url)
        let origin = "\(parts.scheme?.lowercased() ?? "")://\(parts.authority?.lowercased() ?? "")"
        guard target.isOwnOrigin else { return origin }
        let depth = target == .ownOrigin ? targets.basePath.split(separator: "/").count : 0
        let folders = parts.path.split(separator: "/").dropLast().prefix(depth + 1)
        return "\(origin)/\(folders.joined(separator: "/"))"
    }

    /// Records that the response to a request at this URL cannot be used, if it is the upstream's own: other hosts say
    /// nothing of its health.
    func recordUnusable(_ url: String, _ reason: String) {
        if targets.target(of: url) == .ownOrigin { health.failed(reason) }
    }

    /// Records that the body of a response broke off. Says nothing if the client of the running task has left.
    package func recordBrokenBody() {
        if !Task.isCancelled { health.failed(UpstreamError.cutShort) }
    }
}

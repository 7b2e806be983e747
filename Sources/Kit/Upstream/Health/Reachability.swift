package import Foundation
package import HTTPTypes
package import Storage

/// The reachability of an upstream as a state machine, `event -> transition`, without a clock or a network.
///
/// One failure to reach the upstream marks it down; any response, an error included, marks it up. While it is down,
/// probes are sent with growing pauses.
package struct Reachability: Sendable, Equatable {
    /// A failure that is remembered for `/v1/status`.
    package struct Failure: Sendable, Equatable {
        /// The failure, as text.
        package var reason: String
        package var at: Date
    }

    /// A pause that an upstream requested with `Retry-After` (RFC 9110 §10.2.3).
    package struct Pause: Sendable, Equatable {
        /// The status of that response: 429 or 503.
        package var status: HTTPResponse.Status
        package var end: Date

        /// Returns the rest of it in whole seconds.
        package func seconds(at now: Date) -> Int { Int(end.timeIntervalSince(now).rounded(.up)) }
    }

    /// The change by an event.
    enum Transition: Sendable, Equatable {
        /// The upstream became unreachable: probe it after this pause.
        case wentDown(probeAfter: Duration)
        /// The upstream is still unreachable: probe it again after this pause.
        case stillDown(probeAfter: Duration)
        /// The upstream responds again: refresh its screens, then notify the listeners.
        case cameBack
        case unchanged
    }

    /// Longest pause between two probes.
    static let longestPause: Duration = .seconds(60)
    /// Longest pause that an upstream may ask for, in seconds.
    static let longestRetryAfter = 300

    /// Whether the last attempt got a response. True until the first failure.
    package private(set) var isReachable = true
    /// Time of the last change of ``isReachable``; nil before the first attempt.
    package private(set) var since: Date?
    /// Time of the last response of any kind.
    package private(set) var lastOK: Date?
    /// The last failure of any kind, an error status included.
    package private(set) var lastError: Failure?
    /// Whether the last attempt failed, in any of these ways. Times do not tell: both may be of one instant.
    package private(set) var isFailing = false
    /// The number of failed attempts in a row. Requests that were under way together are one attempt.
    private(set) var failures = 0
    /// When the last of them was counted.
    private var lastFailedAttempt: Date?
    /// The pauses by credential; that of all requests has none.
    private var pauses: [CredentialHash?: Pause] = [:]

    private let probeInterval: Duration

    /// Creates the state of an upstream that was not requested yet.
    ///
    /// - Parameter probeInterval: First pause between probes.
    init(probeInterval: Duration) {
        self.probeInterval = probeInterval
    }

    /// The state of the same upstream before its first request.
    var forgotten: Reachability { Reachability(probeInterval: probeInterval) }

    /// Records a response, which ends the pauses of its credential and of all requests.
    mutating func responded(credential: CredentialHash? = nil, at now: Date) -> Transition {
        pauses[nil] = nil
        pauses[credential] = nil
        return isThere(at: now)
    }

    private mutating func isThere(at now: Date) -> Transition {
        isFailing = false
        lastOK = now
        failures = 0
        if since == nil { since = now }
        guard !isReachable else { return .unchanged }
        isReachable = true
        since = now
        return .cameBack
    }

    /// Records a response with an error status or an unusable body.
    ///
    /// - Parameters:
    ///   - reason: The failure, as text.
    ///   - status: The status, if it is an error.
    ///   - retryAfter: `Retry-After` in seconds. With 429 it starts a pause of the credential, with 503 one of all
    ///     requests.
    ///   - credential: The credential of the request, if the API limits requests by credential.
    mutating func failed(
        _ reason: String,
        status: HTTPResponse.Status? = nil,
        retryAfter: Int? = nil,
        credential: CredentialHash? = nil,
        at now: Date
    ) -> Transition {
        let transition = isThere(at: now)
        lastError = Failure(reason: reason, at: now)
        // A full disk, and too many requests, are the state of one account: others are served.
        isFailing = credential == nil || ![429, 507].contains(status?.code)
        if let status, let retryAfter, retryAfter > 0, status == .tooManyRequests || status == .serviceUnavailable {
            pauses = pauses.filter { Self.isUnderWay($0.value, at: now) }
            let end = now.addingTimeInterval(TimeInterval(min(retryAfter, Self.longestRetryAfter)))
            pauses[status == .tooManyRequests ? credential : nil] = Pause(status: status, end: end)
        }
        return transition
    }

    /// Records that no response arrived.
    ///
    /// - Parameters:
    ///   - reason: Why the upstream was not reached.
    ///   - jitter: A number in 0..<1, which spreads the probes of many servers.
    mutating func unreachable(_ reason: UnreachableReason, at now: Date, jitter: Double) -> Transition {
        lastError = Failure(reason: reason.rawValue, at: now)
        isFailing = true
        if isNewAttempt(at: now) {
            failures += 1
            lastFailedAttempt = now
        }
        let pause = pauseBeforeProbe(jitter: jitter)
        guard isReachable else { return .stillDown(probeAfter: pause) }
        isReachable = false
        since = now
        return .wentDown(probeAfter: pause)
    }

    /// Returns the pause of requests with a credential, or of all requests; nil if there is none.
    package func pause(for credential: CredentialHash? = nil, at now: Date) -> Pause? {
        [pauses[nil], pauses[credential]].compactMap { $0 }.filter { Self.isUnderWay($0, at: now) }
            .max { $0.end < $1.end }
    }

    /// Whether both have the same pauses.
    func hasSamePauses(as other: Reachability) -> Bool { pauses == other.pauses }

    /// A pause that ends later than any pause may was begun before the clock was set back.
    private static func isUnderWay(_ pause: Pause, at now: Date) -> Bool {
        pause.end > now && pause.seconds(at: now) <= longestRetryAfter
    }

    /// Whether a failure is that of another attempt than the last one that was counted. Else ten pictures of a screen
    /// that fail together would put off the next probe as ten failed probes do. A probe is sent after three quarters of
    /// the pause at the earliest.
    private func isNewAttempt(at now: Date) -> Bool {
        guard failures > 0, let lastFailedAttempt else { return true }
        return .seconds(abs(now.timeIntervalSince(lastFailedAttempt))) >= pauseWithoutJitter / 2
    }

    /// A pause that doubles with each failed attempt up to ``longestPause``.
    private var pauseWithoutJitter: Duration {
        let doublings = min(max(failures - 1, 0), 10)
        return min(probeInterval * Double(1 << doublings), max(Self.longestPause, probeInterval))
    }

    /// Returns a pause before the next probe, 0.75 to 1.25 times ``pauseWithoutJitter``.
    private func pauseBeforeProbe(jitter: Double) -> Duration { pauseWithoutJitter * (0.75 + 0.5 * jitter) }
}

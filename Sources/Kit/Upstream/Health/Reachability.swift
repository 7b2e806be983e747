public import Foundation
public import HTTPTypes

/// The reachability of an upstream as a state machine, `event -> transition`, without a clock or a network.
///
/// One failure to reach the upstream marks it down; any response, an error included, marks it up. While it is down,
/// probes are sent with growing pauses.
public struct Reachability: Sendable, Equatable {
    /// A failure that is remembered for `/v1/status`.
    public struct Failure: Sendable, Equatable {
        /// What failed, as text.
        public var reason: String
        /// Time of the failure.
        public var at: Date
    }

    /// What an event changed.
    public enum Transition: Sendable, Equatable {
        /// The upstream became unreachable: probe it after this pause.
        case wentDown(probeAfter: Duration)
        /// The upstream is still unreachable: probe it again after this pause.
        case stillDown(probeAfter: Duration)
        /// The upstream responds again: refresh its screens, then notify the listeners.
        case cameBack
        /// Nothing to do.
        case unchanged
    }

    /// Longest pause between two probes.
    public static let longestPause: Duration = .seconds(60)

    /// Whether the last attempt got a response. True until the first failure.
    public private(set) var isReachable = true
    /// Time of the last change of ``isReachable``; nil before the first attempt.
    public private(set) var since: Date?
    /// Time of the last response of any kind.
    public private(set) var lastOK: Date?
    /// The last failure of any kind, an error status included.
    public private(set) var lastError: Failure?
    /// The number of failed attempts in a row.
    public private(set) var failures = 0
    /// The end of the pause that the upstream asked for (`Retry-After` of a 429 or 503).
    public private(set) var pausedUntil: Date?
    /// The status that came with ``pausedUntil``.
    public private(set) var pausedBy: HTTPResponse.Status?

    private let probeInterval: Duration

    /// Creates the state of an upstream that was not requested yet.
    ///
    /// - Parameter probeInterval: First pause between probes.
    public init(probeInterval: Duration) {
        self.probeInterval = probeInterval
    }

    /// Records a response.
    public mutating func responded(at now: Date) -> Transition {
        lastOK = now
        failures = 0
        if pausedUntil.map({ $0 <= now }) == true { (pausedUntil, pausedBy) = (nil, nil) }
        if since == nil { since = now }
        guard !isReachable else { return .unchanged }
        isReachable = true
        since = now
        return .cameBack
    }

    /// Records a response with an error status or an unusable body.
    ///
    /// - Parameters:
    ///   - reason: What failed, as text.
    ///   - status: The status, if it is an error.
    ///   - retryAfter: `Retry-After` in seconds; it starts a pause with 429 and 503 (RFC 9110 §10.2.3).
    ///   - now: The current time.
    public mutating func failed(
        _ reason: String,
        status: HTTPResponse.Status? = nil,
        retryAfter: Int? = nil,
        at now: Date
    ) -> Transition {
        let transition = responded(at: now)
        lastError = Failure(reason: reason, at: now)
        if let retryAfter, retryAfter > 0, status == .tooManyRequests || status == .serviceUnavailable {
            pausedUntil = now.addingTimeInterval(TimeInterval(min(retryAfter, 3600)))
            pausedBy = status
        }
        return transition
    }

    /// Records that no response arrived.
    ///
    /// - Parameters:
    ///   - reason: Why the upstream was not reached.
    ///   - now: The current time.
    ///   - jitter: A number in 0..<1, which spreads the probes of many servers.
    public mutating func unreachable(_ reason: UnreachableReason, at now: Date, jitter: Double) -> Transition {
        lastError = Failure(reason: reason.rawValue, at: now)
        failures += 1
        let pause = pauseBeforeProbe(jitter: jitter)
        guard isReachable else { return .stillDown(probeAfter: pause) }
        isReachable = false
        since = now
        return .wentDown(probeAfter: pause)
    }

    /// Returns the rest of the pause in whole seconds; nil if there is none.
    public func secondsPaused(at now: Date) -> Int? {
        guard let pausedUntil, pausedUntil > now else { return nil }
        return Int(pausedUntil.timeIntervalSince(now).rounded(.up))
    }

    /// Returns a pause that doubles with each failure up to ``longestPause``, times 0.75 to 1.25.
    private func pauseBeforeProbe(jitter: Double) -> Duration {
        let doublings = min(max(failures - 1, 0), 10)
        let base = min(probeInterval * Double(1 << doublings), max(Self.longestPause, probeInterval))
        return base * (0.75 + 0.5 * jitter)
    }
}

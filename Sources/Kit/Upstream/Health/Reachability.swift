public import Foundation
public import HTTPTypes

/// Whether an upstream can be reached, decided from what happened: `event → transition`. No clock and no network of its
/// own.
///
/// One failure to reach it marks it down; any answer at all, an error included, marks it up. While it is down, probes
/// go out with growing pauses.
public struct Reachability: Sendable, Equatable {
    /// A failure that is remembered for `/v1/status`.
    public struct Failure: Sendable, Equatable {
        /// What went wrong, in words for people.
        public var reason: String
        /// When.
        public var at: Date
    }

    /// What an event changed.
    public enum Transition: Sendable, Equatable {
        /// It was reachable and is not any more: start probing after this pause.
        case wentDown(probeAfter: Duration)
        /// It still is not reachable: probe again after this pause.
        case stillDown(probeAfter: Duration)
        /// It was unreachable and answers again: refresh what is due, tell the event stream.
        case cameBack
        /// Nothing to do.
        case unchanged
    }

    /// Longest pause between two probes.
    public static let longestPause: Duration = .seconds(60)

    /// Whether the last attempt got a response. True until the first failure.
    public private(set) var isReachable = true
    /// Since when that is so; nil before the first attempt.
    public private(set) var since: Date?
    /// Last answer of any kind.
    public private(set) var lastOK: Date?
    /// Last failure of any kind, an error status included.
    public private(set) var lastError: Failure?
    /// Failed attempts in a row.
    public private(set) var failures = 0
    /// Until when the upstream asked to be left alone (`Retry-After` of a 429 or 503).
    public private(set) var pausedUntil: Date?
    /// The status that came with ``pausedUntil``.
    public private(set) var pausedBy: HTTPResponse.Status?

    private let probeInterval: Duration

    /// An upstream that nobody has tried yet. `probeInterval` is the first pause between probes.
    public init(probeInterval: Duration) {
        self.probeInterval = probeInterval
    }

    /// The upstream answered.
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

    /// The upstream answered, but with an error status or an unusable body; `retryAfter` in seconds where it named one.
    /// It counts with 429 and 503 (RFC 9110 §10.2.3).
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

    /// The upstream could not be reached. `jitter` in 0..<1 spreads the probes of many servers.
    public mutating func unreachable(_ reason: UnreachableReason, at now: Date, jitter: Double) -> Transition {
        lastError = Failure(reason: reason.rawValue, at: now)
        failures += 1
        let pause = pauseBeforeProbe(jitter: jitter)
        guard isReachable else { return .stillDown(probeAfter: pause) }
        isReachable = false
        since = now
        return .wentDown(probeAfter: pause)
    }

    /// The rest of the time that the upstream asked to be left alone, in whole seconds; nil when it may be asked.
    public func secondsPaused(at now: Date) -> Int? {
        guard let pausedUntil, pausedUntil > now else { return nil }
        return Int(pausedUntil.timeIntervalSince(now).rounded(.up))
    }

    /// Doubles with every failure up to ``longestPause``, between 75 % and 125 % of that.
    private func pauseBeforeProbe(jitter: Double) -> Duration {
        let doublings = min(max(failures - 1, 0), 10)
        let base = min(probeInterval * Double(1 << doublings), max(Self.longestPause, probeInterval))
        return base * (0.75 + 0.5 * jitter)
    }
}

package import Foundation

/// The state of an operation of an outbox.
package enum OutboxState: String, Sendable, CaseIterable {
    /// It has not been sent.
    case queued
    /// It is being sent.
    case running
    /// The upstream has accepted the operation and works on it. Its end is polled.
    case processing
    /// It was sent, or could not be, and is tried again.
    case waiting
    /// It has failed again and again while the upstream is well otherwise. It is tried again, and lets others pass.
    case aside
    /// Its resource has changed since the operation was queued. Nothing was sent; the user decides.
    case conflict
    /// It was refused for good. The user decides.
    case failed
    /// It is carried out, or nothing remains to be done.
    case done
}

/// The progress of one operation of an outbox as a state machine, without tasks, clocks and stores:
/// `progress × event -> (progress, effect)`.
///
/// From the moment before an operation is first sent until its outcome is known, it may have been carried out. During
/// that time the upstream's state is read before it is sent again, so that a lost response, a kill or a power loss
/// repeats nothing.
package struct OutboxProgress: Sendable, Equatable {
    package enum Event: Sendable, Equatable {
        /// It is about to be sent.
        case began
        /// It is carried out, now or by an earlier attempt.
        case succeeded
        /// Its resource has changed since it was queued.
        case conflicted(String)
        /// It was refused for good.
        case refused(String)
        /// The upstream has accepted it and works on it; it is asked after so many seconds.
        case accepted(askedAfter: Double)
        /// It was refused for now, and nothing was changed: a limit, a lock, a full disk, a refused token.
        case delayed(String, for: Double?)
        /// No usable response arrived, and it may have been carried out.
        case lost(String)
        /// It could not be sent, because the upstream is unreachable. That is no attempt.
        case postponed
        /// The process that ran it has ended.
        case interrupted
        /// The user, or a login, asks for another attempt.
        case retried
    }

    /// The next step with the operation.
    package enum Effect: Sendable, Equatable {
        case none
        /// Read its resource, compare, then send the operation.
        case look
        /// Try it at ``OutboxProgress/nextAttempt``.
        case sleep
        /// It is over: its bytes and the records kept for it may be removed.
        case release
    }

    /// Attempts after which an operation lets others pass if it fails while the upstream is well otherwise: about 19
    /// seconds after the first one.
    package static let attemptsBeforeOthers = 3
    /// The reason of an operation that the upstream works on.
    private static let underWay = "under-way"

    package private(set) var state: OutboxState
    /// Attempts so far that were sent, or refused.
    package private(set) var attempts: Int
    /// When it is tried next; nil if it waits only for earlier operations.
    package private(set) var nextAttempt: Date?
    /// Whether it may have been carried out.
    package private(set) var isOutcomeUnknown: Bool
    /// Why it is not done, for programs; nil if there is no reason.
    package private(set) var reason: String?

    package init(
        state: OutboxState = .queued,
        attempts: Int = 0,
        nextAttempt: Date? = nil,
        isOutcomeUnknown: Bool = false,
        reason: String? = nil
    ) {
        self.state = state
        self.attempts = attempts
        self.nextAttempt = nextAttempt
        self.isOutcomeUnknown = isOutcomeUnknown
        self.reason = reason
    }

    /// Whether it can be changed, merged or taken back: it has certainly not been carried out.
    package var isUnsent: Bool { (state == .queued || state == .waiting || state == .aside) && !isOutcomeUnknown }

    /// Whether it is being sent, or may have been carried out.
    var isUnsettled: Bool { state == .running || isOutcomeUnknown }

    /// Whether the user has to decide before it continues.
    var isStuck: Bool { state == .conflict || state == .failed }

    /// Whether the user is notified of it: it is stuck, or fails again and again.
    var needsDecision: Bool { isStuck || state == .aside }

    /// Whether it holds up only the operations that touch the same places.
    var letsOthersPass: Bool { needsDecision || state == .processing }

    /// Applies an event. An operation that is done does not change.
    ///
    /// - Parameters:
    ///   - jitter: A number in 0..<1, so that operations that failed together are not tried again together.
    ///   - isUpstreamWell: Whether the upstream was seen to be well otherwise: then a failure is one of this operation.
    /// - Returns: The next step.
    package mutating func apply(_ event: Event, at now: Date, jitter: Double = 0, isUpstreamWell: Bool = false)
        -> Effect
    {
        guard state != .done else { return .none }
        switch event {
        case .began: return begin()
        case .succeeded: return end(.done, nil, .release)
        case .conflicted(let reason): return end(.conflict, reason, .none)
        case .refused(let reason): return end(.failed, reason, .none)
        case .accepted(let pause): return follow(until: now.addingTimeInterval(pause))
        case .delayed(let reason, let pause): return wait(reason, pause, isUpstreamWell, now, jitter)
        case .lost(let reason):
            isOutcomeUnknown = isOutcomeUnknown || state == .running
            return wait(reason, nil, isUpstreamWell, now, jitter)
        case .postponed: return unbegin()
        case .interrupted:
            guard state == .running else { return .none }
            isOutcomeUnknown = true
            return unbegin()
        case .retried: return retry()
        }
    }

    private mutating func begin() -> Effect {
        guard [.queued, .waiting, .aside, .processing].contains(state) else { return .none }
        state = .running
        nextAttempt = nil
        return .look
    }

    private mutating func end(_ end: OutboxState, _ why: String?, _ effect: Effect) -> Effect {
        guard state == .running else { return .none }
        (state, reason, nextAttempt, isOutcomeUnknown) = (end, why, nil, false)
        attempts += 1
        return effect
    }

    private mutating func follow(until date: Date) -> Effect {
        guard state == .running else { return .none }
        // To ask for the end is no attempt.
        if reason != Self.underWay { attempts += 1 }
        (state, reason, nextAttempt, isOutcomeUnknown) = (.processing, Self.underWay, date, true)
        return .sleep
    }

    private mutating func wait(
        _ why: String,
        _ pause: Double?,
        _ isUpstreamWell: Bool,
        _ now: Date,
        _ jitter: Double
    ) -> Effect {
        guard state == .running else { return .none }
        attempts += 1
        (state, reason) = (isUpstreamWell && attempts >= Self.attemptsBeforeOthers ? .aside : .waiting, why)
        nextAttempt = OutboxBackoff.date(attempts: attempts, after: now, atLeast: pause, jitter)
        return .sleep
    }

    private mutating func unbegin() -> Effect {
        guard state == .running else { return .none }
        state = attempts == 0 && !isOutcomeUnknown ? .queued : .waiting
        nextAttempt = nil
        return .none
    }

    private mutating func retry() -> Effect {
        guard state != .running else { return .none }
        (state, reason, nextAttempt) = (.queued, nil, nil)
        return .none
    }
}

/// When an operation is tried again: after 5 seconds, then after twice as long each time, at most after an hour; not
/// before the upstream has asked for.
enum OutboxBackoff {
    private static let (first, longest, longestAsked) = (5.0, 3600.0, 86_400.0)

    /// Returns the time of the next attempt.
    static func date(attempts: Int, after now: Date, atLeast asked: Double?, _ jitter: Double) -> Date {
        let pause = min(longest, first * Double(1 << min(max(attempts - 1, 0), 20)))
        let asked = min(max(asked ?? 0, 0), longestAsked)
        return now.addingTimeInterval(max(pause * (1 + jitter / 4), asked))
    }
}

public import NIOCore

/// For how long a response is the one that would be made anew: until an instant, and until something changes that it
/// was made from.
///
/// To be taken before anything of the response is read, so that a change in between makes it invalid rather than
/// unseen.
public struct ChangeToken: Sendable {
    private struct Witness: Sendable {
        let stamp: VersionCounter
        let value: UInt64
    }

    /// The first instant at which it does not hold any more; nil if time alone does not end it. On the monotonic clock:
    /// who sets the wall clock does not prolong it.
    public private(set) var deadline: NIODeadline?
    /// How old the response is and gets meanwhile; nil for one without an upstream.
    public private(set) var age: RunningAge?
    private var witnesses: [Witness]
    private var uses: [AccessReporter] = []

    /// Holds until one of these is bumped, and until the deadline where there is one.
    public init(of stamps: VersionCounter..., until deadline: NIODeadline? = nil, age: RunningAge? = nil) {
        self.deadline = deadline
        self.age = age
        witnesses = stamps.map { Witness(stamp: $0, value: $0.value) }
    }

    /// Holds for the life of the process.
    public static let unlimited = ChangeToken()

    /// Holds while both do.
    public func and(_ other: ChangeToken) -> ChangeToken {
        var both = self
        both.deadline = [deadline, other.deadline].compactMap { $0 }.min()
        both.age = age ?? other.age
        both.witnesses += other.witnesses
        both.uses += other.uses
        return both
    }

    /// The same with an end and an age.
    public func ending(at deadline: NIODeadline?, age: RunningAge) -> ChangeToken {
        and(ChangeToken(until: deadline, age: age))
    }

    /// The same, with somebody who is told when a response that was kept is given again: what is stored and gives it is
    /// not idle.
    public func noting(_ uses: AccessReporter) -> ChangeToken {
        var noting = self
        noting.uses.append(uses)
        return noting
    }

    /// A response that was kept has been given again.
    public func noteUse(at now: NIODeadline) {
        for use in uses { use.note(at: now) }
    }

    /// Whether it still holds.
    public func holds(at now: NIODeadline) -> Bool {
        if let deadline, now >= deadline { return false }
        for witness in witnesses where witness.stamp.value != witness.value { return false }
        return true
    }
}

/// The age of a stored response while it is being given out again and again: what `Age` and the `ttl` of `Cache-Status`
/// say at any instant.
public struct RunningAge: Sendable, Equatable {
    private let instant: NIODeadline
    private let nanoseconds: Int64
    private let lifetime: Int

    /// An age of so many seconds at an instant; `timeToLive` is the remaining freshness in whole seconds at that
    /// instant, negative when stale.
    public init(seconds: Double, timeToLive: Int, at instant: NIODeadline) {
        self.instant = instant
        // Three hundred years are the most that the clock's unit can tell.
        nanoseconds = Int64(min(max(0, seconds), 9e9) * 1e9)
        lifetime = timeToLive + Int(nanoseconds / 1_000_000_000)
    }

    /// Whole seconds since the response was fetched or confirmed: `Age` (RFC 9111 §5.1).
    public func seconds(at now: NIODeadline) -> Int {
        let (sum, isBeyond) = nanoseconds.addingReportingOverflow((now - instant).nanoseconds)
        return isBeyond ? Int(Int64.max / 1_000_000_000) : max(0, Int(sum / 1_000_000_000))
    }

    /// Whole seconds of freshness that are left, negative when stale: `ttl` (RFC 9211 §2.4).
    public func timeToLive(at now: NIODeadline) -> Int { lifetime - seconds(at: now) }
}

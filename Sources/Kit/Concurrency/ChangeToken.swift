package import NIOCore

/// Says how long a response equals the one that would be rendered now: until a deadline, and until something changes
/// that it was rendered from.
///
/// It must be taken before anything of the response is read, so that a change in between invalidates it.
package struct ChangeToken: Sendable {
    private struct CounterValue: Sendable {
        let counter: VersionCounter
        let value: UInt64
    }

    /// The first instant at which it does not hold any more; nil if it does not expire. On the monotonic clock, so that
    /// setting the wall clock does not prolong it.
    package private(set) var deadline: NIODeadline?
    /// The age of the response at any instant; nil for one without an upstream.
    package private(set) var age: RunningAge?
    private var values: [CounterValue]
    private var uses: [AccessReporter] = []

    /// Creates a token that holds until one of the counters is bumped or the deadline is reached.
    package init(of counters: VersionCounter..., until deadline: NIODeadline? = nil, age: RunningAge? = nil) {
        self.deadline = deadline
        self.age = age
        values = counters.map { CounterValue(counter: $0, value: $0.value) }
    }

    /// A token that holds for the life of the process.
    package static let unlimited = ChangeToken()

    /// Returns a token that holds while both do.
    package func and(_ other: ChangeToken) -> ChangeToken {
        var both = self
        both.deadline = [deadline, other.deadline].compactMap { $0 }.min()
        both.age = age ?? other.age
        both.values += other.values
        both.uses += other.uses
        return both
    }

    /// Returns the token with a deadline and an age.
    package func ending(at deadline: NIODeadline?, age: RunningAge) -> ChangeToken {
        and(ChangeToken(until: deadline, age: age))
    }

    /// Returns the token with a reporter that is notified when the response is served again from memory: the stored
    /// response that it was rendered from is then in use.
    package func noting(_ uses: AccessReporter) -> ChangeToken {
        var noting = self
        noting.uses.append(uses)
        return noting
    }

    /// Reports that the response was served again from memory.
    package func noteUse(at now: NIODeadline) {
        for use in uses { use.note(at: now) }
    }

    /// Returns whether it still holds.
    package func holds(at now: NIODeadline) -> Bool {
        if let deadline, now >= deadline { return false }
        for value in values where value.counter.value != value.value { return false }
        return true
    }
}

extension ChangeToken {
    /// Whether it still holds now.
    package var holds: Bool { holds(at: .now()) }
}

/// The age of a stored response at any instant, for `Age` and for the `ttl` of `Cache-Status`.
package struct RunningAge: Sendable, Equatable {
    private let instant: NIODeadline
    private let nanoseconds: Int64
    private let lifetime: Int

    /// Creates an age.
    ///
    /// - Parameters:
    ///   - seconds: The age in seconds at `instant`.
    ///   - timeToLive: The remaining freshness in whole seconds at `instant`, negative if stale.
    ///   - instant: When both were true.
    package init(seconds: Double, timeToLive: Int, at instant: NIODeadline) {
        self.instant = instant
        // The clock's unit cannot express more than three hundred years.
        nanoseconds = Int64(min(max(0, seconds), 9e9) * 1e9)
        lifetime = timeToLive + Int(nanoseconds / 1_000_000_000)
    }

    /// Returns the whole seconds since the response was fetched or validated: `Age` (RFC 9111 §5.1).
    package func seconds(at now: NIODeadline) -> Int {
        let (sum, isBeyond) = nanoseconds.addingReportingOverflow((now - instant).nanoseconds)
        return isBeyond ? Int(Int64.max / 1_000_000_000) : max(0, Int(sum / 1_000_000_000))
    }

    /// Returns the remaining freshness in whole seconds, negative if stale: `ttl` (RFC 9211 §2.4).
    package func timeToLive(at now: NIODeadline) -> Int { lifetime - seconds(at: now) }
}

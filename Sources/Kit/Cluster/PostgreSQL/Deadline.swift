/// The end of the time that an operation has, connecting included.
struct Deadline {
    let instant: ContinuousClock.Instant
    /// Whether the operation has less than a time of its own: that it runs out says nothing of PostgreSQL.
    let isShortened: Bool

    init(after duration: Duration) {
        (instant, isShortened) = (.now + duration, false)
    }

    /// The end of an operation of the current task, which may be one of several that have their time together.
    init(of operation: Duration, _ options: SharedDatabaseOptions) {
        let end = ContinuousClock.now + operation
        // Those with a time of their own need it.
        instant = operation > options.timeout ? end : min(end, SharedDatabase.end ?? end)
        isShortened = instant < end
    }

    var isOver: Bool { instant <= .now }

    /// The remaining time in milliseconds, rounded up, as poll(2) takes it; 0 if the time is over.
    var milliseconds: Int32 {
        let left = ContinuousClock.now.duration(to: instant) / .milliseconds(1)
        return Int32(max(0, min(left.rounded(.up), 1e9)))
    }
}

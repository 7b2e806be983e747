import DequeModule

/// The latest events of each audience, for clients that reconnect with `Last-Event-ID`. Bounded; a value without locks
/// or clock.
///
/// Each audience has room of its own: one with many events pushes out none of another's. Only if all audiences together
/// have too many events, the oldest one of all is removed.
struct EventBacklog: Sendable {
    /// An event with its sequence number.
    struct Entry: Sendable, Equatable {
        let number: Int
        let event: ServerEvent
    }

    /// The events that a reconnecting client has missed.
    enum Missed: Equatable {
        case entries([Entry])
        /// More than is kept, or the identity is of another run of the server: the client has to request everything
        /// again.
        case unknown
    }

    /// The events of one audience.
    private struct Retained {
        var entries: Deque<Entry> = []
        /// Number of the newest event that is kept no more.
        var forgotten: Int
    }

    /// An event's position in the order of all.
    private struct Position {
        let number: Int
        let audience: ServerEvent.Audience
    }

    /// How many times the events of one audience all audiences may have together.
    static let share = 20
    /// Distinguishes the runs of a server: a number alone would mean something else after a restart.
    let run: String
    private let capacity: Int
    private var kept: [ServerEvent.Audience: Retained] = [:]
    /// The kept events from the oldest on, and some that went with the room of their audience.
    private var order: Deque<Position> = []
    /// Number of kept events.
    private(set) var count = 0
    private var lastNumber = 0
    /// Number of the newest event that is kept no more, among audiences that have none left.
    private var forgotten = 0

    /// - Parameter capacity: number of events that are kept of one audience
    init(run: String, capacity: Int) {
        self.run = run
        self.capacity = capacity
    }

    /// Appends an event, and removes the oldest if there are too many.
    mutating func append(_ event: ServerEvent) -> Entry {
        lastNumber += 1
        let entry = Entry(number: lastNumber, event: event)
        kept[event.audience, default: Retained(forgotten: forgotten)].entries.append(entry)
        order.append(Position(number: lastNumber, audience: event.audience))
        count += 1
        if kept[event.audience]?.entries.count ?? 0 > capacity { removeOldest(of: event.audience) }
        let most = Self.share * capacity
        while count > most, let oldest = order.popFirst() {
            if isKept(oldest) { removeOldest(of: oldest.audience) }
        }
        // Each position is looked at again once at most, since half of them go.
        if order.count > 2 * most { order = order.filter(isKept) }
        return entry
    }

    private func isKept(_ position: Position) -> Bool {
        kept[position.audience]?.entries.first.map { $0.number <= position.number } ?? false
    }

    private mutating func removeOldest(of audience: ServerEvent.Audience) {
        guard let oldest = kept[audience]?.entries.popFirst() else { return }
        count -= 1
        kept[audience]?.forgotten = oldest.number
        guard kept[audience]?.entries.isEmpty == true else { return }
        kept[audience] = nil
        forgotten = max(forgotten, oldest.number)
    }

    /// Returns the `id` field of an entry.
    func identity(of entry: Entry) -> String { "\(run)-\(entry.number)" }

    /// The identity of the newest event, from which a new client continues.
    var newestIdentity: String { "\(run)-\(lastNumber)" }

    /// Returns the events of some audiences after the one with this identity.
    ///
    /// - Parameter audiences: nil for all.
    func missed(since identity: String, of audiences: Set<ServerEvent.Audience>? = nil) -> Missed {
        let audiences = audiences ?? Set(kept.keys).union([.everyone])
        guard let dash = identity.lastIndex(of: "-"), identity[..<dash] == run,
            let number = Int(identity[identity.index(after: dash)...]),
            (0...lastNumber).contains(number),
            audiences.allSatisfy({ kept[$0]?.forgotten ?? forgotten <= number })
        else { return .unknown }
        let missed = audiences.flatMap { (kept[$0]?.entries ?? []).drop { $0.number <= number } }
        return .entries(missed.sorted { $0.number < $1.number })
    }
}

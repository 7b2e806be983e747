import DequeModule

/// The latest events, for clients that reconnect with `Last-Event-ID`. Bounded; a value without locks or clock.
struct EventBacklog: Sendable {
    /// An event with its sequence number.
    struct Entry: Sendable, Equatable {
        let number: Int
        let event: ServerEvent
    }

    /// What a reconnecting client has missed.
    enum Missed: Equatable {
        /// These events.
        case entries([Entry])
        /// More than is kept, or the identity is of another run of the server: the client has to request everything
        /// again.
        case unknown
    }

    /// Tells the runs of a server apart: a number alone would mean something else after a restart.
    let run: String
    private let capacity: Int
    private var entries: Deque<Entry> = []
    private var lastNumber = 0

    init(run: String, capacity: Int) {
        self.run = run
        self.capacity = capacity
    }

    /// Appends an event, and removes the oldest if there are too many.
    mutating func append(_ event: ServerEvent) -> Entry {
        lastNumber += 1
        let entry = Entry(number: lastNumber, event: event)
        entries.append(entry)
        if entries.count > capacity { entries.removeFirst() }
        return entry
    }

    /// Returns the `id` field of an entry.
    func identity(of entry: Entry) -> String { "\(run)-\(entry.number)" }

    /// The identity of the newest event, from which a new client continues.
    var newestIdentity: String { "\(run)-\(lastNumber)" }

    /// Returns the events after the one with this identity.
    func missed(since identity: String) -> Missed {
        guard let dash = identity.lastIndex(of: "-"), identity[..<dash] == run,
            let number = Int(identity[identity.index(after: dash)...]),
            (0...lastNumber).contains(number)
        else { return .unknown }
        let missed = Array(entries).filter { $0.number > number }
        guard missed.count == lastNumber - number else { return .unknown }
        return .entries(missed)
    }
}

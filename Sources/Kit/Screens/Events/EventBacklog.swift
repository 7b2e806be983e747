import DequeModule

/// The last events, for clients that come back with `Last-Event-ID`. Bounded; a value without locks or clock.
struct EventBacklog: Sendable {
    /// An event with its place in the order.
    struct Entry: Sendable, Equatable {
        let number: Int
        let event: ServerEvent
    }

    /// What a client that comes back has missed.
    enum Missed: Equatable {
        /// Exactly these.
        case entries([Entry])
        /// More than is kept, or the identity is of another run of the server: the client must ask for everything anew.
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

    /// Adds an event at the end, and drops the oldest one when there are too many.
    mutating func append(_ event: ServerEvent) -> Entry {
        lastNumber += 1
        let entry = Entry(number: lastNumber, event: event)
        entries.append(entry)
        if entries.count > capacity { entries.removeFirst() }
        return entry
    }

    /// The `id` field of an entry.
    func identity(of entry: Entry) -> String { "\(run)-\(entry.number)" }

    /// The identity of the newest event: where a new client begins.
    var newestIdentity: String { "\(run)-\(lastNumber)" }

    /// What came after the event of this identity.
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

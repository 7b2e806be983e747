public import Database
public import Foundation

/// A write that an outbox holds.
public struct OutboxEntry<Work: OutboxWork>: Sendable {
    /// Its number in the order of all operations of the table; 0 until it is stored.
    public internal(set) var number: Int64 = 0
    /// Its name in addresses.
    public let id: String
    /// The account that it belongs to.
    public let account: String
    /// What is to be done.
    public var work: Work
    /// How far that is.
    public var progress: OutboxProgress
    /// The bytes that it sends, if it has some.
    public var blob: Blob?
    /// When it was queued.
    public let queuedAt: Date

    /// Creates an operation that is not stored yet.
    public init(
        id: String,
        account: String,
        work: Work,
        progress: OutboxProgress = OutboxProgress(),
        blob: Blob? = nil,
        queuedAt: Date
    ) {
        self.id = id
        self.account = account
        self.work = work
        self.progress = progress
        self.blob = blob
        self.queuedAt = queuedAt
    }
}

/// A change of an outbox, for the transaction that makes it.
public enum OutboxChange<Work: OutboxWork>: Sendable {
    /// Adds an operation, or replaces it.
    case put(OutboxEntry<Work>)
    /// Removes an operation and its bytes.
    case remove(OutboxEntry<Work>)
}

/// The operations of one account that are not done, as they are in memory.
public struct OutboxQueue<Work: OutboxWork>: Sendable {
    /// The operations in order.
    public internal(set) var entries: [OutboxEntry<Work>] = []
    /// Is greater after each change.
    public internal(set) var version = 0
    /// Is greater after each change other than that operations were added at the end, or made progress.
    public internal(set) var structure = 0
    /// Bytes that the operations send.
    public private(set) var bytes = 0
    /// The operations that are being sent, or may have been carried out: the upstream may be ahead of the queue.
    public var unsettled: [OutboxEntry<Work>] { unsettledNumbers.sorted().map { entries[position(of: $0)] } }
    private var numbers: [String: Int64] = [:]
    private var unsettledNumbers: Set<Int64> = []

    /// Creates an empty queue.
    public init() {}

    /// Returns an operation; nil if none has this name.
    public subscript(id: String) -> OutboxEntry<Work>? { numbers[id].map { entries[position(of: $0)] } }

    mutating func apply(_ change: OutboxChange<Work>) {
        version += 1
        switch change {
        case .put(let entry) where entry.progress.state == .done: remove(entry)
        case .put(let entry):
            let position = position(of: entry.number)
            let isKnown = position < entries.count && entries[position].number == entry.number
            if isKnown {
                if entries[position].work != entry.work { structure += 1 }
                bytes -= entries[position].blob?.length ?? 0
                entries[position] = entry
            } else {
                if position < entries.count { structure += 1 }
                entries.insert(entry, at: position)
            }
            index(entry)
        case .remove(let entry): remove(entry)
        }
    }

    private mutating func remove(_ entry: OutboxEntry<Work>) {
        let position = position(of: entry.number)
        guard position < entries.count, entries[position].number == entry.number else { return }
        structure += 1
        bytes -= entries.remove(at: position).blob?.length ?? 0
        numbers[entry.id] = nil
        unsettledNumbers.remove(entry.number)
    }

    private mutating func index(_ entry: OutboxEntry<Work>) {
        bytes += entry.blob?.length ?? 0
        numbers[entry.id] = entry.number
        if entry.progress.isUnsettled {
            unsettledNumbers.insert(entry.number)
        } else {
            unsettledNumbers.remove(entry.number)
        }
    }

    /// Returns the position of the first operation with this number or a greater one.
    private func position(of number: Int64) -> Int {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].number < number { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

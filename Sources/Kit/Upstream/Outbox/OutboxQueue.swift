package import Foundation
package import Storage

/// A write that an app leaves in an outbox, as a value that can be stored.
package protocol OutboxWork: Codable, Sendable, Equatable {
    /// A resource that a write touches.
    associatedtype Path: OutboxPath
    /// The app's view of the writes that wait.
    associatedtype View: OutboxView where View.Work == Self

    /// The places that it touches. The order of two writes matters if a place of one is, contains or is in a place of
    /// the other.
    var places: [Path] { get }

    /// Returns the effect on an earlier write that touches the same places, if both have not been sent.
    func folding(_ earlier: Self) -> OutboxFold<Self>
}

extension OutboxWork {
    /// Whether the order of both matters.
    package func touches(_ other: Self) -> Bool {
        places.contains { one in
            other.places.contains { one == $0 || one.above.contains($0) || $0.above.contains(one) }
        }
    }
}

/// A write that an outbox holds.
package struct OutboxEntry<Work: OutboxWork>: Sendable {
    /// Its number in the order of all operations of the table; 0 until it is stored. Its journal gives it.
    package var number: Int64 = 0
    /// Its name in addresses.
    package let id: String
    package let account: String
    package var work: Work
    package var progress: OutboxProgress
    /// The bytes that it sends, if it has some.
    package var blob: Blob?
    package let queuedAt: Date

    /// Creates an operation that is not stored yet.
    package init(
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
package enum OutboxChange<Work: OutboxWork>: Sendable {
    /// Adds an operation, or replaces it.
    case put(OutboxEntry<Work>)
    /// Removes an operation and its bytes.
    case remove(OutboxEntry<Work>)
}

extension OutboxChange {
    package var entry: OutboxEntry<Work> {
        switch self {
        case .put(let entry), .remove(let entry): entry
        }
    }

    /// The operation that is there afterwards.
    package var put: OutboxEntry<Work>? { if case .put(let entry) = self { entry } else { nil } }
}

/// A value that an app derives from the operations of one account. It follows each change of them, within the lock of
/// the outbox: a copy is that of one moment, together with the queue that has it.
package protocol OutboxView: Sendable {
    associatedtype Work: OutboxWork

    /// Creates the view of no operations.
    init()

    /// Follows a change of one operation.
    mutating func follow(_ change: OutboxStep<Work>)
}

/// The effect of a later write on an earlier one.
package enum OutboxFold<Work: Sendable>: Sendable {
    /// Both remain unchanged, and no earlier write is examined.
    case stop
    /// The earlier one becomes another, or nothing if this is nil, and the writes before it are examined.
    ///
    /// - Parameter always: Whether this change holds even if no earlier write is merged.
    case pass(Work?, always: Bool)
    /// The earlier one becomes `earlier`, or nothing; the later one becomes `later`, or nothing.
    case merge(earlier: Work?, later: Work?)
}

/// The changes that a new write makes to the writes that wait.
package struct OutboxFolding<Work: OutboxWork>: Sendable {
    /// Positions of waiting writes with the writes that replace them; nil for those that are not needed any more.
    package private(set) var changes: [Int: Work?] = [:]
    /// The write to add at the end; nil if there is none.
    package private(set) var added: Work?
    /// The position of the waiting write that now includes the new one, if none is added.
    package private(set) var substitute: Int?

    /// Folds a new write into the waiting ones: pure, from the last to the first one. The upstream ends as if all had
    /// run in order, by fewer calls.
    ///
    /// - Parameters:
    ///   - waiting: The waiting writes that touch the same places, in order, and whether each has certainly not been
    ///     sent.
    package init<Waiting: BidirectionalCollection>(_ new: Work, onto waiting: Waiting)
    where Waiting.Element == (work: Work, isUnsent: Bool) {
        var provisional: [Int: Work?] = [:]
        added = new
        var position = waiting.count
        for (earlier, isUnsent) in waiting.reversed() {
            position -= 1
            guard isUnsent else { return }
            switch new.folding(earlier) {
            case .stop: return
            case .pass(let changed, let always):
                if always { changes[position] = .some(changed) } else { provisional[position] = .some(changed) }
            case .merge(let earlier, let later):
                changes.merge(provisional) { $1 }
                changes[position] = .some(earlier)
                added = later
                substitute = later == nil && earlier != nil ? position : nil
                return
            }
        }
    }
}

/// The unfinished operations of one account at one moment, in order. A copy costs nothing.
package struct OutboxQueue<Work: OutboxWork>: Sendable {
    package private(set) var entries = OutboxEntries<Work>()
    package private(set) var view = Work.View()
    /// Is greater after each change other than that operations were added at the end, or made progress.
    package internal(set) var structure = 0
    /// Bytes that the operations send.
    package private(set) var bytes = 0
    /// The operations that are being sent, or may have been carried out: the upstream may be ahead of the queue.
    package var unsettled: [OutboxEntry<Work>] { unsettledNumbers.sorted().compactMap { entries[number: $0] } }
    private var unsettledNumbers: Set<Int64> = []
    /// Number of operations that the user is notified of, because they are stuck or fail again and again.
    package private(set) var undecided = 0
    /// The operations that have no effect: ``view`` does not have them.
    private var suspended: Set<Int64> = []

    package init() {}

    /// Replaces an operation, adds or removes it.
    ///
    /// - Parameter order: The order of all operations after that.
    /// - Returns: The operation that was there.
    mutating func replace(_ number: Int64, by new: OutboxEntry<Work>?, _ order: OutboxOrder<Work.Path>)
        -> OutboxEntry<Work>?
    {
        let isLast = number > entries.last?.number ?? 0
        let old = entries.replace(number, by: new)
        bytes += (new?.blob?.length ?? 0) - (old?.blob?.length ?? 0)
        undecided += (new?.progress.needsDecision == true ? 1 : 0) - (old?.progress.needsDecision == true ? 1 : 0)
        if new?.progress.isUnsettled == true {
            unsettledNumbers.insert(number)
        } else {
            unsettledNumbers.remove(number)
        }
        show(number, old, new, isLast: isLast, order)
        return old
    }

    /// Returns how many operations there are after changes, and of how many of them the user is notified.
    package func counts(after changes: [OutboxChange<Work>]) -> (all: Int, undecided: Int) {
        changes.reduce((entries.count, undecided)) { counts, change in
            let old = entries[number: change.entry.number]
            let new = change.put.flatMap { $0.progress.state == .done ? nil : $0 }
            return (
                counts.0 + (new == nil ? 0 : 1) - (old == nil ? 0 : 1),
                counts.1 + (new?.progress.needsDecision == true ? 1 : 0) - (old?.progress.needsDecision == true ? 1 : 0)
            )
        }
    }

    /// Takes up in the view that an operation has an effect, or has none any more.
    mutating func refresh(_ number: Int64, _ order: OutboxOrder<Work.Path>) {
        let entry = entries[number: number]
        show(number, entry, entry, isLast: false, order)
    }

    private mutating func show(
        _ number: Int64,
        _ old: OutboxEntry<Work>?,
        _ new: OutboxEntry<Work>?,
        isLast: Bool,
        _ order: OutboxOrder<Work.Path>
    ) {
        let old = suspended.contains(number) ? nil : old
        let new = order.isSuspended(number) ? nil : new
        if order.isSuspended(number) { suspended.insert(number) } else { suspended.remove(number) }
        guard old?.work != new?.work else { return }
        if !isLast { structure += 1 }
        view.follow(OutboxStep(old: old, new: new, isLast: isLast, entries: entries, order: order))
    }
}

/// A change of one operation, and the operations around it after that. Those that have no effect are left out.
package struct OutboxStep<Work: OutboxWork>: Sendable {
    /// The operation before the change; nil if it is new, or had no effect.
    package let old: OutboxEntry<Work>?
    /// The operation after the change; nil if it is removed, or has no effect.
    package let new: OutboxEntry<Work>?
    /// Whether it is added after all others.
    package let isLast: Bool
    let entries: OutboxEntries<Work>
    let order: OutboxOrder<Work.Path>

    /// Returns an operation; nil if it is not there any more.
    package func entry(_ number: Int64) -> OutboxEntry<Work>? { entries[number: number] }

    /// Returns the operations that touch a place, or one below it.
    package func inside(_ place: Work.Path) -> [OutboxEntry<Work>] { effective(order.inside(place)) }

    /// Returns the operations that touch a place above one.
    package func above(_ place: Work.Path) -> [OutboxEntry<Work>] { effective(order.above(place)) }

    private func effective(_ numbers: Set<Int64>) -> [OutboxEntry<Work>] {
        numbers.compactMap { order.isSuspended($0) ? nil : entries[number: $0] }
    }
}

/// Operations in order, found by their numbers. They are references, so that a change of a shared copy is cheap.
package struct OutboxEntries<Work: OutboxWork>: RandomAccessCollection, Sendable {
    private final class Record: Sendable {
        let entry: OutboxEntry<Work>

        init(_ entry: OutboxEntry<Work>) { self.entry = entry }
    }

    private var records: ContiguousArray<Record> = []

    /// The position of the first operation.
    package var startIndex: Int { 0 }
    /// The position after the last operation.
    package var endIndex: Int { records.count }
    package subscript(position: Int) -> OutboxEntry<Work> { records[position].entry }

    /// Returns the operation with a number; nil if it is not there.
    package subscript(number number: Int64) -> OutboxEntry<Work>? {
        let position = position(of: number)
        guard position < records.count, records[position].entry.number == number else { return nil }
        return records[position].entry
    }

    /// Returns the position of the first operation with this number or a greater one.
    package func position(of number: Int64) -> Int {
        if let last = records.last, last.entry.number < number { return records.count }
        var (low, high) = (0, records.count)
        while low < high {
            let middle = (low + high) / 2
            if records[middle].entry.number < number { low = middle + 1 } else { high = middle }
        }
        return low
    }

    mutating func replace(_ number: Int64, by new: OutboxEntry<Work>?) -> OutboxEntry<Work>? {
        let position = position(of: number)
        let old = self[number: number]
        switch (old, new) {
        case (nil, nil): break
        case (nil, let new?): records.insert(Record(new), at: position)
        case (_, nil): records.remove(at: position)
        case (_, let new?): records[position] = Record(new)
        }
        return old
    }
}

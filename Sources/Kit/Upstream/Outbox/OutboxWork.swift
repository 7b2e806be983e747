/// A write that an app leaves in an outbox, as a value that can be stored.
package protocol OutboxWork: Codable, Sendable, Equatable {
    /// A resource that a write touches.
    associatedtype Place: OutboxPath
    /// The app's view of the writes that wait.
    associatedtype View: OutboxView where View.Work == Self

    /// The places that it touches. The order of two writes matters if a place of one is, contains or is in a place of
    /// the other.
    var places: [Place] { get }

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
    /// Both stay unchanged, and no earlier write is looked at.
    case stop
    /// The earlier one becomes another, or nothing if this is nil, and the writes before it are looked at.
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
    ///   - new: The new write.
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

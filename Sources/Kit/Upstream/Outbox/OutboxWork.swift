/// What an app leaves in an outbox: one write, as a value that can be stored.
public protocol OutboxWork: Codable, Sendable, Equatable {
    /// Whether the order of both matters: one of them touches what the other touches.
    func concerns(_ other: Self) -> Bool

    /// Says what becomes of an earlier write that this one concerns, if both have not been sent.
    func folding(_ earlier: Self) -> OutboxFold<Self>
}

/// What becomes of an earlier write when a later one comes.
public enum OutboxFold<Work: Sendable>: Sendable {
    /// Both stay as they are, and nothing before is looked at.
    case stop
    /// The earlier one becomes another, or nothing if this is nil, and what is before it is looked at.
    ///
    /// - Parameter always: Whether that leads to the same end without a merge further before.
    case pass(Work?, always: Bool)
    /// The earlier one becomes `earlier`, or nothing; the later one becomes `later`, or nothing.
    case merge(earlier: Work?, later: Work?)
}

/// What a new write changes in the writes that wait.
public struct OutboxFolding<Work: OutboxWork>: Sendable {
    /// Positions of waiting writes, and what they become; nil for those that are not needed any more.
    public private(set) var changes: [Int: Work?] = [:]
    /// What is added at the end; nil if nothing is.
    public private(set) var added: Work?
    /// The position of the waiting write that does now what the new one asked for, if nothing is added.
    public private(set) var substitute: Int?

    /// Folds a new write into the waiting ones: pure, from the last to the first one that it concerns. The upstream
    /// ends as if all had run in order, by fewer calls.
    ///
    /// - Parameters:
    ///   - new: The new write.
    ///   - waiting: The waiting writes in order, and whether each has certainly not been sent.
    public init<Waiting: BidirectionalCollection>(_ new: Work, onto waiting: Waiting)
    where Waiting.Element == (work: Work, isUnsent: Bool) {
        var provisional: [Int: Work?] = [:]
        added = new
        var position = waiting.count
        for (earlier, isUnsent) in waiting.reversed() {
            position -= 1
            guard new.concerns(earlier) else { continue }
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

/// Says whose turn it is: `operations in order -> the next one`.
public enum OutboxOrder {
    /// Returns the position of the operation that may run now; nil if none may.
    ///
    /// Operations run one at a time in their order. One that the user has to decide about holds up those that concern
    /// it, and those that concern these; the others go on.
    ///
    /// - Parameters:
    ///   - operations: The operations that are not done, in order.
    ///   - isDue: Whether the time of an operation has come.
    public static func next<Work: OutboxWork>(
        _ operations: some RandomAccessCollection<(work: Work, progress: OutboxProgress)>,
        isDue: (OutboxProgress) -> Bool
    ) -> Int? {
        var held: [Work] = []
        for (position, operation) in operations.enumerated() {
            if operation.progress.state == .running { return nil }
            if operation.progress.isStuck || held.contains(where: { operation.work.concerns($0) }) {
                held.append(operation.work)
                continue
            }
            // What waits for its time lets nothing pass: the upstream has asked for the pause.
            return isDue(operation.progress) ? position : nil
        }
        return nil
    }
}

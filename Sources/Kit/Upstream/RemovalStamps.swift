import NIOCore
import Storage

/// Stamps of stored answers, bumped when one is removed. An answer made from one that was evicted, purged or wiped must
/// not outlive it.
struct RemovalStamps: Sendable {
    private let all = ChangeStamp()
    private let each = ChangeStamps()

    /// An answer was removed.
    func removed(_ id: StoredAnswer.ID) {
        // In this order: a reader who took the stamp of the one after its bump sees that of all bumped as well.
        all.bump()
        each[id].bump()
    }

    /// To be taken before a stored answer is looked for: which one it will be is not known then.
    func beforeLooking() -> Validity { Validity(of: all) }

    /// Holds for as long as the answer that was found is stored; nil where one was removed since `before`, and it may
    /// have been this one.
    func validity(of id: StoredAnswer.ID, since before: Validity) -> Validity? {
        let validity = Validity(of: each[id])
        return before.holds(at: .distantPast) ? validity : nil
    }
}

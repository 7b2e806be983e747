import Synchronization

// Memory of a journal that several servers share. Each change of an account's operations has the turn of the account,
// and a greater number than the one before: memory is that of the journal as long as it has the latest number.
extension Outbox {
    /// Returns the number of the latest change of an account that memory has; nil if it has to be read again.
    public func change(of account: String) -> Int64? { states.withLock { $0[account]?.change } }

    /// Takes over the operations of an account as they were read, with the number of the latest change.
    ///
    /// - Parameter seen: ``change(of:)`` before they were read; what memory has learned since is not replaced by
    ///   something older.
    /// - Returns: Whether they were taken over.
    @discardableResult
    public func replace(_ entries: [OutboxEntry<Work>], of account: String, change: Int64, seen: Int64?) -> Bool {
        var read = OutboxAccount<Work>()
        for entry in entries { read.apply(.put(entry)) }
        read.change = change
        let isReplaced = states.withLock { states in
            let present = states[account]
            guard present?.change == seen || present?.change ?? 0 < change else { return false }
            read.queue.structure = (present?.queue.structure ?? 0) + 1
            states[account] = read
            return true
        }
        if isReplaced { tell(account) }
        return isReplaced
    }

    /// Follows changes that were committed. If memory has not the change before, it has to be read again.
    ///
    /// - Parameters:
    ///   - before: The number of the change before.
    ///   - change: The number of this one.
    public func follow(_ changes: [OutboxChange<Work>], of account: String, after before: Int64, change: Int64) {
        states.withLock { states in
            var state = states[account] ?? OutboxAccount()
            if state.change == before {
                for change in changes { state.apply(change) }
                state.change = change
            } else if state.change ?? 0 < change {
                state.change = nil
            }
            states[account] = state
        }
        tell(account)
    }
}

extension PostgresConnection {
    /// The value that a change returned, and the messages to send after its commit.
    struct Change<Value> {
        let value: Value
        let messages: [String]
    }

    /// Reads one state of the database.
    ///
    /// - Throws: ``SharedStoreError``, errors of `value`.
    func read<Value>(_ value: (SQLTransaction) throws -> Value) throws -> Value {
        let transaction = SQLTransaction(self)
        do {
            try run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            let value = try value(transaction)
            endReading()
            return value
        } catch {
            endReading()
            throw (error as? ConnectionFailure)?.error ?? error
        }
    }

    /// Changes the database in one transaction, and repeats it if others came in between.
    ///
    /// - Throws: ``SharedStoreError``, errors of `updates`.
    func write<Value>(_ plan: TransactionPlan, _ updates: (SQLTransaction) throws -> Value) throws -> Change<Value> {
        for _ in 0..<TransactionPlan.mostAttempts {
            if let change = try attempt(plan, updates) { return change }
        }
        throw SharedStoreError.unavailable(.contended)
    }

    /// Runs a change once.
    ///
    /// - Returns: nil if it has to be repeated.
    private func attempt<Value>(
        _ plan: TransactionPlan,
        _ updates: (SQLTransaction) throws -> Value
    ) throws -> Change<Value>? {
        try begin(plan)
        let transaction = SQLTransaction(self)
        do {
            // In one order, so that two changes do not wait for each other.
            for lock in plan.locks.sorted() { _ = try transaction.rows(TransactionPlan.lock, [lock]) }
            let value = try updates(transaction)
            if let failure = transaction.failure { throw failure }
            guard try commit(within: plan.standardTimeout) else { return nil }
            return Change(value: value, messages: transaction.messages)
        } catch SharedStoreError.outcomeUnknown {
            throw SharedStoreError.outcomeUnknown
        } catch {
            rollBack()
            if transaction.failure?.meaning == .conflict { return nil }
            throw (error as? ConnectionFailure)?.error ?? error
        }
    }

    private func begin(_ plan: TransactionPlan) throws {
        do {
            try run(plan.beginning)
        } catch ConnectionFailure.server {
            // A standby, as the server of an open connection is after a failover.
            retire()
            throw SharedStoreError.unavailable(.notAccepting)
        } catch let failure as ConnectionFailure {
            throw failure.error
        }
    }

    /// Commits. It has the whole time of an operation again: a late response is better than an unknown one.
    ///
    /// - Returns: false if the transaction was rolled back and has to be repeated.
    /// - Throws: ``SharedStoreError/outcomeUnknown``, ``ConnectionFailure`` if it was surely rolled back.
    private func commit(within timeout: Duration) throws -> Bool {
        deadline = Deadline(after: timeout)
        let remarks = remarkCount
        do {
            let command = try run("COMMIT").command
            guard command == "COMMIT" else { throw ConnectionFailure.server(ServerError(code: "25P02")) }
        } catch ConnectionFailure.server(let error) where error.precedesCommit || error.code == "25P02" {
            if error.meaning == .conflict { return false }
            throw ConnectionFailure.server(error)
        } catch is ConnectionFailure {
            retire()
            throw SharedStoreError.outcomeUnknown
        }
        // The only remark here: the commit is on this server's disk, but a standby has not confirmed it.
        guard remarkCount == remarks else { throw SharedStoreError.outcomeUnknown }
        return true
    }

    /// Ends a transaction that made no change. If that fails, the connection is closed, which ends it as well.
    private func endReading() {
        guard !isBroken else { return }
        do { try run("COMMIT") } catch { retire() }
    }

    private func rollBack() {
        guard !isBroken else { return }
        do { try run("ROLLBACK") } catch { retire() }
    }
}

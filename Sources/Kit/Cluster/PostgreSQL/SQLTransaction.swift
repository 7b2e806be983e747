/// A transaction that is under way. It is valid until the closure that received it returns.
package final class SQLTransaction {
    let connection: PostgresConnection
    /// The first failure. PostgreSQL rejects every later statement of the transaction.
    private(set) var failure: ConnectionFailure?
    /// Messages to the other servers, sent after the commit.
    private(set) var messages: [String] = []

    init(_ connection: PostgresConnection) {
        self.connection = connection
    }

    /// Runs a statement that responds with rows.
    ///
    /// - Parameters:
    ///   - sql: the text, a constant of the program: `$1` is the first parameter.
    package func rows(_ sql: String, _ parameters: [any SQLParameter] = []) throws -> [SQLRow] {
        try run(sql, parameters).rows
    }

    /// Runs a statement that responds with a row in any case.
    func row(_ sql: String, _ parameters: [any SQLParameter] = []) throws -> SQLRow {
        guard let row = try rows(sql, parameters).first else { throw ClusterError.noSuchColumn("* of \(sql)") }
        return row
    }

    /// Runs a statement that changes rows.
    ///
    /// - Returns: how many were changed.
    @discardableResult
    package func execute(_ sql: String, _ parameters: [any SQLParameter] = []) throws -> Int {
        try run(sql, parameters).changedRows
    }

    /// Runs a script of several statements without parameters.
    func execute(script: String) throws {
        _ = try reporting { try connection.run(script) }
    }

    /// Sends a message to all listening servers after the commit, this one included; none if the transaction
    /// fails. A message is lost if the connection is at that moment: a ``ChangeListener`` cannot be the only way to
    /// learn of changes.
    ///
    /// - Parameter message: at most 7,999 bytes.
    package func notify(_ message: String) {
        messages.append(message)
    }

    private func run(_ sql: String, _ parameters: [any SQLParameter]) throws -> PostgresResult {
        try reporting { try connection.run(sql, parameters) }
    }

    private func reporting(_ body: () throws -> PostgresResult) throws -> PostgresResult {
        do {
            return try body()
        } catch let error as ConnectionFailure {
            failure = failure ?? error
            throw error.error
        }
    }
}

/// How a transaction is run.
struct TransactionPlan: Sendable {
    /// Names of rows that the transaction has for itself, chosen by the callers.
    let locks: [String]
    /// The time that it has, without its commit.
    let timeout: Duration
    /// The time of the connection's statements if nothing else is said.
    let standardTimeout: Duration

    /// The most times that a change is run if others are committed first.
    static let mostAttempts = 8

    /// Begins a change.
    ///
    /// One with locks sees all commits from before it got them. Any other is equivalent to some order one after the
    /// other, or is repeated.
    var beginning: String {
        "BEGIN ISOLATION LEVEL \(locks.isEmpty ? "SERIALIZABLE" : "READ COMMITTED") READ WRITE" + limits
    }

    private var limits: String {
        guard timeout != standardTimeout else { return "" }
        let milliseconds = Int(timeout / .milliseconds(1))
        return "; SET LOCAL statement_timeout = \(milliseconds)"
            + "; SET LOCAL idle_in_transaction_session_timeout = \(milliseconds)"
    }

    /// Waits for a lock, and holds it until the end of the transaction.
    static let lock = "SELECT 1 AS lock FROM pg_advisory_xact_lock(hashtextextended($1, 0))"
}

extension PostgresConnection {
    /// The value that a change returned, and the messages to send after its commit.
    typealias Change<Value> = (value: Value, messages: [String])

    /// Reads one state of the database.
    ///
    /// - Throws: ``ClusterError``, errors of `value`.
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

    /// Changes the database in one transaction, and repeats it if others were committed first.
    ///
    /// - Throws: ``ClusterError``, errors of `updates`.
    func write<Value>(_ plan: TransactionPlan, _ updates: (SQLTransaction) throws -> Value) throws -> Change<Value> {
        for _ in 0..<TransactionPlan.mostAttempts {
            if let change = try attempt(plan, updates) { return change }
        }
        throw ClusterError.unavailable(.contended)
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
            return (value, transaction.messages)
        } catch ClusterError.outcomeUnknown {
            throw ClusterError.outcomeUnknown
        } catch {
            rollBack()
            if transaction.failure?.error == .unavailable(.contended) { return nil }
            throw (error as? ConnectionFailure)?.error ?? error
        }
    }

    private func begin(_ plan: TransactionPlan) throws {
        do {
            try run(plan.beginning)
        } catch ConnectionFailure.server {
            // A standby, as the server of an open connection is after a failover.
            retire()
            throw ClusterError.unavailable(.notAccepting)
        } catch let failure as ConnectionFailure {
            throw failure.error
        }
    }

    /// Commits. It has the whole time of an operation again: a late response is better than an unknown one.
    ///
    /// - Returns: false if the transaction was rolled back and has to be repeated.
    /// - Throws: ``ClusterError/outcomeUnknown``, ``ConnectionFailure`` if it was surely rolled back.
    private func commit(within timeout: Duration) throws -> Bool {
        deadline = Deadline(after: timeout)
        let remarks = remarkCount
        do {
            let command = try run("COMMIT").command
            guard command == "COMMIT" else { throw ConnectionFailure.server(ServerError(code: "25P02")) }
        } catch ConnectionFailure.server(let error) where error.precedesCommit || error.code == "25P02" {
            if error.meaning == .unavailable(.contended) { return false }
            throw ConnectionFailure.server(error)
        } catch is ConnectionFailure {
            retire()
            throw ClusterError.outcomeUnknown
        }
        // The only remark here: the commit is on this server's disk, but a standby has not confirmed it.
        guard remarkCount == remarks else { throw ClusterError.outcomeUnknown }
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

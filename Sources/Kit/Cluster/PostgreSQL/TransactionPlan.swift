/// How a transaction is run.
struct TransactionPlan: Sendable {
    /// Names of rows that the transaction has for itself, chosen by the callers.
    var locks: [String] = []
    /// The time that it has, without its commit.
    var timeout: Duration
    /// The time of the connection's statements if nothing else is said.
    let standardTimeout: Duration

    /// The most times that a change is run if others come in between.
    static let mostAttempts = 8

    init(_ options: SharedDatabaseOptions, locks: [String] = []) {
        self.locks = locks
        timeout = options.timeout
        standardTimeout = options.timeout
    }

    /// Begins a change.
    ///
    /// One that waits for turns sees all commits from before its turn. Any other is equivalent to some order one after
    /// the other, or is repeated.
    var beginning: String {
        "BEGIN ISOLATION LEVEL \(locks.isEmpty ? "SERIALIZABLE" : "READ COMMITTED") READ WRITE" + limits
    }

    private var limits: String {
        guard timeout != standardTimeout else { return "" }
        let milliseconds = Int(timeout / .milliseconds(1))
        return "; SET LOCAL statement_timeout = \(milliseconds)"
            + "; SET LOCAL idle_in_transaction_session_timeout = \(milliseconds)"
    }

    /// Waits until no other transaction has the turn, and has it until the end.
    static let lock = "SELECT 1 AS lock FROM pg_advisory_xact_lock(hashtextextended($1, 0))"
}

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
    ///   - parameters: the values.
    /// - Throws: ``SharedStoreError``.
    package func rows(_ sql: String, _ parameters: [any SQLParameter] = []) throws -> SQLRows {
        SQLRows(try run(sql, parameters))
    }

    /// Runs a statement that changes rows.
    ///
    /// - Returns: how many were changed.
    /// - Throws: ``SharedStoreError``.
    @discardableResult
    package func execute(_ sql: String, _ parameters: [any SQLParameter] = []) throws -> Int {
        try run(sql, parameters).changedRows
    }

    /// Runs a script of several statements without parameters.
    ///
    /// - Throws: ``SharedStoreError``.
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

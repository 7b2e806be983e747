package import Storage
import Synchronization

/// The statements that a database has run, for tests that count them.
package final class StatementLog: Sendable {
    /// The number of transactions and statements that were run.
    package struct Count: Sendable, Equatable {
        /// Transactions, of reads and writes.
        package var transactions: Int
        /// Statements other than those that begin and end transactions, and those that triggers and virtual tables run
        /// within one.
        package var statements: Int
        /// Statements that triggers and virtual tables run within one, such as those of a search in an index.
        package var inner: Int

        /// Describes the expected transactions and statements.
        package init(transactions: Int, statements: Int, inner: Int = 0) {
            (self.transactions, self.statements, self.inner) = (transactions, statements, inner)
        }

        /// Counts SQL in the order in which it was run.
        package init(of ran: [String]) {
            let transactions = ran.count { $0.hasPrefix("BEGIN") }
            let ends = ran.count { $0.hasPrefix("COMMIT") }
            let inner = ran.count { $0.hasPrefix("--") }
            self.init(transactions: transactions, statements: ran.count - transactions - ends - inner, inner: inner)
        }
    }

    private let log = Mutex<[String]>([])

    /// Creates an empty log.
    package init() {}

    /// Options of a database that writes to this log.
    package var options: DatabaseOptions {
        var options = DatabaseOptions()
        options.trace = trace
        return options
    }

    /// Adds SQL to this log.
    package var trace: @Sendable (String) -> Void { { [self] sql in log.withLock { $0.append(sql) } } }

    /// Returns the SQL that is run during some work, in order.
    package func statements(of work: () async throws -> Void) async rethrows -> [String] {
        log.withLock { $0 = [] }
        try await work()
        return log.withLock(\.self)
    }

    /// Returns the statements that read the content of a screen, without those that look up the session, and those by
    /// which a server follows others.
    package static func ofScreen(_ ran: [String]) -> [String] {
        ran.filter { sql in ["SELECT", "WITH"].contains(where: sql.hasPrefix) }
            .filter { sql in !["journal_", "session", "removed_blob"].contains(where: sql.contains) }
    }

    /// Counts the SQL that is run during some work.
    package func count(_ work: () async throws -> Void) async rethrows -> Count {
        Count(of: try await statements(of: work))
    }

    /// Counts the statements of the longest transaction that is run during some work, without those of triggers: for
    /// so long other writers wait.
    package func longestTransaction(_ work: () async throws -> Void) async rethrows -> Int {
        let ran = try await statements(of: work).filter { !$0.hasPrefix("--") }
        return ran.split { $0.hasPrefix("BEGIN") || $0.hasPrefix("COMMIT") }.map(\.count).max() ?? 0
    }
}

extension [String] {
    /// Returns how many of these statements read a table.
    package func reads(of table: String) -> Int {
        count { statement in
            guard statement.hasPrefix("SELECT") else { return false }
            let words = statement.split { $0.isWhitespace || $0 == "," || $0 == "(" || $0 == ")" }
            return zip(words, words.dropFirst()).contains { ["FROM", "JOIN"].contains($0) && $1 == table }
        }
    }
}

public import Database
import Foundation
import GRDB

/// The statements that a piece of work lets SQLite execute.
public struct StatementLog: Sendable, CustomStringConvertible {
    /// The options of a database whose statements are recorded: all reads use one connection.
    public static let options = DatabaseOptions(maximumReaderCount: 1)

    /// Their SQL, in order.
    public let statements: [String]

    /// Runs `body` and records its statements.
    ///
    /// - Parameter database: A database with ``options``.
    /// - Throws: `DatabaseError`; what `body` throws.
    public init(of database: LarderDatabase, _ body: () async throws -> Void) async throws {
        let recorded = Watched<[String]>([])
        let record = { @Sendable (event: GRDB.Database.TraceEvent) in
            if case .statement(let statement) = event { recorded.update { $0.append(statement.sql) } }
        }
        try await database.pool.read { $0.trace(options: .statement, record) }
        try await database.pool.writeWithoutTransaction { $0.trace(options: .statement, record) }
        try await body()
        try await database.pool.read { $0.trace(options: []) }
        try await database.pool.writeWithoutTransaction { $0.trace(options: []) }
        statements = recorded.value
    }

    /// Returns how many statements read a table.
    public func reads(of table: String) -> Int {
        statements.count { statement in
            guard statement.hasPrefix("SELECT") else { return false }
            let words = statement.split { $0.isWhitespace || $0 == "," || $0 == "(" || $0 == ")" }
            return zip(words, words.dropFirst()).contains { ["FROM", "JOIN"].contains($0) && $1 == table }
        }
    }

    /// The statements, one a line.
    public var description: String { statements.joined(separator: "\n") }
}

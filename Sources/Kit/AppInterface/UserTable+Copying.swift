import Foundation
public import GRDB
public import SharedStore

extension UserTable {
    /// A difference between two tables that should be equal.
    public struct Difference: Error, CustomStringConvertible {
        let table: String

        /// One line for people.
        public var description: String { "The table \(table) is not the same in both after the copy." }
    }

    /// The name in both.
    public var title: String { name }

    /// Whether an empty store has no row of it.
    public var beginsEmpty: Bool { !isReplaced }

    /// Returns the number of rows in the server's own database.
    ///
    /// - Throws: GRDB's errors.
    public func count(in db: Database) throws -> Int {
        try Int.fetchOne(db, sql: "SELECT count(*) FROM \(name)") ?? 0
    }

    /// Returns the number of rows in the shared store.
    ///
    /// - Throws: `SharedStoreError`.
    public func count(in transaction: SQLTransaction) throws -> Int {
        try transaction.rows("SELECT count(*) AS count FROM \(name)").first?.value("count") ?? 0
    }

    /// Copies the rows to the shared store.
    ///
    /// - Throws: GRDB's errors, `SharedStoreError`.
    public func copy(from db: Database, to transaction: SQLTransaction) throws {
        if isReplaced { try transaction.execute("DELETE FROM \(name)") }
        if copied > 0 {
            let places = (1...copied).map { "$\($0)" }.joined(separator: ", ")
            let insert = "INSERT INTO \(name) (\(copiedNames)) VALUES (\(places))"
            let rows = try localRows(db)
            while let row = try rows.next().map(row(local:)) {
                if let insertShared {
                    try insertShared(row, transaction)
                } else {
                    try transaction.execute(insert, columns.prefix(copied).map { parameter(row, $0.name, $0.kind) })
                }
            }
        }
        guard let identity else { return }
        let last = try Int64.fetchOne(db, sql: "SELECT seq FROM sqlite_sequence WHERE name = ?", arguments: [name])
        guard let last, last > 0 else { return }
        let set = "SELECT setval(pg_get_serial_sequence('\(name)', '\(identity)'), $1) AS last"
        _ = try transaction.rows(set, [last])
    }

    /// Copies the rows to the server's own database.
    ///
    /// - Throws: GRDB's errors, `SharedStoreError`.
    public func copy(from transaction: SQLTransaction, to db: Database) throws {
        if isReplaced { try db.execute(sql: "DELETE FROM \(name)") }
        if copied > 0 {
            let places = (0..<copied).map { _ in "?" }.joined(separator: ", ")
            let insert = try db.makeStatement(sql: "INSERT INTO \(name) (\(copiedNames)) VALUES (\(places))")
            try forEachShared(transaction) { row in
                if let insertLocal { return try insertLocal(row, db) }
                let values = columns.prefix(copied).map { row.values[$0.name]?.databaseValue ?? .null }
                try insert.execute(arguments: StatementArguments(values))
            }
        }
        guard let identity else { return }
        let sequence = "pg_get_serial_sequence('\(name)', '\(identity)')::regclass"
        let get = "SELECT pg_sequence_last_value(\(sequence)) AS last"
        let last: Int64? = try transaction.rows(get).first?.value("last")
        guard let last else { return }
        try db.execute(sql: "DELETE FROM sqlite_sequence WHERE name = ?", arguments: [name])
        try db.execute(sql: "INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", arguments: [name, last])
    }

    /// Runs what the shared store needs after all tables of an app were copied to it.
    ///
    /// - Throws: `SharedStoreError`.
    public func complete(_ transaction: SQLTransaction) throws {
        for statement in completion { try transaction.execute(statement) }
    }

    /// Compares all rows.
    ///
    /// - Throws: ``Difference``; GRDB's errors, `SharedStoreError`.
    public func compare(_ db: Database, _ transaction: SQLTransaction) throws {
        let rows = try localRows(db)
        try forEachShared(transaction) { shared in
            guard try rows.next().map(row(local:)) == shared else { throw Difference(table: name) }
        }
        guard try rows.next() == nil else { throw Difference(table: name) }
    }

    // MARK: Rows

    private var copiedNames: String { columns.prefix(copied).map(\.name).joined(separator: ", ") }
    private var allNames: String { columns.map(\.name).joined(separator: ", ") }
    /// Rows that are in memory at a time.
    private static let batch = 200

    private func localRows(_ db: Database) throws -> RowCursor {
        let order = key.joined(separator: ", ")
        return try Row.fetchCursor(db, sql: "SELECT \(allNames) FROM \(name) ORDER BY \(order)")
    }

    private func row(local: Row) throws -> UserRow {
        var row = UserRow()
        for (index, column) in columns.enumerated() {
            let value = local[index] as DatabaseValue
            row.values[column.name] =
                switch value.storage {
                case .null: .null
                // An integer in a column of real numbers.
                case .int64(let number) where column.kind == .real: .real(Double(number))
                case .int64(let number): .integer(number)
                case .double(let number): .real(number)
                case .string(let text): .text(text)
                case .blob(let bytes): .bytes(bytes)
                }
        }
        return row
    }

    private func forEachShared(_ transaction: SQLTransaction, _ body: (UserRow) throws -> Void) throws {
        let isText = Set(columns.filter { $0.kind == .text }.map(\.name))
        let order = key.map { isText.contains($0) ? "\($0) COLLATE \"C\"" : $0 }.joined(separator: ", ")
        let cursor = "copy_of_\(name)"
        try transaction.execute(
            "DECLARE \(cursor) NO SCROLL CURSOR FOR SELECT \(allNames) FROM \(name) ORDER BY \(order)"
        )
        while case let rows = try transaction.rows("FETCH \(Self.batch) FROM \(cursor)"), rows.count > 0 {
            for row in try rows.map(row(shared:)) { try body(row) }
        }
        try transaction.execute("CLOSE \(cursor)")
    }

    private func row(shared: SQLRow) throws -> UserRow {
        var row = UserRow()
        for (column, kind) in columns {
            let value: UserRow.Value? =
                switch kind {
                case .integer: (try shared.value(column) as Int64?).map { .integer($0) }
                case .real: (try shared.value(column) as Double?).map { .real($0) }
                case .text: (try shared.value(column) as String?).map { .text($0) }
                case .bytes: (try shared.value(column) as Data?).map { .bytes($0) }
                case .boolean: (try shared.value(column) as Bool?).map { .integer($0 ? 1 : 0) }
                }
            row.values[column] = value ?? .null
        }
        return row
    }

    private func parameter(_ row: UserRow, _ column: String, _ kind: Kind) -> any SQLParameter {
        let value = row.values[column] ?? .null
        switch kind {
        case .integer: return if case .integer(let number) = value { number } else { Int64?.none }
        case .real: return if case .real(let number) = value { number } else { Double?.none }
        case .text: return if case .text(let text) = value { text } else { String?.none }
        case .bytes: return if case .bytes(let bytes) = value { bytes } else { Data?.none }
        case .boolean: return if case .integer(let number) = value { number != 0 } else { Bool?.none }
        }
    }
}

extension UserRow.Value {
    fileprivate var databaseValue: DatabaseValue {
        switch self {
        case .null: .null
        case .integer(let number): number.databaseValue
        case .real(let number): number.databaseValue
        case .text(let text): text.databaseValue
        case .bytes(let bytes): bytes.databaseValue
        }
    }
}

import Database
import Foundation
package import GRDB
package import SharedStore

extension UserTable {
    /// A difference between two tables that should be equal.
    struct Difference: Error, CustomStringConvertible {
        let table: String

        /// One sentence for operators.
        var description: String { "The table \(table) is not the same in both stores." }
    }

    /// Whether a new store has no row of it.
    package var beginsEmpty: Bool { if case .initial = rows { false } else { true } }

    /// Returns the number of rows in the server's own database.
    ///
    /// - Throws: GRDB's errors.
    package func count(in db: Database) throws -> Int {
        try Int.fetchOne(db, sql: "SELECT count(*) FROM \(source)") ?? 0
    }

    /// Returns the number of rows in the shared store.
    ///
    /// - Throws: `SharedStoreError`.
    package func count(in transaction: SQLTransaction) throws -> Int {
        try transaction.rows("SELECT count(*) AS count FROM \(source)").first?.value("count") ?? 0
    }

    /// Copies the rows to the shared store.
    ///
    /// - Throws: GRDB's errors, `StorageError`, `SharedStoreError`.
    package func copyToShared(_ copy: UserCopy) throws {
        if !beginsEmpty { try copy.transaction.execute("DELETE FROM \(name)") }
        let names = columns.map(\.name) + (shared?.names ?? [])
        var batch: [any SQLParameter] = []
        let most = Self.batch * names.count
        try forEachLocal(copy) { row in
            batch += zip(columns, row.values).map { Self.parameter($1, $0.kind) }
            if let shared { batch += try shared.values(row, copy) }
            if batch.count >= most { try insert(&batch, names, copy.transaction) }
            copy.advance()
        }
        if !batch.isEmpty { try insert(&batch, names, copy.transaction) }
        guard let identity else { return }
        let last = try Int64.fetchOne(
            copy.db,
            sql: "SELECT seq FROM sqlite_sequence WHERE name = ?",
            arguments: [name]
        )
        guard let last, last > 0 else { return }
        let set = "SELECT setval(pg_get_serial_sequence('\(name)', '\(identity)'), $1) AS last"
        _ = try copy.transaction.rows(set, [last])
    }

    /// Inserts rows by one statement: each costs a round trip.
    private func insert(_ batch: inout [any SQLParameter], _ names: [String], _ transaction: SQLTransaction) throws {
        let rows = (0..<batch.count / names.count).map { row in
            "(" + names.indices.map { "$\(row * names.count + $0 + 1)" }.joined(separator: ", ") + ")"
        }
        let columns = names.joined(separator: ", ")
        try transaction.execute(
            "INSERT INTO \(name) (\(columns)) VALUES \(rows.joined(separator: ", "))",
            batch
        )
        batch.removeAll(keepingCapacity: true)
    }

    /// Copies the rows to the server's own database.
    ///
    /// - Throws: GRDB's errors, `StorageError`, `SharedStoreError`.
    package func copyToLocal(_ copy: UserCopy) throws {
        let names = columns.map(\.name) + (local?.names ?? [])
        let places = names.map { _ in "?" }.joined(separator: ", ")
        let verb = if case .inserted = rows { "INSERT" } else { "INSERT OR REPLACE" }
        let insert = try copy.db.makeStatement(
            sql: "\(verb) INTO \(name) (\(names.joined(separator: ", "))) VALUES (\(places))"
        )
        try forEachShared(copy) { row in
            let further = try local?.values(row, copy) ?? []
            let values = row.values.map(\.databaseValue) + further.map(\.databaseValue)
            try insert.execute(arguments: StatementArguments(values))
            copy.advance()
        }
        guard let identity else { return }
        let sequence = "pg_get_serial_sequence('\(name)', '\(identity)')::regclass"
        let get = "SELECT pg_sequence_last_value(\(sequence)) AS last"
        let last: Int64? = try copy.transaction.rows(get).first?.value("last")
        guard let last else { return }
        try copy.db.execute(sql: "DELETE FROM sqlite_sequence WHERE name = ?", arguments: [name])
        try copy.db.execute(sql: "INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", arguments: [name, last])
    }

    /// Completes the server's own database after all tables were copied to it.
    ///
    /// - Throws: GRDB's errors.
    package func complete(_ db: Database) throws {
        try localCompletion?(db)
    }

    /// Compares all rows.
    ///
    /// - Returns: how many there are.
    /// - Throws: `Difference`; GRDB's errors, `StorageError`, `SharedStoreError`.
    package func compare(_ copy: UserCopy) throws -> Int {
        var count = 0
        let rows = try localRows(copy.db)
        let places = self.places
        try forEachShared(copy) { shared in
            guard try rows.next().map({ try row($0, places) })?.values == shared.values,
                try isEqual?(shared, copy) ?? true
            else { throw Difference(table: name) }
            count += 1
            copy.advance()
        }
        guard try rows.next() == nil else { throw Difference(table: name) }
        return count
    }

    // MARK: Rows

    /// Rows that are in memory at a time.
    private static let batch = 100

    private var source: String { condition.map { "\(name) WHERE \($0)" } ?? name }

    /// The columns that are read of both stores, in one order.
    private func selection(_ order: [String]) -> String {
        let names = columns.map(\.name).joined(separator: ", ")
        return "SELECT \(names) FROM \(source) ORDER BY \(order.joined(separator: ", "))"
    }

    private var places: [String: Int] {
        Dictionary(uniqueKeysWithValues: columns.enumerated().map { ($1.name, $0) })
    }

    private func localRows(_ db: Database) throws -> RowCursor {
        try Row.fetchCursor(db, sql: selection(key))
    }

    private func forEachLocal(_ copy: UserCopy, _ body: (UserRow) throws -> Void) throws {
        let (rows, places) = (try localRows(copy.db), self.places)
        while let row = try rows.next() { try body(self.row(row, places)) }
    }

    private func forEachShared(_ copy: UserCopy, _ body: (UserRow) throws -> Void) throws {
        let isText = Set(columns.filter { $0.kind == .text }.map(\.name))
        let order = key.map { isText.contains($0) ? "\($0) COLLATE \"C\"" : $0 }
        let (cursor, places) = ("copy_of_\(name)", self.places)
        try copy.transaction.execute("DECLARE \(cursor) NO SCROLL CURSOR FOR \(selection(order))")
        while case let rows = try copy.transaction.rows("FETCH \(Self.batch) FROM \(cursor)"), rows.count > 0 {
            for row in try rows.map({ try row($0, places) }) { try body(row) }
        }
        try copy.transaction.execute("CLOSE \(cursor)")
    }

    private func row(_ local: Row, _ places: [String: Int]) throws -> UserRow {
        let values = try columns.enumerated().map { index, column -> UserRow.Value in
            switch (try local.value(index) as DatabaseValue).storage {
            case .null: .null
            // An integer in a column of real numbers.
            case .int64(let number) where column.kind == .real: .real(Double(number))
            case .int64(let number): .integer(number)
            case .double(let number): .real(number)
            case .string(let text): .text(text)
            case .blob(let bytes): .bytes(bytes)
            }
        }
        return UserRow(places: places, values: values)
    }

    private func row(_ shared: SQLRow, _ places: [String: Int]) throws -> UserRow {
        let values = try columns.map { column, kind -> UserRow.Value in
            switch kind {
            case .integer: (try shared.value(column) as Int64?).map { .integer($0) } ?? .null
            case .real: (try shared.value(column) as Double?).map { .real($0) } ?? .null
            case .text: (try shared.value(column) as String?).map { .text($0) } ?? .null
            case .bytes: (try shared.value(column) as Data?).map { .bytes($0) } ?? .null
            case .boolean: (try shared.value(column) as Bool?).map { .integer($0 ? 1 : 0) } ?? .null
            }
        }
        return UserRow(places: places, values: values)
    }

    private static func parameter(_ value: UserRow.Value, _ kind: Kind) -> any SQLParameter {
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

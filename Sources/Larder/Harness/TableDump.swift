import Foundation
import GRDB
import Storage

/// The rows of a database as JSON: one file for each table, one line for each row.
enum TableDump {
    /// Returns the files by the names of the tables.
    ///
    /// - Parameter prepare: Changes the returned rows, but not the database.
    static func encode(_ path: String, preparing prepare: (Database) throws -> Void) throws -> [String: Data] {
        let queue = try DatabaseQueue(path: path)
        var files: [String: Data] = [:]
        try queue.writeWithoutTransaction { db in
            try db.inTransaction {
                try prepare(db)
                for table in try tables(db) { files[table] = try encode(table, db) }
                return .rollback
            }
        }
        try queue.close()
        return files
    }

    /// Replaces all rows, without triggers: counters and indexes are among the rows.
    static func replaceAll(by files: [String: Data], in db: Database) throws {
        try db.execute(sql: "PRAGMA defer_foreign_keys = ON")
        let triggers = try Row.fetchAll(db, sql: "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
        for trigger in triggers { try db.execute(sql: "DROP TRIGGER \(quoted(try trigger.value("name")))") }
        for (table, data) in files.sorted(by: { $0.key < $1.key }) { try replaceAll(of: table, by: data, db) }
        for trigger in triggers { try db.execute(sql: trigger.value("sql")) }
    }

    /// The tables with rows of their own, also those that hold the indexes of virtual tables.
    private static func tables(_ db: Database) throws -> [String] {
        try String.fetchAll(
            db,
            sql: """
                SELECT name FROM sqlite_schema
                WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL %'
                    AND (name NOT LIKE 'sqlite!_%' ESCAPE '!' OR name = 'sqlite_sequence')
                ORDER BY name
                """
        )
    }

    private static func encode(_ table: String, _ db: Database) throws -> Data {
        let (columns, order) = try columns(of: table, db)
        let names = columns.map(quoted).joined(separator: ", ")
        let rows = try Row.fetchCursor(db, sql: "SELECT \(names) FROM \(quoted(table)) ORDER BY \(order)")
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
        var lines: [String] = []
        while let row = try rows.next() {
            let values = try row.databaseValues.map { String(decoding: try encoder.encode(Cell($0)), as: UTF8.self) }
            lines.append("[\(values.joined(separator: ", "))]")
        }
        let head = String(decoding: try encoder.encode(columns), as: UTF8.self)
        return Data("{\"columns\": \(head), \"rows\": [\n\(lines.joined(separator: ",\n"))\n]}\n".utf8)
    }

    /// The columns of a table, and the order of its rows.
    private static func columns(of table: String, _ db: Database) throws -> ([String], order: String) {
        let all = try Row.fetchAll(
            db,
            sql: "SELECT name, type, pk FROM pragma_table_xinfo(?) WHERE hidden = 0",
            arguments: [table]
        )
        .map { row in
            try (name: row.value("name") as String, type: row.value("type") as String, key: row.value("pk") as Int)
        }
        let key = all.filter { $0.key > 0 }.sorted { $0.key < $1.key }
        let names = all.map(\.name)
        let withoutRowID =
            try Bool.fetchOne(db, sql: "SELECT wr FROM pragma_table_list(?)", arguments: [table]) ?? false
        if withoutRowID { return (names, key.map { quoted($0.name) }.joined(separator: ", ")) }
        let isAlias = key.count == 1 && key[0].type.uppercased() == "INTEGER"
        return (isAlias ? names : ["rowid"] + names, "rowid")
    }

    private static func replaceAll(of table: String, by data: Data, _ db: Database) throws {
        let dump = try JSONDecoder().decode(Dump.self, from: data)
        try db.execute(sql: "DELETE FROM \(quoted(table))")
        let marks = dump.columns.map { _ in "?" }.joined(separator: ", ")
        let names = dump.columns.map(quoted).joined(separator: ", ")
        let insert = try db.makeStatement(sql: "INSERT INTO \(quoted(table)) (\(names)) VALUES (\(marks))")
        for row in dump.rows { try insert.execute(arguments: StatementArguments(row.map(\.value))) }
    }

    private static func quoted(_ name: String) -> String { "\"\(name.replacing("\"", with: "\"\""))\"" }

    private struct Dump: Decodable {
        let columns: [String]
        let rows: [[Cell]]
    }

    /// A value: a number or a text unchanged, bytes as `{"base64":"…"}`.
    private struct Cell: Codable {
        private struct Bytes: Codable { let base64: Data }

        let value: DatabaseValue

        init(_ value: DatabaseValue) { self.value = value }

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                value = .null
            } else if let number = try? container.decode(Int64.self) {
                value = number.databaseValue
            } else if let number = try? container.decode(Double.self) {
                value = number.databaseValue
            } else if let text = try? container.decode(String.self) {
                value = text.databaseValue
            } else {
                value = try container.decode(Bytes.self).base64.databaseValue
            }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch value.storage {
            case .null: try container.encodeNil()
            case .int64(let number): try container.encode(number)
            case .double(let number): try container.encode(number)
            case .string(let text): try container.encode(text)
            case .blob(let bytes): try container.encode(Bytes(base64: bytes))
            }
        }
    }
}

import Foundation
import GRDB
package import Storage

extension LarderDatabase {
    /// Checks the pages of the whole file.
    package func checkIntegrity() throws {
        try read { try IntegrityCheck.pages($0, path: directory.databasePath) }
    }
}

/// A snapshot of everything stored, for comparison: each row of each table and each file that a row names.
package struct StoredState: Equatable, Sendable {
    /// A row names a file that is missing or truncated.
    package struct Broken: Error, CustomStringConvertible {
        package let description: String
    }

    private var tables: [String: [[String]]] = [:]
    private var files: [String: Data] = [:]

    /// Tables that are bookkeeping, not content.
    private static let bookkeeping: Set<String> = ["removed_blob", "sqlite_sequence"]

    /// Reads the state and checks pages, references and files.
    ///
    /// - Throws: ``Broken``; errors of the database.
    package init(_ database: LarderDatabase) throws {
        try database.checkIntegrity()
        let (tables, blobs) = try database.read { db in
            guard try Row.fetchAll(db, sql: "PRAGMA foreign_key_check").isEmpty else {
                throw Broken(description: "a reference leads nowhere")
            }
            let names = try String.fetchAll(
                db,
                // A full-text index without contents cannot be read; its own tables are compared instead.
                sql: """
                    SELECT name FROM sqlite_schema
                    WHERE type = 'table' AND sql NOT LIKE '%USING fts5%content = ''''%' ORDER BY name
                    """
            )
            var tables: [String: [[String]]] = [:]
            for name in names where !Self.bookkeeping.contains(name) {
                tables[name] = try Row.fetchAll(db, sql: "SELECT * FROM \"\(name)\"").map {
                    $0.databaseValues.map(Self.text)
                }
                .sorted { $0.lexicographicallyPrecedes($1) }
            }
            let blobs = try Row.fetchAll(db, sql: "SELECT id, length FROM blob").map { Blob(id: $0[0], length: $0[1]) }
            return (tables, blobs)
        }
        self.tables = tables
        for blob in blobs {
            do {
                files["\(blob.id)"] = try database.blobs.reader(blob).readAll()
            } catch {
                throw Broken(description: "a row names \(blob.id): \(error)")
            }
        }
    }

    private static func text(_ value: DatabaseValue) -> String {
        if case .blob(let data) = value.storage { data.base64EncodedString() } else { value.description }
    }

    /// Returns the tables whose rows differ, and `blobs` if files do.
    package func differences(from other: StoredState) -> [String] {
        let names = Set(tables.keys).union(other.tables.keys).sorted().filter { tables[$0] != other.tables[$0] }
        return names + (files == other.files ? [] : ["blobs"])
    }
}

package import Database
import Foundation
package import GRDB
package import SharedStore

/// A table of users' data that a server's own database and a shared store both have, for copies from one to the other
/// (`larder store copy`).
package struct UserTable: Sendable {
    /// The type of a column.
    package enum Kind: Sendable {
        case integer, real, text, bytes
        /// `boolean` in the shared store, 0 and 1 in the server's own database.
        case boolean
    }

    /// How the rows get into a store.
    package enum Rows: Sendable {
        case inserted
        /// The triggers of the server's own database make them with those of other tables, and the copied rows replace
        /// these; the shared store has no triggers.
        case corrected
        /// Each store has them from its beginning; they give way.
        case initial
    }

    /// Columns that one of the stores has besides, and how their values are made of a row.
    package struct FurtherColumns<Value>: Sendable {
        let names: [String]
        let values: @Sendable (UserRow, UserCopy) throws -> [Value]

        /// - Parameters:
        ///   - names: the names.
        ///   - values: makes the values, in this order; called before the row is inserted.
        package init(_ names: [String], values: @escaping @Sendable (UserRow, UserCopy) throws -> [Value]) {
            self.names = names
            self.values = values
        }
    }

    /// The name in both.
    package let name: String
    let key: [String]
    /// In both.
    let columns: [(name: String, kind: Kind)]
    let rows: Rows
    let identity: String?
    let condition: String?
    let shared: FurtherColumns<any SQLParameter>?
    let local: FurtherColumns<any DatabaseValueConvertible>?
    let localCompletion: (@Sendable (Database) throws -> Void)?
    let isEqual: (@Sendable (UserRow, UserCopy) throws -> Bool)?

    /// Describes a table.
    ///
    /// - Parameters:
    ///   - name: its name in both.
    ///   - key: the columns that no two rows have in common.
    ///   - columns: the columns of both, `key` included.
    ///   - rows: how the rows get into a store.
    ///   - identity: the column whose values the engine counts, so that none is used twice.
    ///   - condition: the rows that are copied, in SQL of both; nil for all.
    ///   - shared: columns of the shared store.
    ///   - local: columns of the server's own database.
    ///   - localCompletion: completes the server's own database after all tables were copied to it.
    ///   - isEqual: compares values beyond the columns.
    package init(
        _ name: String,
        key: [String],
        _ columns: KeyValuePairs<String, Kind>,
        rows: Rows = .inserted,
        identity: String? = nil,
        condition: String? = nil,
        shared: FurtherColumns<any SQLParameter>? = nil,
        local: FurtherColumns<any DatabaseValueConvertible>? = nil,
        localCompletion: (@Sendable (Database) throws -> Void)? = nil,
        isEqual: (@Sendable (UserRow, UserCopy) throws -> Bool)? = nil
    ) {
        self.name = name
        self.key = key
        self.columns = columns.map { (name: $0.key, kind: $0.value) }
        self.rows = rows
        self.identity = identity
        self.condition = condition
        self.shared = shared
        self.local = local
        self.localCompletion = localCompletion
        self.isEqual = isEqual
    }
}

/// A copy that is under way: a transaction of each store.
package struct UserCopy {
    /// The server's own database.
    package let db: Database
    /// Its files.
    package let blobs: BlobStore
    /// The shared store.
    package let transaction: SQLTransaction
    let advance: () -> Void

    /// - Parameter advance: called after each row that was copied or compared.
    package init(
        _ db: Database,
        _ blobs: BlobStore,
        _ transaction: SQLTransaction,
        advance: @escaping () -> Void
    ) {
        self.db = db
        self.blobs = blobs
        self.transaction = transaction
        self.advance = advance
    }
}

/// A row of a table of users' data, as both stores have it.
package struct UserRow: Sendable {
    /// A value of either engine.
    enum Value: Sendable, Equatable {
        case null
        case integer(Int64)
        case real(Double)
        case text(String)
        case bytes(Data)
    }

    /// The places of the columns.
    let places: [String: Int]
    let values: [Value]

    /// A column has no value of the type that was asked for.
    package struct Mismatch: Error, CustomStringConvertible {
        let column: String
        /// One sentence for operators.
        package var description: String { "The column \"\(column)\" has a value of another type." }

        /// - Parameter column: its name.
        package init(column: String) { self.column = column }
    }

    private func value<Found>(_ column: String, _ read: (Value) -> Found?) throws -> Found {
        guard let value = places[column].flatMap({ read(values[$0]) }) else { throw Mismatch(column: column) }
        return value
    }

    /// Returns whether a column has no value.
    package func isNull(_ column: String) -> Bool { places[column].map { values[$0] == .null } ?? true }

    /// Returns an integer; 0 or 1 of a boolean.
    ///
    /// - Throws: an error if the column has none.
    package func integer(_ column: String) throws -> Int64 {
        try value(column) { if case .integer(let value) = $0 { value } else { nil } }
    }

    /// Returns a floating-point number.
    ///
    /// - Throws: an error if the column has none.
    package func real(_ column: String) throws -> Double {
        try value(column) { if case .real(let value) = $0 { value } else { nil } }
    }

    /// Returns a text.
    ///
    /// - Throws: an error if the column has none.
    package func text(_ column: String) throws -> String {
        try value(column) { if case .text(let value) = $0 { value } else { nil } }
    }
}

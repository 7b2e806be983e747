public import Foundation
public import GRDB
public import SharedStore

/// A table of what users made that a server's own database and a shared store both have, for copies from one to the
/// other (`larder store copy`).
public struct UserTable: Sendable {
    /// The type of a column.
    public enum Kind: Sendable {
        case integer, real, text, bytes
        /// `boolean` in the shared store, 0 and 1 in the server's own database.
        case boolean
    }

    /// Inserts a row into the shared store.
    public typealias InsertShared = @Sendable (UserRow, SQLTransaction) throws -> Void
    /// Inserts a row into the server's own database.
    public typealias InsertLocal = @Sendable (UserRow, Database) throws -> Void

    let name: String
    let key: [String]
    let columns: [(name: String, kind: Kind)]
    let copied: Int
    let identity: String?
    let isReplaced: Bool
    let insertShared: InsertShared?
    let insertLocal: InsertLocal?
    let completion: [String]

    /// Describes a table.
    ///
    /// - Parameters:
    ///   - name: its name in both.
    ///   - key: the columns that no two rows have in common.
    ///   - columns: what is copied, `key` included; none for a table whose rows other insertions make.
    ///   - computed: columns that other insertions or `completion` compute: they are compared only.
    ///   - identity: the column whose values the engine counts, so that none is used twice.
    ///   - isReplaced: whether the table of an empty store has rows, which give way.
    ///   - insertShared: inserts a row, with what it is found by; nil for the columns alone.
    ///   - insertLocal: the same in the server's own database.
    ///   - completion: statements that the shared store needs after all tables of the app were copied.
    public init(
        _ name: String,
        key: [String],
        _ columns: KeyValuePairs<String, Kind>,
        computed: KeyValuePairs<String, Kind> = [:],
        identity: String? = nil,
        isReplaced: Bool = false,
        insertShared: InsertShared? = nil,
        insertLocal: InsertLocal? = nil,
        completion: [String] = []
    ) {
        self.name = name
        self.key = key
        self.columns = (Array(columns) + Array(computed)).map { (name: $0.key, kind: $0.value) }
        copied = columns.count
        self.identity = identity
        self.isReplaced = isReplaced
        self.insertShared = insertShared
        self.insertLocal = insertLocal
        self.completion = completion
    }
}

/// A row of a table of what users made.
public struct UserRow: Sendable, Equatable {
    /// A value of either engine.
    enum Value: Sendable, Equatable {
        case null
        case integer(Int64)
        case real(Double)
        case text(String)
        case bytes(Data)
    }

    var values: [String: Value] = [:]

    /// A column has no value of the type that was asked for.
    struct Mismatch: Error, CustomStringConvertible {
        let column: String
        var description: String { "The column \"\(column)\" has a value of another type." }
    }

    private func value<Found>(_ column: String, _ read: (Value) -> Found?) throws -> Found {
        guard let value = values[column].flatMap(read) else { throw Mismatch(column: column) }
        return value
    }

    /// Returns an integer or a boolean.
    ///
    /// - Throws: an error if the column has none.
    public func integer(_ column: String) throws -> Int64 {
        try value(column) { if case .integer(let value) = $0 { value } else { nil } }
    }

    /// Returns a floating-point number.
    ///
    /// - Throws: an error if the column has none.
    public func real(_ column: String) throws -> Double {
        try value(column) { if case .real(let value) = $0 { value } else { nil } }
    }

    /// Returns a text.
    ///
    /// - Throws: an error if the column has none.
    public func text(_ column: String) throws -> String {
        try value(column) { if case .text(let value) = $0 { value } else { nil } }
    }

    /// Returns bytes.
    ///
    /// - Throws: an error if the column has none.
    public func bytes(_ column: String) throws -> Data {
        try value(column) { if case .bytes(let value) = $0 { value } else { nil } }
    }
}

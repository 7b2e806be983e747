import Foundation

/// A row of a table of what users made, as both stores have it.
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

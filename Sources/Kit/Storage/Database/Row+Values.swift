package import Foundation
public import GRDB

// A damaged page may hold the cells of another table, and so any value in any column. GRDB's row subscripts end the
// process then (`Row.swift`, `try!`), and its `decode` takes a text for the number 0. These functions throw
// `SQLITE_CORRUPT`, as SQLite does for other damage; `script/format --check` finds subscripts. They are inlinable: a
// list reads hundreds of values, and generic code of another module looks up the type of each.
extension Row {
    /// Returns the value of a column; its type is the one that the caller expects, an optional if it may be NULL.
    ///
    /// - Throws: `DatabaseError` if the value has another type.
    @inlinable package func value<Value: DatabaseValueConvertible>(_ column: String) throws -> Value {
        try converted(decode(DatabaseValue?.self, forColumn: column) ?? .null, column)
    }

    /// Returns the value of the column at `index`.
    ///
    /// - Throws: `DatabaseError` if the value has another type.
    @inlinable package func value<Value: DatabaseValueConvertible>(_ index: Int) throws -> Value {
        try converted(decode(DatabaseValue.self, atIndex: index), index)
    }

    /// Returns the value of a column in the form of the app; one that has no such form is damaged, too.
    @inlinable package func value<Stored: DatabaseValueConvertible, Value>(
        _ column: String,
        _ convert: (Stored) throws -> Value?
    ) throws -> Value {
        guard let value = try convert(value(column)) else { throw DatabaseError.damaged(column) }
        return value
    }

    /// Returns the value that a column of JSON describes.
    ///
    /// - Throws: `DatabaseError` if it describes no such value.
    package func json<Value: Decodable>(_ column: String) throws -> Value {
        try value(column) { try? JSONDecoder().decode(Value.self, from: Data(($0 as String).utf8)) }
    }

    /// Returns a number of items or bytes. Sums of such numbers do not overflow.
    ///
    /// - Throws: `DatabaseError` if it is negative or more than a disk holds.
    package func size(_ column: String) throws -> Int { try Self.size(value(column), column) }

    /// Returns the number of items or bytes in the column at `index`.
    ///
    /// - Throws: `DatabaseError` if it is negative or more than a disk holds.
    package func size(_ index: Int) throws -> Int { try Self.size(value(index), index) }

    /// Returns the instant of a column of milliseconds.
    ///
    /// - Throws: `DatabaseError` if it is none between the years 0 and 9999.
    package func date(_ column: String) throws -> Date { try Self.date(value(column), column) }

    /// Returns the instant of a column of milliseconds; nil for NULL.
    ///
    /// - Throws: `DatabaseError` if it is none between the years 0 and 9999.
    package func date(_ column: String) throws -> Date? {
        try (value(column) as Int64?).map { try Self.date($0, column) }
    }

    /// Returns the instant of the column at `index`, in milliseconds.
    ///
    /// - Throws: `DatabaseError` if it is none between the years 0 and 9999.
    package func date(_ index: Int) throws -> Date { try Self.date(value(index), index) }

    /// Returns the instant of the column at `index`, in milliseconds; nil for NULL.
    ///
    /// - Throws: `DatabaseError` if it is none between the years 0 and 9999.
    package func date(_ index: Int) throws -> Date? {
        try (value(index) as Int64?).map { try Self.date($0, index) }
    }

    private static func size(_ size: Int, _ column: some CustomStringConvertible) throws -> Int {
        guard 0...(1 << 48) ~= size else { throw DatabaseError.damaged(column) }
        return size
    }

    private static func date(_ milliseconds: Int64, _ column: some CustomStringConvertible) throws -> Date {
        guard instants.contains(milliseconds) else { throw DatabaseError.damaged(column) }
        return Date(millisecondsSince1970: milliseconds)
    }

    @inlinable func converted<Value: DatabaseValueConvertible>(
        _ value: DatabaseValue,
        _ column: some CustomStringConvertible
    ) throws -> Value {
        guard let value = Value.fromDatabaseValue(value) else { throw DatabaseError.damaged(column) }
        // Nothing stores an infinity, and neither JSON nor an integer has one.
        if let number = value as? Double, !number.isFinite { throw DatabaseError.damaged(column) }
        return value
    }

    /// The years 0 to 9999, which RFC 3339 can express.
    private static var instants: ClosedRange<Int64> { -62_167_219_200_000...253_402_300_799_999 }
}

extension DatabaseError {
    /// Creates the error of a value that no statement of this build has written.
    @usableFromInline package static func damaged(_ column: some CustomStringConvertible) -> DatabaseError {
        DatabaseError(resultCode: .SQLITE_CORRUPT, message: "column \(column) has a value that was never stored in it")
    }
}

// Times are stored as INTEGER milliseconds since 1970-01-01 UTC: exact to compare and to index, and finer than the
// whole seconds that HTTP knows. Fractions of a millisecond are cut off, so a stored time is never later than the true
// one, and an age never too small.
extension Date {
    /// Milliseconds since 1970-01-01 UTC. The hundredth compensates for the rounding of `Double`, which would lose a
    /// millisecond on each way through the database.
    package var millisecondsSince1970: Int64 {
        Int64(exactly: (timeIntervalSince1970 * 1000 + 0.01).rounded(.down))
            ?? (timeIntervalSince1970 > 0 ? .max : .min)
    }

    /// Creates the instant of a stored number.
    package init(millisecondsSince1970 milliseconds: Int64) {
        self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
    }
}

package import Foundation

/// A value that a column of a response may have, received in PostgreSQL's binary format.
package protocol SQLValue: Sendable {
    /// Creates a value from the bytes of a column, nil for NULL; fails if they are of another type.
    init?(bytes: UnsafeRawBufferPointer?, typeNumber: UInt32)
}

extension Int: SQLValue {
    /// Creates a value from the bytes of a column.
    package init?(bytes: UnsafeRawBufferPointer?, typeNumber: UInt32) {
        guard let bytes else { return nil }
        switch (SQLType(rawValue: typeNumber), bytes.count) {
        case (.int8, 8): self = Int(Int64(bigEndian: bytes.loadUnaligned(as: Int64.self)))
        case (.int4, 4): self = Int(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
        case (.int2, 2): self = Int(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
        default: return nil
        }
    }
}

extension Int64: SQLValue {
    /// Creates a value from the bytes of a column.
    package init?(bytes: UnsafeRawBufferPointer?, typeNumber: UInt32) {
        guard let value = Int(bytes: bytes, typeNumber: typeNumber) else { return nil }
        self = Int64(value)
    }
}

extension Double: SQLValue {
    /// Creates a value from the bytes of a column.
    package init?(bytes: UnsafeRawBufferPointer?, typeNumber: UInt32) {
        guard let bytes, SQLType(rawValue: typeNumber) == .float8, bytes.count == 8 else { return nil }
        self = Double(bitPattern: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)))
    }
}

extension Bool: SQLValue {
    /// Creates a value from the bytes of a column.
    package init?(bytes: UnsafeRawBufferPointer?, typeNumber: UInt32) {
        guard let bytes, SQLType(rawValue: typeNumber) == .boolean, bytes.count == 1 else { return nil }
        self = bytes[0] != 0
    }
}

extension String: SQLValue {
    /// Creates a value from the bytes of a column.
    package init?(bytes: UnsafeRawBufferPointer?, typeNumber: UInt32) {
        let types: [SQLType] = [.text, .varchar, .name]
        guard let bytes, types.contains(SQLType(rawValue: typeNumber)) else { return nil }
        self = String(decoding: bytes, as: UTF8.self)
    }
}

extension Data: SQLValue {
    /// Creates a value from the bytes of a column.
    package init?(bytes: UnsafeRawBufferPointer?, typeNumber: UInt32) {
        guard let bytes, SQLType(rawValue: typeNumber) == .bytes else { return nil }
        self.init(bytes)
    }
}

extension Optional: SQLValue where Wrapped: SQLValue {
    /// Creates a value from the bytes of a column.
    package init?(bytes: UnsafeRawBufferPointer?, typeNumber: UInt32) {
        guard let bytes else {
            self = .none
            return
        }
        guard let value = Wrapped(bytes: bytes, typeNumber: typeNumber) else { return nil }
        self = .some(value)
    }
}

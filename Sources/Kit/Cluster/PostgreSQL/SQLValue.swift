package import Foundation

/// A type of PostgreSQL, by its number in `pg_type`. These numbers are the same in every database.
enum SQLType: UInt32 {
    case boolean = 16
    case bytes = 17
    case name = 19
    case int8 = 20
    case int2 = 21
    case int4 = 23
    case text = 25
    case float8 = 701
    case varchar = 1043
    case texts = 1009
    case int8s = 1016
}

/// A value that a column of a response may have, received in PostgreSQL's binary format.
package protocol SQLValue: Sendable {
    /// Creates a value from the bytes of a column, nil for NULL; fails if they are of another type.
    init?(bytes: UnsafeRawBufferPointer?, typeNumber: UInt32)
}

/// A value that a statement takes as a parameter, sent in PostgreSQL's binary format.
///
/// `nil` of an optional is NULL, and keeps its type. Numbers are sent as `int8` and `float8`, which the server converts
/// to the type of their column.
package protocol SQLParameter: Sendable {
    /// The number of the type in `pg_type`.
    static var typeNumber: UInt32 { get }

    /// Returns the bytes that are sent, or nil for NULL.
    ///
    /// - Throws: ``ClusterError/textNotStorable``.
    func encoded() throws -> [UInt8]?
}

extension Int: SQLValue, SQLParameter {
    package init?(bytes: UnsafeRawBufferPointer?, typeNumber: UInt32) {
        guard let bytes else { return nil }
        switch (SQLType(rawValue: typeNumber), bytes.count) {
        case (.int8, 8): self = Int(Int64(bigEndian: bytes.loadUnaligned(as: Int64.self)))
        case (.int4, 4): self = Int(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
        case (.int2, 2): self = Int(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
        default: return nil
        }
    }

    package static var typeNumber: UInt32 { SQLType.int8.rawValue }

    package func encoded() -> [UInt8]? { bigEndianBytes }
}

extension Int64: SQLValue, SQLParameter {
    package init?(bytes: UnsafeRawBufferPointer?, typeNumber: UInt32) {
        guard let value = Int(bytes: bytes, typeNumber: typeNumber) else { return nil }
        self = Int64(value)
    }

    package static var typeNumber: UInt32 { Int.typeNumber }

    package func encoded() -> [UInt8]? { bigEndianBytes }
}

extension Double: SQLValue, SQLParameter {
    package init?(bytes: UnsafeRawBufferPointer?, typeNumber: UInt32) {
        guard let bytes, SQLType(rawValue: typeNumber) == .float8, bytes.count == 8 else { return nil }
        self = Double(bitPattern: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)))
    }

    package static var typeNumber: UInt32 { SQLType.float8.rawValue }

    package func encoded() -> [UInt8]? { bitPattern.bigEndianBytes }
}

extension Bool: SQLValue, SQLParameter {
    package init?(bytes: UnsafeRawBufferPointer?, typeNumber: UInt32) {
        guard let bytes, SQLType(rawValue: typeNumber) == .boolean, bytes.count == 1 else { return nil }
        self = bytes[0] != 0
    }

    package static var typeNumber: UInt32 { SQLType.boolean.rawValue }

    package func encoded() -> [UInt8]? { [self ? 1 : 0] }
}

extension String: SQLValue, SQLParameter {
    package init?(bytes: UnsafeRawBufferPointer?, typeNumber: UInt32) {
        let types: [SQLType?] = [.text, .varchar, .name]
        guard let bytes, types.contains(SQLType(rawValue: typeNumber)) else { return nil }
        self = String(decoding: bytes, as: UTF8.self)
    }

    package static var typeNumber: UInt32 { SQLType.text.rawValue }

    package func encoded() throws -> [UInt8]? {
        let bytes = Array(utf8)
        guard !bytes.contains(0) else { throw ClusterError.textNotStorable }
        return bytes
    }
}

extension Data: SQLValue, SQLParameter {
    package init?(bytes: UnsafeRawBufferPointer?, typeNumber: UInt32) {
        guard let bytes, SQLType(rawValue: typeNumber) == .bytes else { return nil }
        self.init(bytes)
    }

    package static var typeNumber: UInt32 { SQLType.bytes.rawValue }

    package func encoded() -> [UInt8]? { Array(self) }
}

extension Optional: SQLValue where Wrapped: SQLValue {
    package init?(bytes: UnsafeRawBufferPointer?, typeNumber: UInt32) {
        guard let bytes else {
            self = .none
            return
        }
        guard let value = Wrapped(bytes: bytes, typeNumber: typeNumber) else { return nil }
        self = .some(value)
    }
}

extension Optional: SQLParameter where Wrapped: SQLParameter {
    package static var typeNumber: UInt32 { Wrapped.typeNumber }

    package func encoded() throws -> [UInt8]? { try self?.encoded() }
}

/// A value that an array as a parameter may have.
package protocol SQLArrayElement: SQLParameter {
    /// The number of the array's type in `pg_type`.
    static var arrayTypeNumber: UInt32 { get }
}

extension String: SQLArrayElement {
    package static var arrayTypeNumber: UInt32 { SQLType.texts.rawValue }
}

extension Int: SQLArrayElement {
    package static var arrayTypeNumber: UInt32 { SQLType.int8s.rawValue }
}

/// An array is one parameter: `id = ANY($1)`.
extension Array: SQLParameter where Element: SQLArrayElement {
    package static var typeNumber: UInt32 { Element.arrayTypeNumber }

    package func encoded() throws -> [UInt8]? {
        // Dimensions (none if it is empty), whether there are NULLs, the type of the elements, length, first index.
        let header = [isEmpty ? 0 : 1, 0, Int(Element.typeNumber)] + (isEmpty ? [] : [count, 1])
        return try reduce(into: header.flatMap { Int32($0).bigEndianBytes }) { bytes, element in
            let element = try element.encoded() ?? []
            bytes += Int32(element.count).bigEndianBytes + element
        }
    }
}

extension FixedWidthInteger {
    fileprivate var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian, Array.init) }
}

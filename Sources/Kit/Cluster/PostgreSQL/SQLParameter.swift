package import Foundation

/// A value that a statement takes as a parameter, sent in PostgreSQL's binary format.
///
/// `nil` of an optional is NULL, and keeps its type. Numbers are sent as `int8` and `float8`, which the server converts
/// to the type of their column.
package protocol SQLParameter: Sendable {
    /// The number of the type in `pg_type`.
    static var typeNumber: UInt32 { get }

    /// Returns the bytes that are sent, or nil for NULL.
    ///
    /// - Throws: ``SharedStoreError/textNotStorable``.
    func encoded() throws -> [UInt8]?
}

extension SQLParameter where Self: FixedWidthInteger {
    fileprivate var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian, Array.init) }
}

extension Int: SQLParameter {
    /// The type that is sent.
    package static var typeNumber: UInt32 { SQLType.int8.rawValue }

    /// Returns the bytes that are sent.
    package func encoded() -> [UInt8]? { bigEndianBytes }
}

extension Int64: SQLParameter {
    /// The type that is sent.
    package static var typeNumber: UInt32 { SQLType.int8.rawValue }

    /// Returns the bytes that are sent.
    package func encoded() -> [UInt8]? { bigEndianBytes }
}

extension Double: SQLParameter {
    /// The type that is sent.
    package static var typeNumber: UInt32 { SQLType.float8.rawValue }

    /// Returns the bytes that are sent.
    package func encoded() -> [UInt8]? { withUnsafeBytes(of: bitPattern.bigEndian, Array.init) }
}

extension Bool: SQLParameter {
    /// The type that is sent.
    package static var typeNumber: UInt32 { SQLType.boolean.rawValue }

    /// Returns the bytes that are sent.
    package func encoded() -> [UInt8]? { [self ? 1 : 0] }
}

extension String: SQLParameter {
    /// The type that is sent.
    package static var typeNumber: UInt32 { SQLType.text.rawValue }

    /// Returns the bytes that are sent.
    package func encoded() throws -> [UInt8]? {
        let bytes = Array(utf8)
        guard !bytes.contains(0) else { throw SharedStoreError.textNotStorable }
        return bytes
    }
}

extension Data: SQLParameter {
    /// The type that is sent.
    package static var typeNumber: UInt32 { SQLType.bytes.rawValue }

    /// Returns the bytes that are sent.
    package func encoded() -> [UInt8]? { Array(self) }
}

extension Optional: SQLParameter where Wrapped: SQLParameter {
    /// The type that is sent.
    package static var typeNumber: UInt32 { Wrapped.typeNumber }

    /// Returns the bytes that are sent.
    package func encoded() throws -> [UInt8]? { try self?.encoded() }
}

/// An array is one parameter: `id = ANY($1)`.
extension Array: SQLParameter where Element: SQLArrayElement {
    /// The type of the array.
    package static var typeNumber: UInt32 { Element.arrayTypeNumber }

    /// Returns the bytes that are sent.
    package func encoded() throws -> [UInt8]? {
        // Dimensions (none if it is empty), whether there are NULLs, the type of the elements, length, first index.
        let header = [isEmpty ? 0 : 1, 0, Int(Element.typeNumber)] + (isEmpty ? [] : [count, 1])
        return try reduce(into: header.flatMap { Int32($0).bigEndianBytes }) { bytes, element in
            let element = try element.encoded() ?? []
            bytes += Int32(element.count).bigEndianBytes + element
        }
    }
}

/// A value that an array as a parameter may have.
package protocol SQLArrayElement: SQLParameter {
    /// The number of the array's type in `pg_type`.
    static var arrayTypeNumber: UInt32 { get }
}

extension String: SQLArrayElement {
    /// The type of the array.
    package static var arrayTypeNumber: UInt32 { SQLType.texts.rawValue }
}

extension Int: SQLArrayElement {
    /// The type of the array.
    package static var arrayTypeNumber: UInt32 { SQLType.int8s.rawValue }
}

extension Int32 {
    fileprivate var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian, Array.init) }
}

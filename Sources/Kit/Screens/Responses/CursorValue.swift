package import GRDB

/// A value of the key by which the rows of a list are ordered.
package enum CursorValue: Sendable, Equatable {
    /// The types of values.
    package enum Kind: Sendable { case integer, text }

    case integer(Int64)
    case text(String)

    /// The integer; nil for a text.
    package var integer: Int64? { if case .integer(let value) = self { value } else { nil } }

    /// The text; nil for an integer.
    package var text: String? { if case .text(let value) = self { value } else { nil } }

    var kind: Kind {
        switch self {
        case .integer: .integer
        case .text: .text
        }
    }
}

extension CursorValue: Codable {
    /// Reads an integer or a text.
    /// - Throws: `DecodingError`.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let integer = try? container.decode(Int64.self) {
            self = .integer(integer)
        } else {
            self = .text(try container.decode(String.self))
        }
    }

    /// Writes an integer or a text.
    /// - Throws: `EncodingError`.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .integer(let value): try container.encode(value)
        case .text(let value): try container.encode(value)
        }
    }
}

extension CursorValue: DatabaseValueConvertible {
    /// The value as an argument of a statement.
    package var databaseValue: DatabaseValue {
        switch self {
        case .integer(let value): value.databaseValue
        case .text(let value): value.databaseValue
        }
    }

    /// Reads the value of a column; nil for other types.
    package static func fromDatabaseValue(_ value: DatabaseValue) -> CursorValue? {
        switch value.storage {
        case .int64(let integer): .integer(integer)
        case .string(let text): .text(text)
        default: nil
        }
    }
}

extension String {
    /// The text as a key that rows are ordered by: cut, so that a cursor with it fits in a URL.
    package var cutToKey: String {
        utf8.count <= 200 ? self : String(String.UnicodeScalarView(unicodeScalars.prefix(200)))
    }
}

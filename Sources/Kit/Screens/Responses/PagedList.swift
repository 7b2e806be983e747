import Crypto
import Foundation
package import GRDB

/// A list that is read in pages by key, and its cursors (docs/contract.md, "Paging").
///
/// A cursor names the row after which a page begins by the values that the list is ordered by. So a row that is
/// inserted or deleted between two pages neither repeats nor hides another one. It is base64url (RFC 4648 §5) of JSON:
/// `{"f":"…","k":["Alma","5ea6"],"l":"ships.list","o":"name","v":1}`. Its content is not secret, and it grants nothing:
/// with another key a page begins elsewhere in the rows that the request may see anyway.
package struct PagedList: Sendable {
    /// Why a cursor is not one of a list.
    enum CursorError: Error, Equatable {
        case malformed, otherVersion, otherList, otherOrder, otherFilter
    }

    /// The members of a cursor.
    private struct Cursor: Codable {
        var f: String?
        var k: [CursorValue]
        var l: String
        var o: String?
        var v: Int
    }

    private struct Version: Decodable { var v: Int }

    /// The version of the form of cursors.
    private static let version = 1

    private let name: String
    private let order: String?
    private let filter: String?
    private let kinds: [CursorValue.Kind]
    /// Whether cursors name positions, because the upstream has no other way.
    let isByPosition: Bool

    /// - Parameters:
    ///   - name: The name of the screen.
    ///   - order: The order of the rows, if that is up to the client.
    ///   - filter: The client's restriction of the list, in a normal form.
    ///   - key: The types of the values of the key. The key of a row is unique within the list.
    package init(_ name: String, by order: String? = nil, filter: String? = nil, key: [CursorValue.Kind]) {
        self.name = name
        self.order = order
        self.filter = filter.map(Self.digest)
        kinds = key
        isByPosition = false
    }

    /// Describes a list whose rows an upstream gives by position. A cursor of it contains the offset, so that clients
    /// page through all lists in one way.
    ///
    /// - Parameters: As of ``init(_:by:filter:key:)``.
    package init(positionsOf name: String, by order: String? = nil, filter: String? = nil) {
        self.name = name
        self.order = order
        self.filter = filter.map(Self.digest)
        kinds = [.integer]
        isByPosition = true
    }

    /// The text itself may be as long as a URL.
    private static func digest(_ filter: String) -> String {
        Data(SHA256.hash(data: Data(filter.utf8)).prefix(6)).base64URL
    }

    /// Returns the cursor of the page that begins at a position.
    package func cursor(at position: Int) -> String { cursor(after: [.integer(Int64(position))]) }

    /// Returns the cursor of the page after the row with a key.
    package func cursor(after key: [CursorValue]) -> String {
        var json = JSONWriter(capacity: 256)
        json.beginObject()
        if let filter {
            json.name("f")
            json.value(filter)
        }
        json.name("k")
        json.beginArray()
        for value in key {
            switch value {
            case .integer(let integer): json.value(integer)
            case .text(let text): json.value(text)
            }
        }
        json.endArray()
        json.name("l")
        json.value(name)
        if let order {
            json.name("o")
            json.value(order)
        }
        json.name("v")
        json.value(Self.version)
        json.endObject()
        return Data(json.bytes).base64URL
    }

    func key(of cursor: String) throws(CursorError) -> [CursorValue] {
        guard let data = Data(base64URL: cursor) else { throw .malformed }
        let decoder = JSONDecoder()
        guard let cursor = try? decoder.decode(Cursor.self, from: data), cursor.v == Self.version else {
            let version = try? decoder.decode(Version.self, from: data).v
            throw version.map { $0 == Self.version } ?? true ? .malformed : .otherVersion
        }
        guard cursor.l == name else { throw .otherList }
        guard cursor.o == order else { throw .otherOrder }
        guard cursor.f == filter else { throw .otherFilter }
        guard cursor.k.map(\.kind) == kinds else { throw .malformed }
        if isByPosition, let position = cursor.k.first?.integer, position < 0 { throw .malformed }
        return cursor.k
    }
}

extension PagedList.CursorError {
    /// The problem for the client.
    var problem: Problem {
        let wrong =
            switch self {
            case .malformed: "accepts the cursor of a links.next as it is"
            case .otherVersion: "is of another version of the server"
            case .otherList: "is of another list"
            case .otherOrder: "is of this list in another order"
            case .otherFilter: "is of this list with other filters"
            }
        return .invalidParameter("cursor", accepted: "\(wrong); without it the list begins at its first row")
    }
}

extension Data {
    /// The bytes in base64url without padding (RFC 4648 §5).
    var base64URL: String {
        // Not by `replacing`: its three searches take 19 µs of each page.
        var bytes = [UInt8](base64EncodedData())
        while bytes.last == UInt8(ascii: "=") { bytes.removeLast() }
        for index in bytes.indices {
            switch bytes[index] {
            case UInt8(ascii: "+"): bytes[index] = UInt8(ascii: "-")
            case UInt8(ascii: "/"): bytes[index] = UInt8(ascii: "_")
            default: break
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Decodes base64url without padding; nil for anything else.
    fileprivate init?(base64URL text: String) {
        guard !text.isEmpty, !text.contains(where: { "+/=".contains($0) }) else { return nil }
        let standard = text.replacing("-", with: "+").replacing("_", with: "/")
        self.init(base64Encoded: standard + String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4))
    }
}

/// A value of the key by which the rows of a list are ordered.
package enum CursorValue: Sendable, Equatable {
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

/// The addresses of the rows of a list, by their ids, which are any texts of an API.
package struct ItemPaths: Sendable {
    /// Largest size of an id in UTF-8, in bytes; percent-encoded, it fits into every request line.
    package static let longestID = 256

    private let base: Link
    // A few: an array is searched faster than a set.
    private let reserved: [String]

    /// - Parameters:
    ///   - base: The address of the list.
    ///   - reserved: Segments below it that are other routes.
    package init(_ base: Link, reserved: [String] = []) {
        self.base = base
        // URIs give a meaning to two more (RFC 3986 §3.3).
        self.reserved = reserved + [".", ".."]
    }

    /// Returns the address of the row with an id. `~` before an id keeps it apart from reserved segments.
    package func link(to id: String) -> Link {
        let isMarked = id.hasPrefix("~") || reserved.contains(id)
        return isMarked ? "\(base)/~\(id)" : "\(base)/\(id)"
    }

    /// Returns the id that a segment of a path names; nil if it cannot be one.
    package func id(in segment: String) -> String? {
        Self.identity(String(segment.hasPrefix("~") ? segment.dropFirst() : segment[...]))
    }

    /// Returns a text of the API or of a client as an id, in Unicode NFC; nil if it cannot be one. So two texts that
    /// are equal in Swift are one key of the database.
    ///
    /// A text with NUL is never looked up, since SQLite would find `id` for `id\0more`.
    package static func identity(_ text: String) -> String? {
        let id = text.precomposedStringWithCanonicalMapping
        let isUsable =
            (1...longestID).contains(id.utf8.count) && !id.utf8.contains(0) && !id.allSatisfy(\.isWhitespace)
        return isUsable ? id : nil
    }
}

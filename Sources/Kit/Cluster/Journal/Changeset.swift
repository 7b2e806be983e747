import Crypto
package import Foundation
package import GRDB

/// The changes that a transaction makes to rows, in the format of SQLite's session extension.
///
/// SQLite's own reader trusts its input, so bytes are read here first, to the last one, before SQLite gets them.
package struct Changeset: Sendable, Equatable {
    /// A change of one row.
    package struct Change: Sendable, Equatable {
        package enum Operation: UInt8, Sendable {
            case delete = 9
            case insert = 18
            case update = 23
        }

        package let table: String
        package let operation: Operation
        /// Whether a trigger or a foreign key's action made it.
        package let isIndirect: Bool
        /// For each column its place in the primary key, from 1; 0 if it is not part of it.
        package let keyPlaces: [UInt8]
        /// The values before, by column; nil for those that an update does not change. Empty for an insertion.
        package let old: [DatabaseValue?]
        /// The values after, by column; nil for those that an update does not change. Empty for a deletion.
        package let new: [DatabaseValue?]

        /// The values of the primary key in the order of the columns.
        package var key: [DatabaseValue] {
            zip(keyPlaces, operation == .insert ? new : old).compactMap { place, value in place == 0 ? nil : value }
        }
    }

    /// Why bytes cannot be read as a changeset.
    package enum Damage: Error, Sendable, Equatable {
        /// They are not those that were written.
        case checksum
        /// They have no meaning from this one on.
        case malformed(offset: Int)
    }

    /// SQLite's form.
    package let bytes: Data
    package let changes: [Change]

    package var isEmpty: Bool { changes.isEmpty }

    /// Reads SQLite's form.
    package init(bytes: Data) throws(Damage) {
        self.bytes = bytes
        var reader = ChangesetReader(Array(bytes))
        changes = try reader.changes()
    }

    /// Reads the stored form.
    package init(encoded: Data) throws(Damage) {
        let content = Data(encoded.dropFirst(Self.checksumLength))
        guard encoded.count >= Self.checksumLength, Self.checksum(of: content) == encoded.prefix(Self.checksumLength)
        else { throw .checksum }
        try self.init(bytes: content)
    }

    /// The stored form: a checksum, then SQLite's form, which would be valid if it were cut off between two changes.
    package var encoded: Data { Self.checksum(of: bytes) + bytes }

    private static let checksumLength = 8

    private static func checksum(of bytes: Data) -> Data { Data(SHA256.hash(data: bytes).prefix(checksumLength)) }
}

extension Changeset {
    /// Returns the changes that an older schema has room for: without tables that it lacks, and without the columns
    /// after its own.
    ///
    /// - Parameter keyPlaces: returns those of a table in that schema (``Change/keyPlaces``); nil if it lacks the
    ///   table. The changes of a table whose columns differ otherwise are kept, and cannot be applied.
    /// - Throws: ``Damage``, errors of `keyPlaces`.
    func reduced(to keyPlaces: (String) throws -> [UInt8]?) throws -> Changeset {
        var writer = ChangesetWriter()
        var isWhole = true
        for change in changes {
            let places = try keyPlaces(change.table)
            let reduced = places.flatMap(change.reduced)
            isWhole = isWhole && reduced == change
            if let reduced { writer.add(reduced) }
        }
        return isWhole ? self : try Changeset(bytes: Data(writer.bytes))
    }
}

extension Changeset.Change {
    /// Returns the change of the first columns; nil if it changes others only.
    fileprivate func reduced(to places: [UInt8]) -> Self? {
        let count = places.count
        guard count < keyPlaces.count, keyPlaces.starts(with: places), keyPlaces[count...].allSatisfy({ $0 == 0 })
        else { return self }
        let (old, new) = (Array(old.prefix(count)), Array(new.prefix(count)))
        if operation == .update, new.allSatisfy({ $0 == nil }) { return nil }
        return Self(
            table: table,
            operation: operation,
            isIndirect: isIndirect,
            keyPlaces: places,
            old: old,
            new: new
        )
    }
}

/// Writes changes in the format of changesets.
struct ChangesetWriter {
    private(set) var bytes: [UInt8] = []
    private var table: (name: String, keyPlaces: [UInt8])?

    mutating func add(_ change: Changeset.Change) {
        if table?.name != change.table || table?.keyPlaces != change.keyPlaces {
            table = (change.table, change.keyPlaces)
            bytes.append(UInt8(ascii: "T"))
            bytes += Self.varint(change.keyPlaces.count) + change.keyPlaces + change.table.utf8 + [0]
        }
        bytes += [change.operation.rawValue, change.isIndirect ? 1 : 0]
        for value in change.old + change.new { add(value) }
    }

    /// Returns the changeset of the changes that were added since the last one; nil if there are none.
    ///
    /// - Throws: ``Changeset/Damage`` if SQLite could not read it.
    mutating func take() throws(Changeset.Damage) -> Changeset? {
        guard !bytes.isEmpty else { return nil }
        defer { (bytes, table) = ([], nil) }
        return try Changeset(bytes: Data(bytes))
    }

    private mutating func add(_ value: DatabaseValue?) {
        switch value?.storage {
        case nil: bytes.append(0)
        case .null: bytes.append(5)
        case .int64(let number): add(1, UInt64(bitPattern: number))
        case .double(let number): add(2, number.bitPattern)
        case .string(let text): add(3, Array(text.utf8))
        case .blob(let data): add(4, Array(data))
        }
    }

    private mutating func add(_ type: UInt8, _ number: UInt64) {
        bytes.append(type)
        withUnsafeBytes(of: number.bigEndian) { bytes += $0 }
    }

    private mutating func add(_ type: UInt8, _ value: [UInt8]) {
        bytes.append(type)
        bytes += Self.varint(value.count)
        bytes += value
    }

    /// 7 bits a byte, the highest first.
    private static func varint(_ number: Int) -> [UInt8] {
        var bytes = [UInt8(number & 0x7F)]
        var rest = number >> 7
        while rest > 0 {
            bytes.insert(UInt8(rest & 0x7F) | 0x80, at: 0)
            rest >>= 7
        }
        return bytes
    }
}

/// Reads the format of changesets (`sqlite3session.c`, "Changeset Format").
private struct ChangesetReader {
    private struct Table {
        let name: String
        let keyPlaces: [UInt8]
    }

    /// The most columns that SQLite can be built for.
    private static let mostColumns = 32_767

    private let bytes: [UInt8]
    private var offset = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Reads all changes up to the last byte.
    mutating func changes() throws(Changeset.Damage) -> [Changeset.Change] {
        var table: Table?
        var found: [Changeset.Change] = []
        while offset < bytes.count {
            if bytes[offset] == UInt8(ascii: "T") {
                table = try header()
            } else {
                guard let table else { throw damage }
                found.append(try change(of: table))
            }
        }
        return found
    }

    private var damage: Changeset.Damage { .malformed(offset: offset) }

    private mutating func header() throws(Changeset.Damage) -> Table {
        offset += 1
        let count = try varint()
        guard 1...Self.mostColumns ~= count else { throw damage }
        let places = Array(try take(count))
        guard places.contains(where: { $0 > 0 }) else { throw damage }
        guard let end = bytes[offset...].firstIndex(of: 0), end > offset,
            let name = String(validating: bytes[offset..<end], as: UTF8.self)
        else { throw damage }
        offset = end + 1
        return Table(name: name, keyPlaces: places)
    }

    private mutating func change(of table: Table) throws(Changeset.Damage) -> Changeset.Change {
        let start = offset
        let head = Array(try take(2))
        guard let code = head.first, let mark = head.last, mark <= 1,
            let operation = Changeset.Change.Operation(rawValue: code)
        else { throw .malformed(offset: start) }
        let old = operation == .insert ? [] : try values(table.keyPlaces.count)
        let new = operation == .delete ? [] : try values(table.keyPlaces.count)
        let isWhole =
            switch operation {
            case .insert: new.allSatisfy { $0 != nil }
            case .delete: old.allSatisfy { $0 != nil }
            case .update: zip(table.keyPlaces, old).allSatisfy { $0 == 0 || $1 != nil }
            }
        guard isWhole else { throw .malformed(offset: start) }
        return Changeset.Change(
            table: table.name,
            operation: operation,
            isIndirect: mark == 1,
            keyPlaces: table.keyPlaces,
            old: old,
            new: new
        )
    }

    private mutating func values(_ count: Int) throws(Changeset.Damage) -> [DatabaseValue?] {
        var values: [DatabaseValue?] = []
        for _ in 0..<count { values.append(try value()) }
        return values
    }

    private mutating func value() throws(Changeset.Damage) -> DatabaseValue? {
        let start = offset
        switch try take(1).first {
        case 0: return nil
        case 1: return Int64(bitPattern: try number()).databaseValue
        case 2: return Double(bitPattern: try number()).databaseValue
        case 3:
            guard let text = String(validating: try take(varint()), as: UTF8.self) else {
                throw .malformed(offset: start)
            }
            return text.databaseValue
        case 4: return Data(try take(varint())).databaseValue
        case 5: return .null
        default: throw .malformed(offset: start)
        }
    }

    private mutating func number() throws(Changeset.Damage) -> UInt64 {
        try take(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Reads a number of 7 bits a byte, the highest first.
    private mutating func varint() throws(Changeset.Damage) -> Int {
        var value = 0
        for _ in 0..<5 {
            guard let byte = try take(1).first else { throw damage }
            value = value << 7 | Int(byte & 0x7F)
            if byte < 0x80 { return value }
        }
        throw damage
    }

    private mutating func take(_ count: Int) throws(Changeset.Damage) -> ArraySlice<UInt8> {
        guard count <= bytes.count - offset else { throw damage }
        defer { offset += count }
        return bytes[offset..<offset + count]
    }
}

package import GRDB

/// Identifies a blob by a random positive number: the row's id in table `blob` and, in hexadecimal, the name of its
/// file.
package struct BlobID: Hashable, Sendable, CustomStringConvertible {
    let number: Int64

    package init(number: Int64) {
        self.number = number
    }

    /// Parses the name of a file; nil if it is not the name of a blob.
    package init?(fileName: String) {
        guard fileName.utf8.count == 16, let number = Int64(fileName, radix: 16), number > 0 else { return nil }
        self.number = number
    }

    /// Creates an identity of 63 random bits: a collision is less likely than a fault of the disk. It is no secret.
    package static func random() -> BlobID {
        BlobID(number: Int64.random(in: 1...Int64.max))
    }

    var fileName: String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// The name of the file while it is written, and until a committed row names it.
    var unfinishedName: String { fileName + Self.unfinishedSuffix }

    private static let unfinishedSuffix = ".part"

    /// Parses the name of an unfinished file; nil if it is none.
    init?(unfinishedName: String) {
        guard unfinishedName.hasSuffix(Self.unfinishedSuffix) else { return nil }
        self.init(fileName: String(unfinishedName.dropLast(Self.unfinishedSuffix.count)))
    }

    /// The name of the file.
    package var description: String { fileName }
}

extension BlobID: DatabaseValueConvertible {
    /// The id of the row.
    package var databaseValue: DatabaseValue { number.databaseValue }

    /// Reads the id of a row; nil unless it is a positive integer.
    package static func fromDatabaseValue(_ value: DatabaseValue) -> BlobID? {
        Int64.fromDatabaseValue(value).flatMap { $0 > 0 ? BlobID(number: $0) : nil }
    }
}

/// A body that is stored as a file.
package struct Blob: Hashable, Sendable {
    package var id: BlobID
    /// The length in bytes.
    package var length: Int
    /// Removes the file if no row ever names it; nil for a blob that was read from a row.
    let claim: BlobClaim?

    /// Creates the description of a blob that a row names.
    package init(id: BlobID, length: Int) {
        self.init(id: id, length: length, claim: nil)
    }

    init(id: BlobID, length: Int, claim: BlobClaim?) {
        self.id = id
        self.length = length
        self.claim = claim
    }

    /// Returns whether both name the same file of the same length.
    package static func == (one: Blob, other: Blob) -> Bool {
        one.id == other.id && one.length == other.length
    }

    /// Hashes identity and length.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(id)
        hasher.combine(length)
    }
}

extension Sequence<UInt8> {
    /// The bytes as lowercase hexadecimal digits, two a byte.
    package var hexadecimal: String {
        map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}

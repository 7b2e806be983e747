public import GRDB

/// Identity of a blob: a random positive number, which is the row's id in table `blob` and, in hexadecimal, the name of
/// its file.
public struct BlobID: Hashable, Sendable, CustomStringConvertible {
    let number: Int64

    init(number: Int64) {
        self.number = number
    }

    /// Reads back a file's name; nil for names that no blob has.
    init?(fileName: String) {
        guard fileName.utf8.count == 16, let number = Int64(fileName, radix: 16), number > 0 else { return nil }
        self.number = number
    }

    /// 63 random bits: that two of them meet is less likely than a disk that lies. Nobody gains by guessing one.
    static func random() -> BlobID {
        BlobID(number: Int64.random(in: 1...Int64.max))
    }

    var fileName: String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// The file's name.
    public var description: String { fileName }
}

extension BlobID: DatabaseValueConvertible {
    /// The row's id.
    public var databaseValue: DatabaseValue { number.databaseValue }

    /// Reads a row's id; nil unless it is a positive integer.
    public static func fromDatabaseValue(_ value: DatabaseValue) -> BlobID? {
        Int64.fromDatabaseValue(value).flatMap { $0 > 0 ? BlobID(number: $0) : nil }
    }
}

/// A body that is kept as a file. Two are equal if they name the same file.
public struct Blob: Hashable, Sendable {
    /// Which one.
    public var id: BlobID
    /// Bytes in it.
    public var length: Int
    /// What removes the file if no row comes to name it; nil for a blob that was read from a row.
    let claim: BlobClaim?

    /// Creates the description of a blob, as a table that owns one gives it back.
    public init(id: BlobID, length: Int) {
        self.init(id: id, length: length, claim: nil)
    }

    init(id: BlobID, length: Int, claim: BlobClaim?) {
        self.id = id
        self.length = length
        self.claim = claim
    }

    /// Whether both name the same file of the same length.
    public static func == (one: Blob, other: Blob) -> Bool {
        one.id == other.id && one.length == other.length
    }

    /// Feeds identity and length.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(id)
        hasher.combine(length)
    }
}

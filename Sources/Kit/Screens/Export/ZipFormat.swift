import CZlib
import Foundation

/// The records of a ZIP archive (APPNOTE.TXT 6.3.10), with ZIP64 fields where a number needs more than 32 bits.
struct ZipFormat: Sendable {
    /// How the bytes of an entry are stored.
    enum Method: UInt16, Sendable {
        case stored = 0
        case deflated = 8
    }

    /// The header of an entry, which precedes its bytes and is repeated at the end of the archive.
    struct Entry: Sendable {
        var name: String
        var method: Method
        var modified: Date
        /// Bytes before they were compressed.
        var length: UInt64
        /// Bytes in the archive.
        var packedLength: UInt64
        /// CRC-32 of the bytes before they were compressed.
        var checksum: UInt32 = 0
        /// Offset of its local header.
        var offset: UInt64 = 0
    }

    /// The first number that has no room in a field of 32 bits. Tests lower it.
    var limit: UInt64 = 0xFFFF_FFFF

    /// Value of a field whose number is in a ZIP64 field.
    private static let elsewhere: UInt32 = 0xFFFF_FFFF

    func localHeader(_ entry: Entry) -> Data {
        let isLarge = max(entry.length, entry.packedLength) >= limit
        let extra = isLarge ? Self.zip64([entry.length, entry.packedLength]) : Data()
        var record = Data()
        record.append(UInt32(0x0403_4B50))
        record.append(common(entry, isLarge: isLarge, isLargeLengths: isLarge))
        record.append(UInt16(entry.name.utf8.count))
        record.append(UInt16(extra.count))
        return record + Data(entry.name.utf8) + extra
    }

    /// Returns the entry's record in the directory of the archive.
    func directoryHeader(_ entry: Entry) -> Data {
        let hasLargeLengths = max(entry.length, entry.packedLength) >= limit
        let isFar = entry.offset >= limit
        let numbers = (hasLargeLengths ? [entry.length, entry.packedLength] : []) + (isFar ? [entry.offset] : [])
        let extra = numbers.isEmpty ? Data() : Self.zip64(numbers)
        var record = Data()
        record.append(UInt32(0x0201_4B50))
        // Made on Unix, so that the attributes are those of a file there.
        record.append(UInt16(3 << 8 | 45))
        record.append(common(entry, isLarge: !numbers.isEmpty, isLargeLengths: hasLargeLengths))
        record.append(UInt16(entry.name.utf8.count))
        record.append(UInt16(extra.count))
        for _ in 1...3 { record.append(UInt16(0)) }
        // A regular file that its owner reads and writes.
        record.append(UInt32(0o100600) << 16)
        record.append(isFar ? Self.elsewhere : UInt32(entry.offset))
        return record + Data(entry.name.utf8) + extra
    }

    /// Returns the end of an archive.
    ///
    /// - Parameters:
    ///   - count: the number of its entries.
    ///   - start: where the directory begins.
    ///   - length: the bytes of the directory.
    func end(count: Int, directoryAt start: UInt64, length: UInt64) -> Data {
        var record = Data()
        let isLarge = start >= limit || length >= limit || count >= 0xFFFF
        if isLarge {
            record.append(UInt32(0x0606_4B50))
            record.append(UInt64(44))
            for version in [UInt16(3 << 8 | 45), 45] { record.append(version) }
            for disk in [UInt32(0), 0] { record.append(disk) }
            for number in [UInt64(count), UInt64(count), length, start] { record.append(number) }
            record.append(UInt32(0x0706_4B50))
            record.append(UInt32(0))
            record.append(start + length)
            record.append(UInt32(1))
        }
        record.append(UInt32(0x0605_4B50))
        for disk in [UInt16(0), 0] { record.append(disk) }
        for _ in 1...2 { record.append(isLarge ? UInt16(0xFFFF) : UInt16(count)) }
        record.append(isLarge ? Self.elsewhere : UInt32(length))
        record.append(isLarge ? Self.elsewhere : UInt32(start))
        record.append(UInt16(0))
        return record
    }

    /// Returns the fields from the version that is needed up to the lengths, which both headers have.
    private func common(_ entry: Entry, isLarge: Bool, isLargeLengths: Bool) -> Data {
        var record = Data()
        record.append(UInt16(isLarge ? 45 : 20))
        // The name is UTF-8.
        record.append(UInt16(1 << 11))
        record.append(entry.method.rawValue)
        let (date, time) = Self.stamp(entry.modified)
        record.append(time)
        record.append(date)
        record.append(entry.checksum)
        record.append(isLargeLengths ? Self.elsewhere : UInt32(entry.packedLength))
        record.append(isLargeLengths ? Self.elsewhere : UInt32(entry.length))
        return record
    }

    private static func zip64(_ numbers: [UInt64]) -> Data {
        var field = Data()
        field.append(UInt16(1))
        field.append(UInt16(8 * numbers.count))
        for number in numbers { field.append(number) }
        return field
    }

    /// Returns a time in UTC as MS-DOS writes it, from 1980 to 2107, in steps of two seconds.
    private static func stamp(_ moment: Date) -> (date: UInt16, time: UInt16) {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second], from: moment)
        let year = min(max(parts.year ?? 1980, 1980), 2107) - 1980
        let date = year << 9 | (parts.month ?? 1) << 5 | (parts.day ?? 1)
        let time = (parts.hour ?? 0) << 11 | (parts.minute ?? 0) << 5 | (parts.second ?? 0) / 2
        return (UInt16(truncatingIfNeeded: date), UInt16(truncatingIfNeeded: time))
    }
}

extension Data {
    /// Appends a number, its lowest byte first.
    fileprivate mutating func append(_ number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
    }
}

/// Names of files in one folder: such that Windows, macOS and Linux take them, each used once whatever its case.
struct FileNames: Sendable {
    /// Longest name in bytes of UTF-8, ending included.
    static let longest = 200

    private var used: Set<String> = []
    /// The number from which on a name is looked for: without it, many files of one name would take quadratic time.
    private var next: [String: Int] = [:]

    /// Returns a name with an ending that no file has yet: the given one as far as possible, with a number if needed.
    mutating func unused(_ name: String, ending: String) -> String {
        let stem = Self.safe(name)
        let key = Self.folded("\(stem).\(ending)")
        var number = next[key, default: 1]
        defer { next[key] = number + 1 }
        while true {
            let tail = number == 1 ? ".\(ending)" : " (\(number)).\(ending)"
            let candidate = Self.shortened(stem, to: Self.longest - tail.utf8.count) + tail
            if used.insert(Self.folded(candidate)).inserted { return candidate }
            number += 1
        }
    }

    private static func folded(_ name: String) -> String { name.lowercased().precomposedStringWithCanonicalMapping }

    /// Returns a name that all systems accept: without reserved characters and names, dots and spaces at its ends.
    static func safe(_ name: String) -> String {
        let scalars = name.precomposedStringWithCanonicalMapping.unicodeScalars.map { scalar in
            isRefused(scalar) ? "_" : Character(scalar)
        }
        let text = String(scalars).trimmingCharacters(in: CharacterSet(charactersIn: ". "))
        let stem = text.prefix { $0 != "." }.uppercased()
        return text.isEmpty || reserved.contains(stem.trimmingCharacters(in: .whitespaces)) ? "_\(text)" : text
    }

    private static func isRefused(_ scalar: Unicode.Scalar) -> Bool {
        if "<>:\"/\\|?*".unicodeScalars.contains(scalar) { return true }
        return switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned, .privateUse: true
        default: false
        }
    }

    /// Devices of Windows.
    private static let reserved: Set<String> = {
        let numbered = (0...9).flatMap { ["COM\($0)", "LPT\($0)"] }
        return Set(["CON", "PRN", "AUX", "NUL"] + numbered)
    }()

    /// Whole characters only.
    private static func shortened(_ name: String, to bytes: Int) -> String {
        var count = 0
        let kept = name.prefix { character in
            count += character.utf8.count
            return count <= bytes
        }
        return kept.trimmingCharacters(in: .whitespaces)
    }
}

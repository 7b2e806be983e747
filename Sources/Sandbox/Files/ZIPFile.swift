/// Writes a zip archive whose files are stored, not compressed (PKWARE APPNOTE 6.3, method 0).
enum ZIPFile {
    struct Entry {
        /// With `/` between folders.
        let name: String
        let content: [UInt8]
    }

    static func encode(_ entries: [Entry]) -> [UInt8] {
        var bytes: [UInt8] = []
        var directory: [UInt8] = []
        for entry in entries {
            let place = bytes.count
            let name = Array(entry.name.utf8)
            // Version 2.0, names in UTF-8, stored, 1 January 2024 at midnight.
            let common =
                little(20, 2) + little(0x0800, 2) + little(0, 2) + little(0, 2) + little(0x5821, 2)
                + little(Int(PNG.crc32(entry.content)), 4) + little(entry.content.count, 4)
                + little(entry.content.count, 4) + little(name.count, 2)
            bytes += little(0x0403_4B50, 4) + common + little(0, 2) + name + entry.content
            directory +=
                little(0x0201_4B50, 4) + little(20, 2) + common + little(0, 2 + 2 + 2 + 2 + 4) + little(place, 4) + name
        }
        let end =
            little(0x0605_4B50, 4) + little(0, 4) + little(entries.count, 2) + little(entries.count, 2)
            + little(directory.count, 4)
        return bytes + directory + end + little(bytes.count, 4) + little(0, 2)
    }

    /// `count` bytes, the lowest first.
    private static func little(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { $0 < 8 ? UInt8(value >> (8 * $0) & 0xFF) : 0 }
    }
}

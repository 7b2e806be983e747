import CZlib
import Foundation

/// Files that no tool makes: with an orientation, with heads that lie.
enum PictureFixtures {
    /// A JPEG with an EXIF segment that tells an orientation.
    static func jpeg(_ jpeg: [UInt8], orientation: Int, littleEndian: Bool = false) -> [UInt8] {
        func number(_ value: Int, _ bytes: Int) -> [UInt8] {
            let big = (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * (bytes - 1 - $0))) }
            return littleEndian ? big.reversed() : big
        }
        var content =
            Array("Exif\0\0".utf8) + (littleEndian ? [0x49, 0x49] : [0x4D, 0x4D]) + number(42, 2) + number(8, 4)
        content +=
            number(1, 2) + number(0x0112, 2) + number(3, 2) + number(1, 4) + number(orientation, 2) + [0, 0]
            + number(0, 4)
        let length = content.count + 2
        return Array(jpeg[0..<2]) + [0xFF, 0xE1, UInt8(length >> 8), UInt8(length & 0xFF)] + content + jpeg[2...]
    }

    /// Returns a JPEG without its EXIF, XMP (both APP1) and IPTC (APP13) segments, and with all other bytes unchanged.
    /// Independent of the product's own code: it reads no further than the first scan.
    static func withoutMetadata(_ jpeg: [UInt8]) -> [UInt8] {
        var kept = Array(jpeg[0..<2])
        var offset = 2
        while offset + 3 < jpeg.count, jpeg[offset] == 0xFF, jpeg[offset + 1] != 0xDA {
            let end = min(offset + 2 + Int(jpeg[offset + 2]) << 8 + Int(jpeg[offset + 3]), jpeg.count)
            if jpeg[offset + 1] != 0xE1 && jpeg[offset + 1] != 0xED { kept += jpeg[offset..<end] }
            offset = end
        }
        return kept + jpeg[offset...]
    }

    /// A TIFF of pages of one colour each (TIFF 6.0 section 2, little-endian, not compressed).
    static func tiff(_ pages: [(width: Int, height: Int, color: Pixels.Color)]) -> [UInt8] {
        func little(_ value: Int, _ bytes: Int) -> [UInt8] {
            (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        var file: [UInt8] = Array("II*\0".utf8) + little(0, 4)
        var link = 4
        for page in pages {
            let (bits, pixels) = (file.count, file.count + 6)
            file += [8, 8, 8].flatMap { little($0, 2) }
            file += Pixels(width: page.width, height: page.height) { _, _ in page.color }.bytes
            file.replaceSubrange(link..<(link + 4), with: little(file.count, 4))
            // Tag, type (3 SHORT, 4 LONG), number of values, value or offset.
            let entries = [
                (256, 3, 1, page.width), (257, 3, 1, page.height), (258, 3, 3, bits), (259, 3, 1, 1), (262, 3, 1, 2),
                (273, 4, 1, pixels), (277, 3, 1, 3), (278, 3, 1, page.height),
                (279, 4, 1, 3 * page.width * page.height), (284, 3, 1, 1),
            ]
            file += little(entries.count, 2)
            for entry in entries {
                file += little(entry.0, 2) + little(entry.1, 2) + little(entry.2, 4) + little(entry.3, 4)
            }
            link = file.count
            file += little(0, 4)
        }
        return file
    }

    /// A PNG of any head, with the chunks that are given behind it.
    static func png(
        width: Int,
        height: Int,
        depth: UInt8 = 8,
        colorType: UInt8 = 2,
        interlaced: Bool = false,
        chunks: [(String, [UInt8])] = []
    ) -> [UInt8] {
        let head = number(width) + number(height) + [depth, colorType, 0, 0, interlaced ? 1 : 0]
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
            + ([("IHDR", head)] + chunks + [("IEND", [])]).flatMap { chunk($0.0, $0.1) }
    }

    /// A PNG of 96 × 64 pixels of two bits: four bars, of values 0 to 3.
    static func bars(colorType: UInt8, chunks: [(String, [UInt8])]) -> [UInt8] {
        var row: [UInt8] = [0]
        for value: UInt8 in [0x00, 0x55, 0xAA, 0xFF] { row += [UInt8](repeating: value, count: 6) }
        var rows: [UInt8] = []
        for _ in 0..<64 { rows += row }
        return png(width: 96, height: 64, depth: 2, colorType: colorType, chunks: chunks + [("IDAT", deflated(rows))])
    }

    static func chunk(_ type: String, _ content: [UInt8]) -> [UInt8] {
        let checked = Array(type.utf8) + content
        let sum = checked.withUnsafeBufferPointer { crc32(0, $0.baseAddress, UInt32($0.count)) }
        return number(content.count) + checked + number(Int(sum))
    }

    /// A zlib stream of bytes.
    static func deflated(_ bytes: [UInt8]) -> [UInt8] {
        var length = compressBound(UInt(bytes.count))
        var output = [UInt8](repeating: 0, count: Int(length))
        _ = bytes.withUnsafeBufferPointer { compress(&output, &length, $0.baseAddress, UInt($0.count)) }
        return Array(output.prefix(Int(length)))
    }

    private static func number(_ value: Int) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
    }

    /// 64 × 64 pixels with a small picture for previews that states 48 × 48 and is of another size, as in the files of
    /// Sony's cameras. Its hvc1 is by pillow-heif 1.8.1.
    static let heicOfSony = Array(Data(base64Encoded: sony, options: .ignoreUnknownCharacters) ?? Data())

    private static let sony = """
        AAAAHGZ0eXBoZWl4AAAAAG1pZjFoZWl4bWlhZgAAAa1tZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAAAAAAAA5waXRtAAAA
        AAABAAAAOGlpbmYAAAAAAAIAAAAVaW5mZQIAAAAAAQAAaHZjMQAAAAAVaW5mZQIAAAEAAgAAaHZjMQAAAAAaaXJlZgAAAAAAAAAOdGhtYgACAAEA
        AQAAAPBpcHJwAAAAy2lwY28AAAB4aHZjQwEDcAAAAJAAAAAAAB7wAPz9+PgAAA8DYAABABhAAQwB//8DcAAAAwCQAAADAAADAB66AkBhAAEAK0IB
        AQNwAAADAJAAAAMAAAMAHqAggQWW6kkprm4CGgwIAAADAMgAAAMACEBiAAEAB0QBwXKwIkAAAAATY29scm5jbHgAAQANAAaAAAAAFGlzcGUAAAAA
        AAAAQAAAAEAAAAAQcGl4aQAAAAADCAgIAAAAFGlzcGUAAAAAAAAAMAAAADAAAAAdaXBtYQAAAAAAAAACAAEEgQMEAgACA4EFBAAAADBpbG9jAQAA
        AEQAAAIAAQAAAAAAAQAAAdEAAABGAAIAAAAAAAEAAAHRAAAARgAAAE5tZGF0AAAAQigBrxmA94BD/eDbGlE2dSez9FOEjXXgiIn7dYofND9kA3cm
        ligqDJbi8iFipe8xbnLyHqi6AL6QEbNt318LsNyUMA==
        """
}

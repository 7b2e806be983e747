extension PictureHeader {
    /// TIFF 6.0 section 2: the first directory, which is what is shown of a file with several pages.
    static func tiff(_ reader: HeaderReader<some ByteSource>) throws -> PictureHeader {
        let little = try reader.byte(at: 0) == 0x49
        let directory = try reader.number(at: 4, bytes: 4, littleEndian: little)
        let entries = try reader.number(at: directory, bytes: 2, littleEndian: little)
        guard entries <= 4096 else { throw PictureHeaderError.malformed("a TIFF directory of more than 4096 entries") }
        var values: [Int: Int] = [:]
        for index in 0..<entries {
            let at = directory + 2 + 12 * index
            let tag = try reader.number(at: at, bytes: 2, littleEndian: little)
            // Sizes, BitsPerSample, ExtraSamples; whether there is a profile (ICC.1:2010 annex B.4).
            guard [256, 257, 258, 338, 34675].contains(tag), values[tag] == nil else { continue }
            let isShort = try reader.number(at: at + 2, bytes: 2, littleEndian: little) == 3
            let fits = try reader.number(at: at + 4, bytes: 4, littleEndian: little) * (isShort ? 2 : 4) <= 4
            // A value, or the first of several, is in the entry if they fit, else at the offset there (section 2,
            // "Value/Offset").
            let place = fits ? at + 8 : try reader.number(at: at + 8, bytes: 4, littleEndian: little)
            values[tag] = try reader.number(at: place, bytes: isShort ? 2 : 4, littleEndian: little)
        }
        guard let width = values[256], let height = values[257] else {
            throw PictureHeaderError.malformed("a TIFF without a size")
        }
        var header = PictureHeader(.tiff, width: width, height: height)
        header.mayBeTransparent = values[338] != nil
        header.hasProfile = values[34675] != nil
        header.bitsPerSample = values[258] ?? 1
        return header
    }
}

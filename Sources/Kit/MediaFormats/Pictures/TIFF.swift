extension PictureHeader {
    /// TIFF 6.0 section 2: the first page of the file.
    static func tiff(_ reader: HeaderReader<some ByteSource>) throws -> PictureHeader {
        var directories = try TIFFDirectories(reader)
        guard try !directories.isCanonRaw(reader) else { throw PictureHeaderError.unsupported(cameraRaw) }
        while let directory = try directories.next() {
            guard directory.values[50706] == nil else { throw PictureHeaderError.unsupported(cameraRaw) }
            if !directory.isAuxiliary { return try header(of: directory) }
        }
        // A file of nothing but reduced pictures: the first one is shown, unless the picture is of another kind.
        directories = try TIFFDirectories(reader)
        guard let first = try directories.next() else { throw PictureHeaderError.malformed("a TIFF without a page") }
        guard first.values[330] == nil else { throw PictureHeaderError.unsupported(cameraRaw) }
        return try header(of: first)
    }

    /// Returns the headers of all pages of a file: of a TIFF one for each page, without reduced pictures and masks
    /// (TIFF 6.0, NewSubfileType); of other formats one.
    ///
    /// - Parameter maximum: the most pages.
    /// - Throws: ``PictureHeaderError``, `tooManyPages` for more pages; errors of the source.
    package static func pages(of source: some ByteSource, maximum: Int) throws -> [PictureHeader] {
        let first = try PictureHeader(of: source)
        guard first.format == .tiff else { return [first] }
        var directories = try TIFFDirectories(HeaderReader(source: source))
        var pages: [PictureHeader] = []
        while let directory = try directories.next() {
            guard !directory.isAuxiliary else { continue }
            guard pages.count < maximum else { throw PictureHeaderError.tooManyPages }
            pages.append(try header(of: directory))
        }
        return pages.isEmpty ? [first] : pages
    }

    /// DNG, NEF, CR2 and others are TIFFs whose pages are thumbnails of the sensor's data.
    private static let cameraRaw = "a camera RAW file"

    private static func header(of directory: TIFFDirectories.Directory) throws -> PictureHeader {
        // The pixels of a sensor behind a filter of colours, or linear ones (TIFF/EP, DNG).
        guard ![32803, 34892].contains(directory.values[262]) else { throw PictureHeaderError.unsupported(cameraRaw) }
        guard let width = directory.values[256], let height = directory.values[257], width > 0, height > 0 else {
            throw PictureHeaderError.malformed("a TIFF without a size")
        }
        var header = PictureHeader(.tiff, width: width, height: height)
        header.mayBeTransparent = directory.values[338] != nil
        header.hasProfile = directory.values[34675] != nil
        header.bitsPerSample = directory.values[258] ?? 1
        header.page = directory.number
        header.pixelAspect = directory.pixelAspect
        return header
    }
}

/// The directories of a TIFF or BigTIFF, in the order of their chain (TIFF 6.0 section 2; BigTIFF, Aware Systems).
struct TIFFDirectories {
    /// A directory: the first values of the tags that matter here.
    struct Directory {
        /// Its position in the chain, from 0.
        let number: Int
        let values: [Int: Int]
        /// Pixels of a unit across and down.
        let densities: [Int: Double]

        /// Whether it is a reduced picture or a mask of another page (NewSubfileType bits 0 and 2, SubfileType 2).
        var isAuxiliary: Bool { (values[254] ?? 0) & 0b101 != 0 || values[255] == 2 }

        /// Height of a pixel by its width after orientation; 1 for one that no device has.
        var pixelAspect: Double {
            guard let across = densities[282], let down = densities[283] else { return 1 }
            // Orientations from 5 on swap the sides.
            let aspect = (values[274] ?? 1) < 5 ? across / down : down / across
            return (0.2...5).contains(aspect) ? aspect : 1
        }
    }

    private let read: (_ offset: Int, _ bytes: Int) throws -> Int
    /// Bytes of an offset: 4, or 8 in a BigTIFF.
    private let width: Int
    private var offset: Int
    private var seen: Set<Int> = []

    /// NewSubfileType, SubfileType, sizes, BitsPerSample, PhotometricInterpretation, Orientation, SubIFDs,
    /// ExtraSamples, the profile (ICC.1:2010 annex B.4), and DNGVersion.
    private static let tags: Set<Int> = [254, 255, 256, 257, 258, 262, 274, 330, 338, 34675, 50706]

    init<Source: ByteSource>(_ reader: HeaderReader<Source>) throws {
        let little = try reader.byte(at: 0) == 0x49
        read = { offset, bytes in
            guard bytes == 8 else { return try reader.number(at: offset, bytes: bytes, littleEndian: little) }
            guard try reader.byte(at: little ? offset + 7 : offset) == 0 else { throw PictureHeaderError.truncated }
            return try reader.number(at: little ? offset : offset + 1, bytes: 7, littleEndian: little)
        }
        width = try read(2, 2) == 43 ? 8 : 4
        offset = try read(width, width)
    }

    /// Whether it is a CR2, whose mark is between its head and its first directory.
    func isCanonRaw<Source: ByteSource>(_ reader: HeaderReader<Source>) throws -> Bool {
        try offset == 16 && reader.byte(at: 8) == 0x43 && reader.byte(at: 9) == 0x52
    }

    /// Returns the next directory; nil after the last one.
    ///
    /// - Throws: ``PictureHeaderError``, also for a chain that is a cycle.
    mutating func next() throws -> Directory? {
        guard offset != 0 else { return nil }
        guard seen.insert(offset).inserted else { throw PictureHeaderError.malformed("TIFF pages that form a circle") }
        let isBig = width == 8
        let entries = try read(offset, isBig ? 8 : 2)
        guard entries <= 4096 else { throw PictureHeaderError.malformed("a TIFF directory of more than 4096 entries") }
        let (start, length) = (offset + (isBig ? 8 : 2), isBig ? 20 : 12)
        var (values, densities): ([Int: Int], [Int: Double]) = ([:], [:])
        for index in 0..<entries {
            let at = start + length * index
            let tag = try read(at, 2)
            if tag == 282 || tag == 283 { densities[tag] = density(at: at) }
            guard Self.tags.contains(tag), values[tag] == nil else { continue }
            values[tag] = try value(at: at)
        }
        offset = try read(start + length * entries, width)
        return Directory(number: seen.count - 1, values: values, densities: densities)
    }

    /// Returns XResolution or YResolution, a RATIONAL; nil if it cannot be read, for which no picture is refused.
    private func density(at entry: Int) -> Double? {
        do {
            guard try read(entry + 2, 2) == 5 else { return nil }
            let place = width == 8 ? entry + 12 : try read(entry + 8, 4)
            let (numerator, denominator) = (try read(place, 4), try read(place + 4, 4))
            return numerator > 0 && denominator > 0 ? Double(numerator) / Double(denominator) : nil
        } catch { return nil }
    }

    /// Returns the value of an entry, or the first of several, which are in the entry if they fit, else at the offset
    /// there (section 2, "Value/Offset").
    private func value(at entry: Int) throws -> Int {
        // SHORT, LONG8 and IFD8; everything else that is read here is LONG, or has only to be there.
        let type = try read(entry + 2, 2)
        let bytes = type == 3 ? 2 : type == 16 || type == 18 ? 8 : type == 1 || type == 7 ? 1 : 4
        let count = try read(entry + 4, width)
        let place = entry + 4 + width
        let fits = count.multipliedReportingOverflow(by: bytes)
        return try read(!fits.overflow && fits.partialValue <= width ? place : try read(place, width), bytes)
    }
}

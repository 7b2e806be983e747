extension PictureHeader {
    /// HEIF (ISO/IEC 23008-12): the largest `ispe` property in `meta/iprp/ipco`. A picture of tiles also has one for
    /// the whole. A `clap` property may crop it, which is common because HEVC has even sizes: the size here is that
    /// which is decoded.
    static func highEfficiency(_ reader: HeaderReader<some ByteSource>, _ format: PictureFormat) throws -> PictureHeader
    {
        var boxes = BoxWalk(reader: reader)
        let meta = try meta(of: reader, &boxes)
        let container = try propertyContainer(of: meta, &boxes)
        var header = PictureHeader(format, width: 0, height: 0)
        for box in try boxes.children(of: container) { try header.read(box, reader) }
        guard header.width > 0 else { throw PictureHeaderError.malformed("a HEIF file without a size") }
        header.hasFurtherPictures =
            try HEIFItems(reader, meta: meta, &boxes).pictures > 1
            || boxes.first("moov", in: 0..<reader.count) != nil
        return header
    }

    /// Returns the range of the children of `meta`, a full box: version and flags precede them.
    private static func meta<Source: ByteSource>(of reader: HeaderReader<Source>, _ boxes: inout BoxWalk<Source>)
        throws -> Range<Int>
    {
        guard let meta = try boxes.first("meta", in: 0..<reader.count) else {
            throw PictureHeaderError.malformed("a HEIF file without a meta box")
        }
        return (meta.lowerBound + 4)..<max(meta.upperBound, meta.lowerBound + 4)
    }

    /// Returns the range of `meta/iprp/ipco`.
    private static func propertyContainer<Source: ByteSource>(of meta: Range<Int>, _ boxes: inout BoxWalk<Source>)
        throws -> Range<Int>
    {
        guard let properties = try boxes.first("iprp", in: meta),
            let container = try boxes.first("ipco", in: properties)
        else { throw PictureHeaderError.malformed("a HEIF file without properties") }
        return container
    }

    private mutating func read<Source: ByteSource>(_ box: BoxWalk<Source>.Box, _ reader: HeaderReader<Source>) throws {
        let start = box.content.lowerBound
        switch box.type {
        case "ispe":
            // Two numbers of 32 bits, whose product may overflow: `pixels` checks that.
            let size = PictureHeader(
                format,
                width: try reader.number(at: start + 4, bytes: 4),
                height: try reader.number(at: start + 8, bytes: 4)
            )
            if size.pixels > pixels { (width, height) = (size.width, size.height) }
        case "colr":
            if ["prof", "rICC"].contains(try reader.text(at: start, count: 4)) { hasProfile = true }
        case "auxC":
            let name = try reader.text(at: start + 4, count: min(64, max(0, box.content.count - 4)))
            if name.contains("alpha") || name.contains("hevc:2015:auxid:1") { mayBeTransparent = true }
        default: break
        }
    }
}

/// Boxes of ISO base media files (ISO/IEC 14496-12 4.2), at most some thousand in all.
struct BoxWalk<Source: ByteSource> {
    struct Box {
        let type: String
        let content: Range<Int>
    }

    let reader: HeaderReader<Source>
    private var steps = 0

    init(reader: HeaderReader<Source>) {
        self.reader = reader
    }

    mutating func first(_ type: String, in range: Range<Int>) throws -> Range<Int>? {
        try children(of: range) { $0.type == type }.last.flatMap { $0.type == type ? $0.content : nil }
    }

    /// Returns the boxes in order, up to and including the first one that satisfies the condition.
    mutating func children(of range: Range<Int>, until isLast: (Box) -> Bool = { _ in false }) throws -> [Box] {
        var boxes: [Box] = []
        var offset = range.lowerBound
        while offset + 8 <= range.upperBound {
            steps += 1
            guard steps < 8192 else { throw PictureHeaderError.malformed("a HEIF file of more than 8192 boxes") }
            var header = 8
            var length = try reader.number(at: offset, bytes: 4)
            let type = try reader.text(at: offset + 4, count: 4)
            if length == 1 {
                header = 16
                guard try reader.byte(at: offset + 8) == 0 else {
                    throw PictureHeaderError.malformed("a HEIF box that is too large")
                }
                length = try reader.number(at: offset + 9, bytes: 7)
            } else if length == 0 {
                length = range.upperBound - offset
            }
            guard length >= header, length <= range.upperBound - offset else { throw PictureHeaderError.truncated }
            let box = Box(type: type, content: (offset + header)..<(offset + length))
            boxes.append(box)
            if isLast(box) { break }
            offset += length
        }
        return boxes
    }
}

/// The items of a HEIF file (ISO/IEC 14496-12 8.11.6 and 8.11.12, ISO/IEC 23008-12 6.6).
struct HEIFItems {
    /// Pictures that are shown by themselves: no tiles, thumbnails, masks or gain maps.
    let pictures: Int

    /// Types of items that are pictures: coded ones, and those that are derived of others.
    private static let types: Set<String> = ["hvc1", "hev1", "av01", "avc1", "jpeg", "grid", "iden", "iovl"]
    /// The most items that are read; a photo of 100 megapixels has some hundred tiles.
    private static let maximum = 4096

    init<Source: ByteSource>(_ reader: HeaderReader<Source>, meta: Range<Int>, _ boxes: inout BoxWalk<Source>) throws {
        var shown = try Self.shown(reader, meta, &boxes)
        guard shown.count > 1, let references = try boxes.first("iref", in: meta), references.count > 4 else {
            pictures = shown.count
            return
        }
        let bytes = try reader.byte(at: references.lowerBound) == 0 ? 2 : 4
        for box in try boxes.children(of: (references.lowerBound + 4)..<references.upperBound) {
            let start = box.content.lowerBound
            let from = try reader.number(at: start, bytes: bytes)
            switch box.type {
            case "thmb", "auxl": shown.remove(from)
            case "dimg":
                let count = try reader.number(at: start + bytes, bytes: 2)
                for index in 0..<min(count, Self.maximum) {
                    shown.remove(try reader.number(at: start + bytes + 2 + index * bytes, bytes: bytes))
                }
            default: break
            }
        }
        pictures = shown.count
    }

    /// Returns the numbers of the pictures that are not hidden.
    private static func shown<Source: ByteSource>(
        _ reader: HeaderReader<Source>,
        _ meta: Range<Int>,
        _ boxes: inout BoxWalk<Source>
    ) throws -> Set<Int> {
        guard let information = try boxes.first("iinf", in: meta), information.count >= 6 else { return [] }
        let header = try reader.byte(at: information.lowerBound) == 0 ? 6 : 8
        guard information.count >= header else { return [] }
        var shown: Set<Int> = []
        for box in try boxes.children(of: (information.lowerBound + header)..<information.upperBound) {
            guard box.type == "infe", box.content.count >= 12, shown.count < maximum else { continue }
            let start = box.content.lowerBound
            let version = try reader.byte(at: start)
            // Flag 1: hidden.
            guard version >= 2, try reader.byte(at: start + 3) & 1 == 0 else { continue }
            let bytes = version == 2 ? 2 : 4
            let type = try reader.text(at: start + 4 + bytes + 2, count: 4)
            if types.contains(type) { shown.insert(try reader.number(at: start + 4, bytes: bytes)) }
        }
        return shown
    }
}

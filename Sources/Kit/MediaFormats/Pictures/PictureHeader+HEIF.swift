extension PictureHeader {
    /// HEIF (ISO/IEC 23008-12): the largest `ispe` property in `meta/iprp/ipco`. A picture of tiles also has one for
    /// the whole. A `clap` property may crop it, which is common because HEVC has even sizes: the size here is that
    /// which is decoded.
    static func highEfficiency(_ reader: HeaderReader<some ByteSource>, _ format: PictureFormat) throws -> PictureHeader
    {
        var boxes = BoxWalk(reader: reader)
        let container = try propertyContainer(of: reader, &boxes)
        var header = PictureHeader(format, width: 0, height: 0)
        for box in try boxes.children(of: container) { try header.read(box, reader) }
        guard header.width > 0 else { throw PictureHeaderError.malformed("a HEIF file without a size") }
        return header
    }

    /// Returns the range of `meta/iprp/ipco`.
    private static func propertyContainer<Source: ByteSource>(
        of reader: HeaderReader<Source>,
        _ boxes: inout BoxWalk<Source>
    ) throws -> Range<Int> {
        guard let meta = try boxes.first("meta", in: 0..<reader.count) else {
            throw PictureHeaderError.malformed("a HEIF file without a meta box")
        }
        // meta is a full box: version and flags precede its children.
        guard
            let properties = try boxes.first(
                "iprp",
                in: (meta.lowerBound + 4)..<max(meta.upperBound, meta.lowerBound + 4)
            ),
            let container = try boxes.first("ipco", in: properties)
        else { throw PictureHeaderError.malformed("a HEIF file without properties") }
        return container
    }

    /// Reads one property.
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

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

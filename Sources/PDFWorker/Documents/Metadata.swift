import CQPDF
import Foundation
import MediaFormats

extension PDFFile {
    /// Removes the metadata from the data of a picture if it is a JPEG. A PDF of photos contains the files of a camera,
    /// which may have the photographer's position. Other data are not changed.
    func removeMetadata(ofPicture picture: Object, _ dictionary: Object) throws {
        guard name("/Subtype", of: dictionary) == "/Image" else { return }
        let filters = list("/Filter", of: dictionary)
        let parameters = list("/DecodeParms", of: dictionary)
        defer { for object in filters + parameters { release(object) } }
        guard let last = filters.last, let name = name(last), ["/DCTDecode", "/DCT"].contains(name),
            let photo = try data(of: picture, through: Array(filters.dropLast()), parameters)
        else { return }
        let clean = JPEGMetadata.removed(from: photo)
        // The data are not replaced if the only change is an added end marker.
        guard clean.count < photo.count else { return }
        let parameter = parameters.count == filters.count ? parameters.last : nil
        try replaceData(of: picture, by: clean, filter: last, parameters: parameter)
    }

    /// Returns the data of a stream after some of its filters; nil if libqpdf cannot undo them.
    private func data(of stream: Object, through filters: [Object], _ parameters: [Object]) throws -> Data? {
        guard !filters.isEmpty else { return try data(of: stream, decodeLevel: qpdf_dl_none) }
        guard let raw = try data(of: stream, decodeLevel: qpdf_dl_none) else { return nil }
        let part = qpdf_oh_new_stream(handle)
        defer { release(part) }
        let filter = try array(filters)
        let own = try array(Array(parameters.prefix(filters.count)))
        defer { for object in [filter, own] { release(object) } }
        let hasParameters = parameters.count > filters.count
        try replaceData(of: part, by: raw, filter: filter, parameters: hasParameters ? own : nil)
        return try data(of: part, decodeLevel: qpdf_dl_generalized)
    }

    func replaceData(of stream: Object, by data: Data, filter: Object, parameters: Object?) throws {
        let none = qpdf_oh_new_null(handle)
        defer { release(none) }
        data.withUnsafeBytes { buffer in
            qpdf_oh_replace_stream_data(
                handle,
                stream,
                buffer.bindMemory(to: UInt8.self).baseAddress,
                buffer.count,
                filter,
                parameters ?? none
            )
        }
        try check()
    }

    /// Returns the items of an array at a key of a dictionary, or the single value at the key, which may be null.
    private func list(_ key: String, of dictionary: Object) -> [Object] {
        let value = qpdf_oh_get_key(handle, dictionary, key)
        guard qpdf_oh_is_array(handle, value) != 0 else { return [value] }
        defer { release(value) }
        return (0..<qpdf_oh_get_array_n_items(handle, value)).map { qpdf_oh_get_array_item(handle, value, $0) }
    }
}

/// Removes metadata from a JPEG. The segments (ITU-T T.81 annex B) that decoders need are kept, including the colour
/// profile. Bytes outside of segments are removed, and so is everything after the picture, such as previews with
/// metadata of their own. The compressed data are not changed.
enum JPEGMetadata {
    /// Returns a JPEG without metadata. From the first malformed segment on, all data are kept, because decoders may
    /// show them.
    static func removed(from data: Data) -> Data {
        let parts = rest(of: data)
        var kept = Data(capacity: data.count + 2)
        for part in parts { kept.append(part) }
        return kept
    }

    /// Returns a JPEG without metadata in parts, which are not copied.
    static func rest(of data: Data) -> [Data] {
        let (ranges, hasEnd) = data.withUnsafeBytes { keptRanges(in: $0) }
        let parts = ranges.map { data[(data.startIndex + $0.lowerBound)..<(data.startIndex + $0.upperBound)] }
        return hasEnd ? parts : parts + [Data([0xFF, 0xD9])]
    }

    /// Returns the remaining parts, and whether they end with the marker for the end of a picture.
    private static func keptRanges(in bytes: UnsafeRawBufferPointer) -> (ranges: [Range<Int>], hasEnd: Bool) {
        guard bytes.starts(with: [0xFF, 0xD8]) else { return ([0..<bytes.count], true) }
        var kept = [0..<2]
        func keep(_ range: Range<Int>) {
            if let last = kept.last, last.upperBound == range.lowerBound {
                kept[kept.count - 1] = last.lowerBound..<range.upperBound
            } else {
                kept.append(range)
            }
        }
        var offset = 2
        while let segment = segment(at: offset, in: bytes) {
            if segment.marker == 0xD9 { return (kept, false) }
            if isKept(segment.marker, bytes[segment.range]) { keep(segment.range) }
            offset = segment.range.upperBound
            guard segment.marker == 0xDA else { continue }
            let end = endOfScan(from: offset, in: bytes)
            keep(offset..<end)
            offset = end
        }
        keep(offset..<bytes.count)
        return (kept, bytes[offset...].suffix(2).elementsEqual([0xFF, 0xD9]))
    }

    /// Whether a segment is kept: frames, tables, scans, restarts, JFIF, the colour profile, and Adobe's colour
    /// transform.
    private static func isKept(_ marker: UInt8, _ segment: Slice<UnsafeRawBufferPointer>) -> Bool {
        switch marker {
        case 0xC0...0xCF, 0xDA...0xDF: true
        case 0xE0: segment.dropFirst(4).starts(with: Array("JFIF\0".utf8))
        case 0xE2: segment.dropFirst(4).starts(with: Array("ICC_PROFILE\0".utf8))
        case 0xEE: segment.dropFirst(4).starts(with: Array("Adobe".utf8))
        default: false
        }
    }

    /// Returns the segment that begins at an offset, with its marker; nil if there is none.
    private static func segment(at start: Int, in bytes: UnsafeRawBufferPointer) -> (marker: UInt8, range: Range<Int>)?
    {
        var offset = start
        // Skips fill bytes (B.1.1.2) and bytes outside of segments.
        while offset + 1 < bytes.count, bytes[offset] != 0xFF || [0x00, 0xFF].contains(bytes[offset + 1]) {
            offset += 1
        }
        guard offset + 1 < bytes.count else { return nil }
        let marker = bytes[offset + 1]
        if marker == 0xD9 || marker == 0x01 || (0xD0...0xD7).contains(marker) {
            return (marker, offset..<(offset + 2))
        }
        guard offset + 3 < bytes.count else { return nil }
        let length = Int(bytes[offset + 2]) << 8 | Int(bytes[offset + 3])
        let end = offset + 2 + length
        return length >= 2 && end <= bytes.count ? (marker, offset..<end) : nil
    }

    /// Returns the end of the data of a scan: the next marker other than a restart (B.1.1.5).
    private static func endOfScan(from start: Int, in bytes: UnsafeRawBufferPointer) -> Int {
        var offset = start
        while offset + 1 < bytes.count, let base = bytes.baseAddress,
            let found = memchr(base + offset, 0xFF, bytes.count - 1 - offset)
        {
            offset = base.distance(to: UnsafeRawPointer(found))
            let next = bytes[offset + 1]
            if next != 0x00, next != 0xFF, !(0xD0...0xD7).contains(next) { return offset }
            offset += 1
        }
        return bytes.count
    }
}

/// The orientation of a photo (EXIF 2.32 4.6.4 A, tag 0x0112): the sides of the shown picture that are the first stored
/// line and column.
enum ExifOrientation: Int, CaseIterable {
    case upright = 1
    case mirrored, upsideDown, flipped, transposed, turnedRight, transversed, turnedLeft

    /// Whether the shown picture has the stored height as its width.
    var swapsSides: Bool { rawValue >= 5 }

    /// The matrix from stored to shown points: x' = ax + cy + e, y' = bx + dy + f. The points are in PDF's image space
    /// (x to the right, y up, each 0…1).
    var matrix: (a: Double, b: Double, c: Double, d: Double, e: Double, f: Double) {
        switch self {
        case .upright: (1, 0, 0, 1, 0, 0)
        case .mirrored: (-1, 0, 0, 1, 1, 0)
        case .upsideDown: (-1, 0, 0, -1, 1, 1)
        case .flipped: (1, 0, 0, -1, 0, 1)
        case .transposed: (0, -1, -1, 0, 1, 1)
        case .turnedRight: (0, -1, 1, 0, 0, 1)
        case .transversed: (0, 1, 1, 0, 0, 0)
        case .turnedLeft: (0, 1, -1, 0, 1, 0)
        }
    }

    /// Reads the content of an APP1 segment; nil if it is not of EXIF, or has no orientation.
    static func read(fromSegment content: [UInt8]) -> ExifOrientation? {
        guard content.starts(with: [0x45, 0x78, 0x69, 0x66, 0, 0]) else { return nil }
        let reader = HeaderReader(source: Array(content.dropFirst(6)))
        // A photo with malformed EXIF is shown without rotation.
        return try? read(reader)
    }

    private static func read(_ reader: HeaderReader<[UInt8]>) throws -> ExifOrientation? {
        let order = try reader.number(at: 0, bytes: 2)
        guard order == 0x4949 || order == 0x4D4D else { return nil }
        let little = order == 0x4949
        guard try reader.number(at: 2, bytes: 2, littleEndian: little) == 42 else { return nil }
        let directory = try reader.number(at: 4, bytes: 4, littleEndian: little)
        for index in 0..<(try reader.number(at: directory, bytes: 2, littleEndian: little)) {
            let entry = directory + 2 + 12 * index
            guard try reader.number(at: entry, bytes: 2, littleEndian: little) == 0x0112 else { continue }
            guard try reader.number(at: entry + 2, bytes: 2, littleEndian: little) == 3 else { return nil }
            return ExifOrientation(rawValue: try reader.number(at: entry + 8, bytes: 2, littleEndian: little))
        }
        return nil
    }
}

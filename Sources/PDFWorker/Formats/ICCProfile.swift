import Foundation

/// The colour profile of a picture (ICC.1:2010 7.2). It is embedded only if its header fits the picture, because
/// readers refuse others.
struct ICCProfile: Equatable {
    /// Profiles of photos have a few kilobytes, those of presses a few megabytes.
    static let maximumBytes = 8 << 20

    let bytes: Data

    /// Checks a profile.
    ///
    /// - Parameter components: colour components of the picture: 1, 3 or 4.
    init?(_ bytes: Data, components: Int) {
        guard bytes.count >= 128, bytes.count <= Self.maximumBytes else { return nil }
        let head = Array(bytes.prefix(128))
        let size = head[0..<4].reduce(0) { $0 << 8 | Int($1) }
        let space = [1: "GRAY", 3: "RGB ", 4: "CMYK"][components]
        guard size == bytes.count, head[36..<40].elementsEqual("acsp".utf8), let space,
            head[16..<20].elementsEqual(space.utf8)
        else { return nil }
        self.bytes = bytes
    }

    /// Joins the parts in the APP2 segments of a JPEG (ICC.1:2010 annex B.4); nil if one is missing.
    static func joined(_ segments: [[UInt8]]) -> Data? {
        let signature = Array("ICC_PROFILE".utf8) + [0]
        let parts = segments.filter { $0.count > 14 && $0.starts(with: signature) }
        guard let first = parts.first, Int(first[13]) == parts.count else { return nil }
        let ordered = parts.sorted { $0[12] < $1[12] }
        guard ordered.map({ Int($0[12]) }) == Array(1...parts.count) else { return nil }
        return Data(ordered.flatMap { $0.dropFirst(14) })
    }
}

extension ICCProfile {
    /// Makes a profile of the colours of sRGB with another gamma.
    ///
    /// - Parameters:
    ///   - gamma: the power to which a sample is light.
    ///   - components: colour components of the picture: 1 or 3; nil for others.
    init?(gamma: Double, components: Int) {
        guard components == 1 || components == 3 else { return nil }
        let isGrey = components == 1
        // A curve of one entry is an exponent in units of 1/256 (10.5).
        let curve = Self.type("curv", Self.number(1) + Self.number(Int((gamma * 256).rounded()), bytes: 2) + [0, 0])
        let name = Array("Gamma\0".utf8)
        var tags: [(String, [UInt8])] = [
            // ASCII, then empty texts in Unicode and in the script of a Macintosh (6.5.17 of ICC.1:2001).
            ("desc", Self.type("desc", Self.number(name.count) + name + [UInt8](repeating: 0, count: 78))),
            ("cprt", Self.type("text", Array("None\0".utf8))),
            ("wtpt", Self.point(0.9642, 1, 0.8249)),
        ]
        if isGrey {
            tags.append(("kTRC", curve))
        } else {
            // The primaries of sRGB, adapted to D50.
            tags += [
                ("rXYZ", Self.point(0.43607, 0.22249, 0.01392)), ("gXYZ", Self.point(0.38515, 0.71687, 0.09708)),
                ("bXYZ", Self.point(0.14307, 0.06061, 0.71410)), ("rTRC", curve), ("gTRC", curve), ("bTRC", curve),
            ]
        }
        var (table, contents) = (Self.number(tags.count), [UInt8]())
        let start = 128 + 4 + 12 * tags.count
        for (tag, content) in tags {
            table += Array(tag.utf8) + Self.number(start + contents.count) + Self.number(content.count)
            contents += content + [UInt8](repeating: 0, count: (4 - content.count % 4) % 4)
        }
        var head = Self.number(start + contents.count) + [0, 0, 0, 0, 2, 0x10, 0, 0]
        head += Array("mntr\(isGrey ? "GRAY" : "RGB ")XYZ ".utf8) + [0x07, 0xD0, 0, 1, 0, 1] + [0, 0, 0, 0, 0, 0]
        head += Array("acsp".utf8) + [UInt8](repeating: 0, count: 28) + Self.point(0.9642, 1, 0.8249).dropFirst(8)
        head += [UInt8](repeating: 0, count: 128 - head.count)
        self.init(Data(head + table + contents), components: components)
    }

    private static func type(_ name: String, _ content: [UInt8]) -> [UInt8] {
        Array(name.utf8) + [0, 0, 0, 0] + content
    }

    private static func point(_ values: Double...) -> [UInt8] {
        type("XYZ ", values.flatMap { number(Int(($0 * 65536).rounded())) })
    }

    private static func number(_ value: Int, bytes: Int = 4) -> [UInt8] {
        (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * (bytes - 1 - $0))) }
    }
}

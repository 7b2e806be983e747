import Foundation
import MediaFormats

/// The colours of a picture with 8 bits per sample, if they are few.
struct PictureColors {
    /// Largest number of colours in a palette.
    private static let most = 256

    private struct TooMany: Error {}

    /// A hash table. An entry is a colour with its highest byte set, or 0.
    private var table = [UInt32](repeating: 0, count: 1024)
    private(set) var colors: [UInt32] = []

    /// Returns a sampling with fewer bits than the picture has; nil if it has too many colours.
    static func sampling<Source>(_ pixels: PNGPixels<Source>) throws -> LosslessCoding<Source>.Sampling? {
        var found = PictureColors()
        do {
            try pixels.forEachLine { line in
                let isFew = pixels.samples == 3 ? found.addColors(of: line) : found.addGreys(of: line)
                guard isFew else { throw TooMany() }
            }
        } catch is TooMany {
            return nil
        }
        guard pixels.samples == 3 else { return found.greys(Source.self) }
        let bits = [1, 2, 4, 8].first { found.colors.count <= 1 << $0 } ?? 8
        return .init(bits: bits, palette: found.colors.sorted { Self.brightness($0) < Self.brightness($1) })
    }

    private func greys<Source>(_: Source.Type) -> LosslessCoding<Source>.Sampling? {
        // The brightest sample of n bits is 2ⁿ - 1.
        let steps = [(1, 255), (2, 85), (4, 17)]
        return steps.first { step in colors.allSatisfy { Int($0) % step.1 == 0 } }.map { .init(bits: $0.0) }
    }

    /// Adds the pixels of a line; false if there are too many colours.
    private mutating func addColors(of line: UnsafeBufferPointer<UInt8>) -> Bool {
        var last: UInt32 = .max
        for start in stride(from: 1, to: line.count, by: 3) {
            let color = UInt32(line[start]) << 16 | UInt32(line[start + 1]) << 8 | UInt32(line[start + 2])
            if color != last, !add(color) { return false }
            last = color
        }
        return true
    }

    private mutating func addGreys(of line: UnsafeBufferPointer<UInt8>) -> Bool {
        for index in 1..<line.count { _ = add(UInt32(line[index])) }
        return true
    }

    private mutating func add(_ color: UInt32) -> Bool {
        var index = Int(Self.hash(color))
        while table[index] != 0 {
            if table[index] == color | 0xFF00_0000 { return true }
            index = (index + 1) & 1023
        }
        guard colors.count < Self.most else { return false }
        table[index] = color | 0xFF00_0000
        colors.append(color)
        return true
    }

    private static func hash(_ color: UInt32) -> UInt32 { (color &* 2_654_435_761) >> 22 }

    private static func brightness(_ color: UInt32) -> (UInt32, UInt32) {
        ((color >> 16) + (color >> 8 & 0xFF) + (color & 0xFF), color)
    }
}

/// Packs lines with 8 bits per sample into fewer bits.
struct LinePacker {
    private let bits: Int
    private let width: Int
    /// The index of each colour; nil for grey, of which the highest bits are used.
    private let numbers: [UInt32: UInt8]?
    private var packed: [UInt8]

    init(bits: Int, width: Int, palette: [UInt32]?) {
        (self.bits, self.width) = (bits, width)
        numbers = palette.map { Dictionary(uniqueKeysWithValues: $0.enumerated().map { ($1, UInt8($0)) }) }
        packed = [UInt8](repeating: 0, count: (width * bits + 7) / 8)
    }

    mutating func pack(_ line: UnsafeBufferPointer<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) -> Void) {
        for index in packed.indices { packed[index] = 0 }
        var (last, lastNumber): (UInt32, UInt8) = (.max, 0)
        for x in 0..<width {
            let value: UInt8
            if let numbers {
                let color = UInt32(line[3 * x]) << 16 | UInt32(line[3 * x + 1]) << 8 | UInt32(line[3 * x + 2])
                if color != last { (last, lastNumber) = (color, numbers[color] ?? 0) }
                value = lastNumber
            } else {
                value = line[x] >> (8 - bits)
            }
            packed[x * bits / 8] |= value << (8 - bits - x * bits % 8)
        }
        packed.withUnsafeBufferPointer(body)
    }
}

/// The colour profile of a picture (ICC.1:2010 7.2). It is embedded only if its header fits the picture, because
/// readers refuse other profiles.
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

    /// Whether it is complete, a profile of a device or a colour space, and of a version that PDF 1.7 supports (ISO
    /// 32000-1 8.6.5.5).
    var isOfDevice: Bool {
        let head = Array(bytes.prefix(16))
        return head[8] < 5 && ["scnr", "mntr", "prtr", "spac"].contains { head[12...].elementsEqual($0.utf8) }
            && hasWholeTable
    }

    /// Whether its table has tags whose data are after the table and within the profile (ICC.1:2010 7.3).
    private var hasWholeTable: Bool {
        func value(at place: Int) -> Int { bytes.dropFirst(place).prefix(4).reduce(0) { $0 << 8 | Int($1) } }
        let end = 132 + 12 * value(at: 128)
        return end > 132 && end <= bytes.count
            && stride(from: 136, to: end, by: 12).allSatisfy { place in
                value(at: place) >= end && value(at: place) + value(at: place + 4) <= bytes.count
            }
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
    /// Makes a profile with the colours of sRGB and another gamma.
    ///
    /// - Parameters:
    ///   - gamma: The exponent that converts a sample to light.
    ///   - components: Colour components of the picture: 1 or 3; nil for others.
    init?(gamma: Double, components: Int) {
        // A curve of one entry is an exponent in units of 1/256 (10.5).
        self.init(name: "Gamma", curve: [Int((gamma * 256).rounded())], components: components)
    }

    /// The colours of sRGB (IEC 61966-2-1).
    static let sRGB = ICCProfile(
        name: "sRGB",
        curve: (0...255).map { sample in
            let value = Double(sample) / 255
            let light = value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
            return Int((light * 65535).rounded())
        },
        components: 3
    )

    /// - Parameter curve: The light of samples, or an exponent.
    private init?(name: String, curve: [Int], components: Int) {
        guard components == 1 || components == 3 else { return nil }
        let isGrey = components == 1
        let entries = curve.flatMap { Self.number($0, bytes: 2) }
        let curve = Self.type("curv", Self.number(curve.count) + entries + (entries.count == 2 ? [0, 0] : []))
        let name = Array("\(name)\0".utf8)
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

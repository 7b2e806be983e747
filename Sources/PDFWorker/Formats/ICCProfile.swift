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

/// The content of a file that is too large to have anywhere: made when it is asked for. One block of 64 KiB repeats,
/// each time with its number in its first eight bytes (big-endian), so that a byte from the wrong place is found out.
struct EndlessBytes: ByteSource {
    static let block = 1 << 16

    let count: Int
    var identity: String { "endless \(count)" }

    func bytes(in range: Range<Int>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(range.count)
        var next = range.lowerBound
        while next < range.upperBound {
            let number = next / Self.block
            let start = next % Self.block
            let end = min(Self.block, start + range.upperBound - next)
            if start < 8 {
                let head = (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
                bytes += head[start..<min(8, end)]
            }
            if end > 8 { bytes += Self.pattern[max(8, start)..<end] }
            next += end - start
        }
        return bytes
    }

    private static let pattern: [UInt8] = (0..<block / 8).flatMap { index in
        let value = SplitMix64.value(seed: 0x6C61_7264_6572, index: UInt64(index))
        return (0..<8).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
    }
}

/// The filters of PNG (third edition, section 9.2), which replace bytes by their differences from their neighbours: of
/// each line the one is taken whose differences are smallest.
final class LineFilter {
    private let bytesPerPixel: Int
    private let count: Int
    /// Each with a pixel of zeros before it.
    private var line: UnsafeMutablePointer<UInt8>
    private var above: UnsafeMutablePointer<UInt8>
    /// The line by each filter, with its number before it.
    private let filtered: [UnsafeMutablePointer<UInt8>]

    /// Creates the filters.
    ///
    /// - Parameter lineBytes: The bytes of a line.
    init(lineBytes: Int, bytesPerPixel: Int) {
        (count, self.bytesPerPixel) = (lineBytes, bytesPerPixel)
        func allocate(_ bytes: Int) -> UnsafeMutablePointer<UInt8> {
            let pointer = UnsafeMutablePointer<UInt8>.allocate(capacity: bytes)
            pointer.initialize(repeating: 0, count: bytes)
            return pointer
        }
        (line, above) = (allocate(lineBytes + bytesPerPixel), allocate(lineBytes + bytesPerPixel))
        filtered = (0..<5).map { number in
            let pointer = allocate(lineBytes + 1)
            pointer[0] = UInt8(number)
            return pointer
        }
    }

    deinit {
        for pointer in filtered + [line, above] { pointer.deallocate() }
    }

    /// Returns the next line with the number of its filter before it; valid until the next call.
    func next(_ bytes: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
        swap(&line, &above)
        if let base = bytes.baseAddress { (line + bytesPerPixel).update(from: base, count: count) }
        let (x, a) = (line + bytesPerPixel, line)
        let (b, c) = (above + bytesPerPixel, above)
        filtered[0].advanced(by: 1).update(from: x, count: count)
        let (sub, up, average, paeth) = (filtered[1] + 1, filtered[2] + 1, filtered[3] + 1, filtered[4] + 1)
        for i in 0..<count { sub[i] = x[i] &- a[i] }
        for i in 0..<count { up[i] = x[i] &- b[i] }
        for i in 0..<count { average[i] = x[i] &- UInt8(truncatingIfNeeded: (UInt16(a[i]) + UInt16(b[i])) >> 1) }
        for i in 0..<count { paeth[i] = x[i] &- Self.paeth(a[i], b[i], c[i]) }
        let sums = filtered.map { Self.sum($0 + 1, count) }
        let best = sums.indices.min { sums[$0] < sums[$1] } ?? 0
        return UnsafeBufferPointer(start: filtered[best], count: count + 1)
    }

    @inline(__always)
    private static func paeth(_ a: UInt8, _ b: UInt8, _ c: UInt8) -> UInt8 {
        let (left, up, both) = (Int16(a), Int16(b), Int16(c))
        let (toLeft, toUp) = (abs(up &- both), abs(left &- both))
        let toBoth = abs(left &+ up &- both &- both)
        return toLeft <= toUp && toLeft <= toBoth ? a : toUp <= toBoth ? b : c
    }

    private static func sum(_ bytes: UnsafeMutablePointer<UInt8>, _ count: Int) -> Int {
        var sum = 0
        for i in 0..<count { sum &+= Int(Int8(bitPattern: bytes[i]).magnitude) }
        return sum
    }
}

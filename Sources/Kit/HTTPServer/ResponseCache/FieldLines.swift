import Foundation

/// The field lines of a request head in order, without their line ends.
struct FieldLines: IteratorProtocol {
    private let bytes: UnsafeRawBufferPointer
    private var index = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
        skipLine()
    }

    /// Passes over a line; false if there is no whole one.
    @discardableResult
    private mutating func skipLine() -> Bool {
        guard index < bytes.count, let start = bytes.baseAddress,
            let end = memchr(start + index, 0x0A, bytes.count - index)
        else {
            index = bytes.count
            return false
        }
        index = start.distance(to: end) + 1
        return true
    }

    /// The next line; nil at the empty one.
    mutating func next() -> Range<Int>? {
        let start = index
        guard skipLine(), index - start > 2 else { return nil }
        return start..<index - 2
    }
}

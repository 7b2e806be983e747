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
        while index < bytes.count, bytes[index] != 0x0A { index += 1 }
        guard index < bytes.count else { return false }
        index += 1
        return true
    }

    /// The next line; nil at the empty one.
    mutating func next() -> Range<Int>? {
        let start = index
        guard skipLine(), index - start > 2 else { return nil }
        return start..<index - 2
    }
}

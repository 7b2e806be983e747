/// Writes bytes one behind the other: `ByteBuffer` looks for room and at its storage before each piece.
struct ByteWriter {
    private let bytes: UnsafeMutableRawBufferPointer
    private(set) var count = 0

    init(_ bytes: UnsafeMutableRawBufferPointer) { self.bytes = bytes }

    mutating func write(_ piece: UnsafeRawBufferPointer) {
        precondition(piece.count <= bytes.count - count, "a response is larger than its size")
        UnsafeMutableRawBufferPointer(rebasing: bytes[count...]).copyMemory(from: piece)
        count += piece.count
    }

    mutating func write(_ text: String) {
        var text = text
        text.withUTF8 { write(UnsafeRawBufferPointer($0)) }
    }

    /// Writes an identity, without allocating for one that Larder assigned.
    mutating func write(_ identity: RequestIdentity) {
        switch identity {
        case .wanted(let text): write(text)
        case .assigned(let number):
            write(number.run)
            write("-")
            write(number.number)
        }
    }

    /// Writes a number in decimal digits, without allocating.
    mutating func write(_ number: Int) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var rest = number.magnitude
            var place = 20
            repeat {
                place -= 1
                digits[place] = UInt8(ascii: "0") + UInt8(rest % 10)
                rest /= 10
            } while rest > 0
            if number < 0, place > 0 {
                place -= 1
                digits[place] = UInt8(ascii: "-")
            }
            write(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(digits)[place...]))
        }
    }

    // MARK: HTTP/2

    /// Leaves room, to be set later.
    mutating func skip(_ count: Int) {
        precondition(count <= bytes.count - self.count, "a response is larger than its size")
        self.count += count
    }

    /// Sets an integer, in network byte order, where room was left for it.
    func set<Integer: FixedWidthInteger>(_ integer: Integer, at index: Int) {
        precondition(index + MemoryLayout<Integer>.size <= count, "there is no room")
        bytes.storeBytes(of: integer.bigEndian, toByteOffset: index, as: Integer.self)
    }

    /// Writes a string of HPACK (RFC 7541 §5.2) as it is, without Huffman's code.
    mutating func writeString(_ write: (inout ByteWriter) -> Void) {
        let start = count
        skip(1)
        write(&self)
        let length = count - start - 1
        guard length >= 127 else {
            bytes[start] = UInt8(length)
            return
        }
        // RFC 7541 §5.1: what is beyond the prefix follows in groups of seven bits.
        var (digits, rest) = ([UInt8](), length - 127)
        while rest >= 128 {
            digits.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        digits.append(UInt8(rest))
        skip(digits.count)
        let text = UnsafeRawBufferPointer(rebasing: bytes[start + 1..<start + 1 + length])
        UnsafeMutableRawBufferPointer(rebasing: bytes[(start + 1 + digits.count)...]).copyMemory(from: text)
        bytes[start] = 127
        for (index, digit) in digits.enumerated() { bytes[start + 1 + index] = digit }
    }
}

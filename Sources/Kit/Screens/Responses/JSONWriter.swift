/// Writes JSON into memory: UTF-8, without spaces, in the order of the calls.
///
/// Separators follow from the last byte, so there is no state but the bytes. Names are written as they are: those of
/// an object are to come in the order of their UTF-8 bytes, as ``WireFormat`` promises.
public struct JSONWriter: ~Copyable {
    private var start: UnsafeMutablePointer<UInt8>
    private var count = 0
    private var capacity: Int

    init(capacity: Int = 8192) {
        self.capacity = capacity
        start = .allocate(capacity: capacity)
    }

    deinit { start.deallocate() }

    /// What was written.
    var bytes: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: start, count: count) }

    /// Begins an object.
    public mutating func beginObject() { begin(UInt8(ascii: "{")) }

    /// Ends an object.
    public mutating func endObject() { append(UInt8(ascii: "}")) }

    /// Begins an array.
    public mutating func beginArray() { begin(UInt8(ascii: "[")) }

    /// Ends an array.
    public mutating func endArray() { append(UInt8(ascii: "]")) }

    /// Begins a member; its value follows.
    ///
    /// - Parameter name: The name, which needs no escapes.
    public mutating func name(_ name: StaticString) {
        separate()
        let length = name.utf8CodeUnitCount
        reserve(length + 3)
        start[count] = UInt8(ascii: "\"")
        (start + count + 1).update(from: name.utf8Start, count: length)
        start[count + length + 1] = UInt8(ascii: "\"")
        start[count + length + 2] = UInt8(ascii: ":")
        count += length + 3
    }

    /// Begins a member with a name that is not known beforehand; its value follows.
    mutating func name(_ name: String) {
        value(name)
        append(UInt8(ascii: ":"))
    }

    /// Writes `null`, `true`, `false` or a number.
    mutating func word(_ word: String) {
        separate()
        var word = word
        word.withUTF8 { append($0) }
    }

    /// Writes a text.
    public mutating func value(_ text: String) {
        beginText()
        part(text)
        endText()
    }

    /// Begins a text that is written in parts.
    public mutating func beginText() { begin(UInt8(ascii: "\"")) }

    /// Writes a part of a text.
    public mutating func part(_ text: String) {
        var text = text
        text.withUTF8 { utf8 in
            // A sum, and not a search, so that the loop looks at many bytes at a time.
            var escapes = 0
            for byte in utf8 { escapes &+= Self.needsEscape(byte) ? 1 : 0 }
            if escapes == 0 { append(utf8) } else { escape(utf8) }
        }
    }

    /// Ends a text that was written in parts.
    public mutating func endText() { append(UInt8(ascii: "\"")) }
}

extension JSONWriter {
    /// Writes a comma if something precedes.
    private mutating func separate() {
        guard count > 0 else { return }
        switch start[count - 1] {
        case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: ":"): return
        default: append(UInt8(ascii: ","))
        }
    }

    private mutating func begin(_ byte: UInt8) {
        separate()
        append(byte)
    }

    private mutating func append(_ byte: UInt8) {
        reserve(1)
        start[count] = byte
        count += 1
    }

    private mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let base = bytes.baseAddress else { return }
        reserve(bytes.count)
        (start + count).update(from: base, count: bytes.count)
        count += bytes.count
    }

    private mutating func reserve(_ more: Int) {
        guard count + more > capacity else { return }
        capacity = 2 * (count + more)
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
        larger.update(from: start, count: count)
        start.deallocate()
        start = larger
    }

    private static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private mutating func escape(_ utf8: UnsafeBufferPointer<UInt8>) {
        for byte in utf8 {
            if Self.needsEscape(byte) { append(UInt8(ascii: "\\")) }
            switch byte {
            case 0x08: append(UInt8(ascii: "b"))
            case 0x09: append(UInt8(ascii: "t"))
            case 0x0A: append(UInt8(ascii: "n"))
            case 0x0C: append(UInt8(ascii: "f"))
            case 0x0D: append(UInt8(ascii: "r"))
            case ..<0x20:
                var digits = "u00" + String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
                digits.withUTF8 { append($0) }
            default: append(byte)
            }
        }
    }
}

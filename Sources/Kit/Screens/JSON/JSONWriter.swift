/// Writes JSON into memory: UTF-8, without spaces, in the order of the calls.
///
/// Separators follow from the last byte, so there is no state but the bytes. Names are written as they are: those of
/// an object must be in the order of their UTF-8 bytes, as ``WireFormat`` promises.
package struct JSONWriter: ~Copyable {
    private var start: UnsafeMutablePointer<UInt8>
    private var count = 0
    private var capacity: Int
    /// The language of texts.
    let language = Language.current
    /// The profile that links name.
    let profile = Link.Profile.current

    init(capacity: Int = 8192) {
        self.capacity = capacity
        start = .allocate(capacity: capacity)
    }

    deinit { start.deallocate() }

    /// What was written.
    var bytes: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: start, count: count) }

    /// Begins an object.
    package mutating func beginObject() { begin(UInt8(ascii: "{")) }

    /// Ends an object.
    package mutating func endObject() { append(UInt8(ascii: "}")) }

    /// Begins an array.
    package mutating func beginArray() { begin(UInt8(ascii: "[")) }

    /// Ends an array.
    package mutating func endArray() { append(UInt8(ascii: "]")) }

    /// Begins a member; its value follows.
    ///
    /// - Parameter name: The name, which needs no escapes.
    package mutating func name(_ name: StaticString) {
        separate()
        appendQuoted(UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
        append(UInt8(ascii: ":"))
    }

    /// Begins a member with a name that is not known beforehand; its value follows.
    mutating func name(_ name: String) {
        value(name)
        append(UInt8(ascii: ":"))
    }

    /// Writes `null`, `true`, `false` or a number.
    mutating func word(_ word: String) {
        separate()
        word.withBytes { append($0) }
    }

    /// Writes a text.
    package mutating func value(_ text: String) {
        separate()
        text.withBytes { utf8 in
            if JSONEscapes.areNeeded(in: utf8) { appendEscaped(utf8) } else { appendQuoted(utf8) }
        }
    }

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

    private mutating func appendQuoted(_ bytes: UnsafeBufferPointer<UInt8>) {
        reserve(bytes.count + 2)
        start[count] = UInt8(ascii: "\"")
        if let base = bytes.baseAddress { (start + count + 1).update(from: base, count: bytes.count) }
        count += bytes.count + 2
        start[count - 1] = UInt8(ascii: "\"")
    }

    private mutating func appendEscaped(_ utf8: UnsafeBufferPointer<UInt8>) {
        append(UInt8(ascii: "\""))
        for byte in utf8 {
            if let escape = JSONEscapes.escape(of: byte) { escape.withBytes { append($0) } } else { append(byte) }
        }
        append(UInt8(ascii: "\""))
    }

    private mutating func reserve(_ more: Int) {
        guard count + more > capacity else { return }
        capacity = 2 * (count + more)
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
        larger.update(from: start, count: count)
        start.deallocate()
        start = larger
    }
}

extension String {
    /// Calls a function with the UTF-8 bytes, which are not copied if they lie in memory.
    fileprivate func withBytes(_ body: (UnsafeBufferPointer<UInt8>) -> Void) {
        if utf8.withContiguousStorageIfAvailable(body) == nil {
            var copy = self
            copy.withUTF8(body)
        }
    }
}

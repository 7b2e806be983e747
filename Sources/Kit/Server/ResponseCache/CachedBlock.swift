import NIOCore
import NIOHPACK

/// The header block of a cached response in the bytes of HPACK, without fields that depend on the time and the request.
/// It refers to no table but the static one and adds to none (RFC 7541 §6.2.2), so it is the same on every connection.
struct CachedBlock: Sendable {
    enum Piece: Sendable {
        case bytes([UInt8])
        /// A string (RFC 7541 §5.2) of which a part changes.
        case value(before: String, CachedHead.Changing, after: String)
    }

    /// Largest block, in bytes, that every client takes in one frame (RFC 9113 §4.2).
    static let largest = 16_384

    private(set) var pieces: [Piece] = []
    /// Largest number of bytes of the block.
    private(set) var size = 0

    /// Whether there is a block: not of a response that HTTP/2 does not allow, or whose block is not one frame.
    var isComplete: Bool { !pieces.isEmpty }

    /// Names that no header block may have (RFC 9113 §8.2.2).
    private static let ofConnections = [
        "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade",
    ]

    /// - Parameter fields: With names in lower case.
    init(status: Int, _ fields: [CachedHead.Field]) {
        guard !fields.contains(where: { Self.ofConnections.contains($0.name) }) else { return }
        do {
            try encode(status, fields)
        } catch {
            // NIO sends it, if that can.
            pieces = []
        }
    }

    private mutating func encode(_ status: Int, _ fields: [CachedHead.Field]) throws {
        var (pieces, fixed) = ([Piece](), try Self.field(":status", String(status)))
        for field in fields {
            guard let changing = field.changing else {
                fixed += try Self.field(field.name, field.before)
                continue
            }
            // The name, without the string that follows it.
            fixed += try Self.literal(field.name, "").dropLast()
            pieces += [.bytes(fixed), .value(before: field.before, changing, after: field.after)]
            size += fixed.count + field.before.utf8.count + field.after.utf8.count
            fixed = []
        }
        pieces.append(.bytes(fixed))
        // As ``CachedBytes/size``.
        size += fixed.count + 256
        if size <= Self.largest { self.pieces = pieces }
    }

    /// Returns a field by its index in the static table if it is there, else as a literal.
    private static func field(_ name: String, _ value: String) throws -> [UInt8] {
        let indexed = try encoded(name, value, .indexable)
        return indexed.count == 1 ? indexed : try literal(name, value)
    }

    private static func literal(_ name: String, _ value: String) throws -> [UInt8] {
        try encoded(name, value, .nonIndexable)
    }

    /// Encodes a field as the first one of a connection.
    private static func encoded(_ name: String, _ value: String, _ indexing: HPACKIndexing) throws -> [UInt8] {
        var (encoder, bytes) = (HPACKEncoder(allocator: ByteBufferAllocator()), ByteBuffer())
        var field = HPACKHeaders()
        field.add(name: name, value: value, indexing: indexing)
        try encoder.encode(headers: field, to: &bytes)
        return Array(buffer: bytes)
    }
}

/// Writes bytes one after the other: `ByteBuffer` looks for room and at its storage before each piece.
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

    /// Writes a string of HPACK (RFC 7541 §5.2) without Huffman's code.
    mutating func writeString(_ write: (inout ByteWriter) -> Void) {
        let start = count
        skip(1)
        write(&self)
        let length = count - start - 1
        guard length >= 127 else {
            bytes[start] = UInt8(length)
            return
        }
        // RFC 7541 §5.1: the rest beyond the prefix follows in groups of seven bits.
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

import NIOCore

/// A request head whose client wants no further response on its connection (RFC 9112 §9.6), without the lines that say
/// so: the response to the rest is the same.
struct ClosingHead {
    /// The head without its lines `Connection: close`.
    let rest: ByteBuffer

    private static let name = Array("connection".utf8)
    private static let close = Array("close".utf8)

    /// Takes the lines out of a head. Nil if there is none, or if lines continue others (RFC 9112 §5.2).
    init?(_ head: ByteBuffer) {
        var kept: ByteBuffer?
        let isDivided = head.withUnsafeReadableBytes { bytes -> Bool in
            var lines = FieldLines(bytes)
            var keptUpTo = 0
            while let line = lines.next() {
                guard !Self.isBlank(bytes[line.lowerBound]) else { return false }
                guard Self.isClose(bytes, line) else { continue }
                if kept == nil { kept = ByteBufferAllocator().buffer(capacity: bytes.count) }
                kept?.writeBytes(bytes[keptUpTo..<line.lowerBound])
                keptUpTo = line.upperBound + 2
            }
            kept?.writeBytes(bytes[keptUpTo...])
            return true
        }
        guard isDivided, let kept else { return nil }
        rest = kept
    }

    private static func isClose(_ bytes: UnsafeRawBufferPointer, _ line: Range<Int>) -> Bool {
        let value = line.lowerBound + name.count + 1
        guard bytes[line.lowerBound] | 0x20 == name[0], value < line.upperBound, bytes[value - 1] == UInt8(ascii: ":"),
            bytes[line.upperBound] == 0x0D, SignificantHead.equals(bytes[line].prefix(name.count), name)
        else { return false }
        let text = bytes[value..<line.upperBound].drop(while: isBlank)
        let blanks = text.reversed().prefix(while: isBlank).count
        return SignificantHead.equals(text.dropLast(blanks), close)
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}

import NIOCore
import NIOHTTP1

/// The bytes of a request head, from the method to the empty line, that its response depends on: the same bytes are the
/// same request with the same credentials.
struct ResponseCacheKey: Hashable, Sendable {
    /// Longest head that is looked up or cached, in bytes.
    static let longest = 8192

    let bytes: ByteBuffer
    /// Whether the response depends on the whole head, and not on its ``SignificantHead`` only.
    let isWhole: Bool
    /// Hash of the bytes, seeded per process; also chooses the shard.
    let hash: Int

    init(_ bytes: ByteBuffer, isWhole: Bool) {
        self.bytes = bytes
        self.isWhole = isWhole
        var hasher = Hasher()
        hasher.combine(isWhole)
        bytes.withUnsafeReadableBytes { hasher.combine(bytes: $0) }
        hash = hasher.finalize()
    }

    func hash(into hasher: inout Hasher) { hasher.combine(hash) }

    static func == (a: ResponseCacheKey, b: ResponseCacheKey) -> Bool {
        a.hash == b.hash && a.isWhole == b.isWhole && a.bytes == b.bytes
    }

    /// Returns the length of the head at the beginning of these bytes, its empty line included; nil if it is not whole,
    /// too long, or neither GET nor HEAD.
    static func headLength(_ bytes: UnsafeRawBufferPointer) -> Int? {
        guard bytes.count >= 16, bytes[0] == UInt8(ascii: "G") || bytes[0] == UInt8(ascii: "H") else { return nil }
        let end = min(bytes.count, longest)
        // Looks at line ends only: lines are some twenty bytes long.
        var index = 3
        while index < end {
            switch bytes[index] {
            case 0x0A:
                if bytes[index - 1] == 0x0D, bytes[index - 2] == 0x0A, bytes[index - 3] == 0x0D { return index + 1 }
                index += 2
            case 0x0D:
                index += 1
            default:
                // Neither CR nor LF: the empty line does not end within the next three bytes either.
                index += 4
            }
        }
        return nil
    }

    /// Whether the response to a head may be sent again to the same bytes: the request is nothing but its head, and the
    /// response depends on nothing else of it.
    /// - Parameters:
    ///   - head: the head as the decoder read it
    ///   - bytes: the head as it arrived
    static func isEligible(_ head: HTTPRequestHead, bytes: ByteBuffer) -> Bool {
        guard head.method == .GET || head.method == .HEAD, head.version == .http1_1 else { return false }
        for (name, value) in head.headers {
            switch name.lowercased() {
            case "content-length", "transfer-encoding", "expect", "upgrade", "te", "trailer": return false
            case "connection": guard ["keep-alive", "close"].contains(value.lowercased()) else { return false }
            default: break
            }
        }
        return bytes.withUnsafeReadableBytes(hasPlainLineEnds)
    }

    /// Whether lines end in CR LF and nothing else is CR or LF: then no reader sees the end of the head elsewhere.
    private static func hasPlainLineEnds(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var previous: UInt8 = 0
        for byte in bytes {
            if (byte == 0x0A) != (previous == 0x0D) { return false }
            previous = byte
        }
        return previous == 0x0A
    }
}

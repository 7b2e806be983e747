import Foundation
import HTTP

/// Tracks where one request ends and the next begins in the bytes of a connection, as far as possible without parsing.
/// Heads end at an empty line, bodies after `Content-Length`, and chunked ones where the decoder says so.
///
/// It is asked before bytes go to the decoder, and then gets the counts of the decoder. If the two differ, it is lost
/// for the rest of the connection: a wrong guess would take bytes within one request for another request.
struct RequestBoundary {
    /// Bytes to pass on together.
    struct Stretch: Equatable {
        var count: Int
        /// Whether it ends with the empty line of a head.
        var endsHead = false
        /// Whether every line of that head ends in CR LF. A decoder that accepts LF alone could have seen its end
        /// earlier, and the beginning of a body after it.
        var hasPlainLineEnds = true
        /// Whether a chunk of a body in it is larger than any body may be.
        var hasHugeChunk = false
    }

    private enum Position: Equatable {
        /// Within a head, or before it.
        /// - `matched`: how many bytes of CR LF CR LF have arrived last
        /// - `isPlain`: whether every line so far ends in CR LF
        case head(began: Bool, matched: Int, isPlain: Bool)
        case body(remaining: Int)
        /// Within a chunked body; `tail` are the last four bytes that were passed on. A chunked body, with or without
        /// trailers, ends in CR LF CR LF (RFC 9112 §7.1). If the decoder has just reached the end of the request, and
        /// these were its last bytes, it holds no bytes back. Any bytes after the end would have become a head or an
        /// error at that empty line. If a client pipelines after such a body, the last bytes differ, and the position
        /// is lost.
        case chunked(tail: UInt32, ChunkSizes)
        case lost
    }

    private static let start = Position.head(began: false, matched: 0, isPlain: true)
    private var position = RequestBoundary.start

    /// Whether the next byte is the first of a request, and the decoder holds nothing back.
    var isAtStart: Bool { position == Self.start }

    /// Returns how many of these bytes, at least one, to pass on together.
    mutating func stretch(of bytes: UnsafeRawBufferPointer) -> Stretch {
        switch position {
        case .lost:
            return Stretch(count: bytes.count)
        case .body(let remaining):
            let count = min(remaining, bytes.count)
            position = .body(remaining: remaining - count)
            return Stretch(count: count)
        case .chunked(var tail, var sizes):
            for byte in bytes.suffix(4) { tail = tail << 8 | UInt32(byte) }
            let hasHugeChunk = !sizes.accept(bytes)
            position = hasHugeChunk ? .lost : .chunked(tail: tail, sizes)
            return Stretch(count: bytes.count, hasHugeChunk: hasHugeChunk)
        case .head(_, var matched, var isPlain):
            var index = 0
            while index < bytes.count {
                let byte = bytes[index]
                // CR LF CR LF: a CR anywhere starts over. An even position requires CR, an odd one LF.
                if byte == 0x0D {
                    matched = matched == 2 ? 3 : 1
                } else if byte == 0x0A {
                    let isWhole = matched == 1 || matched == 3
                    isPlain = isPlain && isWhole
                    matched = isWhole ? matched + 1 : 0
                } else {
                    matched = 0
                    index = Self.lineEnd(in: bytes, from: index + 1)
                    continue
                }
                if matched == 4 {
                    position = .head(began: true, matched: 0, isPlain: isPlain)
                    return Stretch(count: index + 1, endsHead: true, hasPlainLineEnds: isPlain)
                }
                index += 1
            }
            position = .head(began: true, matched: matched, isPlain: isPlain)
            return Stretch(count: bytes.count)
        }
    }

    /// Returns the index of the first CR or LF from an index on, or the number of bytes.
    private static func lineEnd(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        guard start < bytes.count, let base = bytes.baseAddress else { return bytes.count }
        func first(_ byte: Int32, before end: Int) -> Int {
            memchr(base + start, byte, end - start).map { UnsafeRawPointer($0) - base } ?? end
        }
        return first(0x0A, before: first(0x0D, before: bytes.count))
    }

    /// Notes that a stretch was passed to the decoder, with the counts of the decoder before and after it.
    mutating func passed(_ stretch: Stretch, before: DecodedCounts, after: DecodedCounts) {
        let heads = after.heads - before.heads
        let ends = after.ends - before.ends
        switch position {
        case .lost:
            break
        case .body(let remaining) where remaining == 0:
            position = heads == 0 && ends == 1 ? Self.start : .lost
        case .body:
            if heads != 0 || ends != 0 { position = .lost }
        case .chunked(let tail, _) where ends == 1:
            position = heads == 0 && tail == 0x0D0A_0D0A ? Self.start : .lost
        case .chunked:
            if heads != 0 || ends != 0 { position = .lost }
        case .head where stretch.endsHead:
            if !stretch.hasPlainLineEnds {
                position = .lost
            } else if heads == 1, ends == 1 {
                position = Self.start
            } else if heads == 1, ends == 0, let length = after.contentLength, length > 0 {
                position = .body(remaining: length)
            } else if heads == 1, ends == 0, after.isChunked {
                position = .chunked(tail: 0, ChunkSizes())
            } else {
                position = .lost
            }
        case .head:
            if heads != 0 || ends != 0 { position = .lost }
        }
    }
}

/// Reads the sizes of the chunks of a body (RFC 9112 §7.1).
///
/// The decoder takes sizes up to 2^64 - 1 and waits for that many bytes. It refuses everything else that is no chunk.
struct ChunkSizes: Equatable {
    private enum Position { case size, restOfLine, data, endOfData, lastChunk }

    private var position = Position.size
    private var size: UInt64 = 0

    /// Returns whether all sizes in the next bytes of the body are below 2^63.
    mutating func accept(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            switch position {
            case .size:
                if let digit = PercentEncoding.hexadecimalValue(of: byte) {
                    guard size < 1 << 59 else { return false }
                    size = size << 4 | UInt64(digit)
                } else {
                    position = .restOfLine
                    continue
                }
            case .restOfLine:
                if byte == 0x0A { position = size == 0 ? .lastChunk : .data }
            case .data:
                let count = min(size, UInt64(bytes.count - index))
                size -= count
                index += Int(count)
                if size == 0 { position = .endOfData }
                continue
            case .endOfData:
                if byte == 0x0A { position = .size }
            case .lastChunk:
                return true
            }
            index += 1
        }
        return true
    }
}

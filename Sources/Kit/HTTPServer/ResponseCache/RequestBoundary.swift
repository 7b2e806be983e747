import Foundation

/// Tracks where in the bytes of a connection one request ends and the next begins, as far as possible without parsing:
/// heads end at an empty line, bodies after `Content-Length`, and chunked ones where the decoder says so.
///
/// It is asked before bytes go to the decoder, and then gets what the decoder has read. If the two differ, it is lost
/// for the rest of the connection: a wrong guess would take bytes within one request for another request.
struct RequestBoundary {
    /// Bytes to pass on together.
    struct Stretch: Equatable {
        var count: Int
        /// Whether it ends with the empty line of a head.
        var endsHead = false
        /// Whether every line of that head ends in CR LF. A decoder that accepts LF alone could have seen its end
        /// earlier, and the beginning of a body behind it.
        var hasPlainLineEnds = true
    }

    private enum Place: Equatable {
        /// Within a head, or before it.
        /// - `matched`: how many bytes of CR LF CR LF have arrived last
        /// - `isPlain`: whether every line so far ends in CR LF
        case head(began: Bool, matched: Int, isPlain: Bool)
        case body(remaining: Int)
        /// Within a chunked body; `tail` are the last four bytes that were passed on. A chunked body, with or without
        /// trailers, ends in CR LF CR LF (RFC 9112 §7.1). So if the decoder has reached the end of the request and
        /// nothing further, and these were the last bytes it got, it holds none back: anything after the end would have
        /// become a head or an error by that empty line. If a client pipelines behind such a body, the last bytes
        /// differ, and the position is lost.
        case chunked(tail: UInt32)
        case lost
    }

    private static let start = Place.head(began: false, matched: 0, isPlain: true)
    private var place = RequestBoundary.start

    /// Whether the next byte is the first of a request, and the decoder holds nothing back.
    var isAtStart: Bool { place == Self.start }

    /// Returns how many of these bytes, at least one, to pass on together.
    mutating func stretch(of bytes: UnsafeRawBufferPointer) -> Stretch {
        switch place {
        case .lost:
            return Stretch(count: bytes.count)
        case .body(let remaining):
            let count = min(remaining, bytes.count)
            place = .body(remaining: remaining - count)
            return Stretch(count: count)
        case .chunked(var tail):
            for byte in bytes.suffix(4) { tail = tail << 8 | UInt32(byte) }
            place = .chunked(tail: tail)
            return Stretch(count: bytes.count)
        case .head(_, var matched, var isPlain):
            var index = 0
            while index < bytes.count {
                let byte = bytes[index]
                // CR LF CR LF: a CR anywhere starts over, an even position wants CR, an odd one LF.
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
                    place = .head(began: true, matched: 0, isPlain: isPlain)
                    return Stretch(count: index + 1, endsHead: true, hasPlainLineEnds: isPlain)
                }
                index += 1
            }
            place = .head(began: true, matched: matched, isPlain: isPlain)
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

    /// Notes that a stretch was passed to the decoder, with what that had read before and after it.
    mutating func passed(_ stretch: Stretch, before: DecodedCounts, after: DecodedCounts) {
        let heads = after.heads - before.heads
        let ends = after.ends - before.ends
        switch place {
        case .lost:
            break
        case .body(let remaining) where remaining == 0:
            place = heads == 0 && ends == 1 ? Self.start : .lost
        case .body:
            if heads != 0 || ends != 0 { place = .lost }
        case .chunked(let tail) where ends == 1:
            place = heads == 0 && tail == 0x0D0A_0D0A ? Self.start : .lost
        case .chunked:
            if heads != 0 || ends != 0 { place = .lost }
        case .head where stretch.endsHead:
            if !stretch.hasPlainLineEnds {
                place = .lost
            } else if heads == 1, ends == 1 {
                place = Self.start
            } else if heads == 1, ends == 0, let length = after.contentLength, length > 0 {
                place = .body(remaining: length)
            } else if heads == 1, ends == 0, after.isChunked {
                place = .chunked(tail: 0)
            } else {
                place = .lost
            }
        case .head:
            if heads != 0 || ends != 0 { place = .lost }
        }
    }
}

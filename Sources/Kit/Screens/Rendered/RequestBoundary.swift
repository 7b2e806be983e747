/// Knows where in the bytes of a connection one request ends and the next begins, as far as that can be told without
/// parsing: heads end at an empty line, bodies after `Content-Length`, and chunked ones where the decoder says so.
///
/// It is asked before bytes go to the decoder, and told what the decoder made of them. Where the two differ it is lost
/// for the rest of the connection: a wrong guess would take bytes within one request for another one.
struct RequestBoundary {
    /// What the decoder has read so far.
    struct Decoded: Equatable {
        /// Heads of requests.
        var heads = 0
        /// Ends of requests.
        var ends = 0
        /// `Content-Length` of the last head, nil without or with anything else that frames a body.
        var contentLength: Int?
        /// The last head has a `Transfer-Encoding`; none but `chunked` is let through.
        var isChunked = false
    }

    /// A stretch of bytes to pass on at once.
    struct Stretch: Equatable {
        var count: Int
        /// It ends with the empty line of a head.
        var endsHead = false
        /// Every line of that head ends in CR LF. A decoder that takes LF alone could have seen its end earlier, and
        /// the beginning of a body behind it.
        var hasPlainLineEnds = true
    }

    private enum Place: Equatable {
        /// Within a head, or before it; so many bytes of its last line end have come, and all those before were whole.
        case head(began: Bool, matched: Int, isPlain: Bool)
        case body(remaining: Int)
        /// The last four bytes that went on. A chunked body, with or without trailers, ends in CR LF CR LF (RFC 9112
        /// §7.1). So if the decoder has come to the end of the request and to nothing further, and these were the last
        /// bytes it got, it holds none back: whatever else could follow the end would have become a head or an error by
        /// that empty line. Where a client pipelines behind such a body, the last bytes are others, and all is lost as
        /// ever.
        case chunked(tail: UInt32)
        case lost
    }

    private static let start = Place.head(began: false, matched: 0, isPlain: true)
    private var place = RequestBoundary.start

    /// The next byte is the first of a request, and the decoder holds nothing back.
    var isAtStart: Bool { place == Self.start }

    /// How many of these bytes, one at least, go on together.
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
            for (index, byte) in bytes.enumerated() {
                // CR LF CR LF: a CR anywhere begins anew, an even place wants CR, an odd one LF.
                if byte == 0x0D {
                    matched = matched == 2 ? 3 : 1
                } else if byte == 0x0A {
                    let isWhole = matched == 1 || matched == 3
                    isPlain = isPlain && isWhole
                    matched = isWhole ? matched + 1 : 0
                } else {
                    matched = 0
                }
                if matched == 4 {
                    place = .head(began: true, matched: 0, isPlain: isPlain)
                    return Stretch(count: index + 1, endsHead: true, hasPlainLineEnds: isPlain)
                }
            }
            place = .head(began: true, matched: matched, isPlain: isPlain)
            return Stretch(count: bytes.count)
        }
    }

    /// A stretch went to the decoder, which had read so much `before` it and so much `after`.
    mutating func passed(_ stretch: Stretch, before: Decoded, after: Decoded) {
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

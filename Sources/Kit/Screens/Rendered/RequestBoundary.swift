/// Knows where in the bytes of a connection one request ends and the next begins, as far as that can be told without parsing: heads end at an empty line, bodies after `Content-Length`.
///
/// It is asked before bytes go to the decoder, and told what the decoder made of them. Where the two differ, or a body has no length, it is lost for the rest
/// of the connection: a wrong guess would take bytes within one request for another one.
struct RequestBoundary {
    /// What the decoder has read so far.
    struct Decoded: Equatable {
        /// Heads of requests.
        var heads = 0
        /// Ends of requests.
        var ends = 0
        /// `Content-Length` of the last head, nil without or with anything else that frames a body.
        var contentLength: Int?
    }

    /// A stretch of bytes to pass on at once.
    struct Stretch: Equatable {
        var count: Int
        /// It ends with the empty line of a head.
        var endsHead = false
    }

    private enum Place: Equatable {
        /// Within a head, or before it; so many bytes of its last line end have come.
        case head(began: Bool, matched: Int)
        case body(remaining: Int)
        case lost
    }

    private var place = Place.head(began: false, matched: 0)

    /// The next byte is the first of a request, and the decoder holds nothing back.
    var isAtStart: Bool { place == .head(began: false, matched: 0) }

    /// How many of these bytes, one at least, go on together.
    mutating func stretch(of bytes: UnsafeRawBufferPointer) -> Stretch {
        switch place {
        case .lost:
            return Stretch(count: bytes.count)
        case .body(let remaining):
            let count = min(remaining, bytes.count)
            place = .body(remaining: remaining - count)
            return Stretch(count: count)
        case .head(_, let matched):
            var matched = matched
            for (index, byte) in bytes.enumerated() {
                // CR LF CR LF: a CR anywhere begins anew, an even place wants CR, an odd one LF.
                if byte == 0x0D {
                    matched = matched == 2 ? 3 : 1
                } else {
                    matched = byte == 0x0A && (matched == 1 || matched == 3) ? matched + 1 : 0
                }
                if matched == 4 {
                    place = .head(began: true, matched: 0)
                    return Stretch(count: index + 1, endsHead: true)
                }
            }
            place = .head(began: true, matched: matched)
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
            place = heads == 0 && ends == 1 ? .head(began: false, matched: 0) : .lost
        case .body:
            if heads != 0 || ends != 0 { place = .lost }
        case .head where stretch.endsHead:
            if heads == 1, ends == 1 {
                place = .head(began: false, matched: 0)
            } else if heads == 1, ends == 0, let length = after.contentLength, length > 0 {
                place = .body(remaining: length)
            } else {
                place = .lost
            }
        case .head:
            if heads != 0 || ends != 0 { place = .lost }
        }
    }
}

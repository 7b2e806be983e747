/// The head of a frame (RFC 9113 §4.1).
struct HTTP2FrameHead: Equatable {
    /// Frames that are told from others before NIO reads them, or written beside it.
    enum Kind: UInt8 {
        case data = 0
        case headers = 1
        case resetStream = 3
        case settings = 4
        case goAway = 7
        case windowUpdate = 8
        case continuation = 9
    }

    static let size = 9
    /// Flags of a HEADERS frame (RFC 9113 §6.2); an acknowledgement has the first bit, too.
    static let (endStream, endHeaders, padded, priority): (UInt8, UInt8, UInt8, UInt8) = (1, 4, 8, 0x20)
    /// Largest payload that every client takes (SETTINGS_MAX_FRAME_SIZE cannot be smaller).
    static let payload = 16_384

    /// Bytes of the payload.
    let length: Int
    /// Nil for any other frame.
    let kind: Kind?
    let flags: UInt8
    let stream: Int

    /// - Parameter bytes: At least those of a head.
    init(_ bytes: UnsafeRawBufferPointer) {
        length = Int(bytes[0]) << 16 | Int(bytes[1]) << 8 | Int(bytes[2])
        kind = Kind(rawValue: bytes[3])
        flags = bytes[4]
        stream = Self.integer(bytes, at: 5)
    }

    /// Returns the 31 bits of a stream identifier or an increment.
    static func integer(_ bytes: UnsafeRawBufferPointer, at index: Int) -> Int {
        Int(UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt32.self)) & 0x7FFF_FFFF)
    }
}

/// Finds the frames in the bytes that a client sends. It keeps no bytes.
struct HTTP2FrameDivision {
    /// What bytes begin with.
    enum Part: Equatable {
        /// Not known before more bytes have arrived.
        case incomplete
        /// So many bytes of what has begun before them.
        case rest(Int)
        /// A frame that is looked at as a whole.
        case whole(HTTP2FrameHead)
        /// So many bytes of a frame that is passed on as it arrives.
        case begun(HTTP2FrameHead, Int)
    }

    /// Longest payload that is looked at as a whole.
    static let longest = 4096

    /// Bytes that have to come of what has begun; first the preface (RFC 9113 §3.4).
    private var rest = 24
    /// Whether nothing but CONTINUATION may follow (RFC 9113 §6.10).
    private var isInBlock = false

    /// Whether a frame may be put in before the next byte.
    var isAtBoundary: Bool { rest == 0 && !isInBlock }

    mutating func next(_ bytes: UnsafeRawBufferPointer) -> Part {
        guard rest == 0 else { return bytes.isEmpty ? .incomplete : .rest(take(of: bytes)) }
        guard bytes.count >= HTTP2FrameHead.size else { return .incomplete }
        let head = HTTP2FrameHead(bytes)
        let isEnd = head.flags & HTTP2FrameHead.endHeaders != 0
        if isInBlock {
            // Another frame is an error, which is left for NIO to find.
            if head.kind == .continuation, isEnd { isInBlock = false }
        } else {
            isInBlock = head.kind == .headers && !isEnd
            if !isInBlock, Self.isLookedAt(head), head.length <= Self.longest {
                return bytes.count < HTTP2FrameHead.size + head.length ? .incomplete : .whole(head)
            }
        }
        rest = HTTP2FrameHead.size + head.length
        return .begun(head, take(of: bytes))
    }

    private static func isLookedAt(_ head: HTTP2FrameHead) -> Bool {
        switch head.kind {
        case .headers, .resetStream, .settings, .windowUpdate: true
        case .data, .goAway, .continuation, nil: false
        }
    }

    private mutating func take(of bytes: UnsafeRawBufferPointer) -> Int {
        let count = min(rest, bytes.count)
        rest -= count
        return count
    }
}

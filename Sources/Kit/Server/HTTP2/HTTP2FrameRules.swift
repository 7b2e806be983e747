import NIOCore

/// Decides which frames of a client NIO gets, if some requests are responded to without it. It has no channel.
///
/// The streams of these requests are unknown to NIO. A later stream that NIO gets closes them for NIO as well, since
/// identifiers only grow (RFC 9113 §5.1.1). Until then NIO does not get their frames.
struct HTTP2FrameRules {
    enum Verdict: Equatable {
        case pass
        case drop
        /// A stream that has ended begins again: NIO gets the frame in a form that it takes for an error.
        case refuse
    }

    private(set) var window = HTTP2SplitWindow()
    /// Window of each new stream.
    private(set) var streamWindow = HTTP2SplitWindow.initial
    /// Whether NIO responds to all requests from now on.
    private(set) var isOff = false
    /// The last stream of which NIO knows.
    private var lastPassed = 0
    /// The last one that was responded to without it.
    private var lastServed = 0
    private var settings = 0
    /// Whether the next header block has to begin with the size of its table (RFC 7541 §4.2).
    private var isTableResized = false
    private var resets: (until: NIODeadline, count: Int)?

    /// Judges a frame.
    ///
    /// - Parameters:
    ///   - payload: Its payload; nil if the frame is passed on as it arrives.
    ///   - written: Bytes of DATA frames that NIO has written.
    mutating func judge(
        _ head: HTTP2FrameHead,
        _ payload: UnsafeRawBufferPointer?,
        written: Int,
        now: NIODeadline
    ) -> Verdict {
        switch head.kind {
        case .headers:
            guard !isServed(head.stream) else {
                isOff = true
                return .refuse
            }
            if head.stream & 1 == 1 { lastPassed = max(lastPassed, head.stream) }
        case .resetStream where isServed(head.stream) && head.length == 4:
            return isResetWithin(now) ? .drop : .pass
        case .windowUpdate:
            return opened(head, payload, written)
        case .settings where head.flags & 1 == 0:
            guard let payload, payload.count.isMultiple(of: 6) else {
                isOff = true
                break
            }
            note(settings: payload)
        case .goAway:
            isOff = true
        default:
            break
        }
        return .pass
    }

    private mutating func opened(
        _ head: HTTP2FrameHead,
        _ payload: UnsafeRawBufferPointer?,
        _ written: Int
    ) -> Verdict {
        guard let payload, payload.count == 4, !isOff || head.stream > 0 else { return .pass }
        let increment = HTTP2FrameHead.integer(payload, at: 0)
        if head.stream > 0 { return isServed(head.stream) && increment > 0 ? .drop : .pass }
        guard window.mayOpen(by: increment, written: written) else {
            // With all that is held it is too much for NIO, too.
            isOff = true
            return .pass
        }
        window.opened(by: increment)
        return .drop
    }

    /// Whether settings make the windows of open streams smaller, below zero perhaps: NIO ends the process if it sends
    /// the empty last frame of such a stream.
    func narrowsStreams(_ head: HTTP2FrameHead, _ payload: UnsafeRawBufferPointer) -> Bool {
        guard head.kind == .settings, head.flags & 1 == 0 else { return false }
        var copy = self
        copy.note(settings: payload)
        return copy.streamWindow < streamWindow
    }

    /// Notes settings (RFC 9113 §6.5.2).
    private mutating func note(settings payload: UnsafeRawBufferPointer) {
        settings += 1
        for start in stride(from: 0, to: payload.count - payload.count % 6, by: 6) {
            let value = UInt32(bigEndian: payload.loadUnaligned(fromByteOffset: start + 2, as: UInt32.self))
            switch UInt16(payload[start]) << 8 | UInt16(payload[start + 1]) {
            case 1: isTableResized = true
            case 4: streamWindow = Int(value)
            default: break
            }
        }
    }

    /// Whether a stream was responded to without NIO, and NIO does not know a later one.
    private func isServed(_ stream: Int) -> Bool {
        stream & 1 == 1 && stream > lastPassed && stream <= lastServed
    }

    /// Counts a reset of a stream that NIO does not see, as NIO counts those of its own.
    private mutating func isResetWithin(_ now: NIODeadline) -> Bool {
        guard let known = resets, now < known.until else {
            resets = (now + HTTP2Limits.resetTime, 1)
            return true
        }
        resets = (known.until, known.count + 1)
        return known.count < HTTP2Limits.resets
    }

    // MARK: Requests

    /// Whether a stream may begin that NIO does not see.
    func mayServe(_ stream: Int, _ written: HTTP2WrittenFrames) -> Bool {
        !isOff && stream & 1 == 1 && stream > max(lastPassed, lastServed) && settings == written.acknowledgements
            && (!isTableResized || written.hasBlockSince)
    }

    /// Whether the windows have room for a body.
    func fits(_ count: Int) -> Bool { count <= streamWindow && count <= window.held }

    /// A stream was responded to without NIO.
    ///
    /// - Parameter bytes: Bytes of the body.
    mutating func served(_ stream: Int, bytes: Int) {
        lastServed = stream
        window.take(bytes)
        // NIO has written a header block since.
        isTableResized = false
    }

    // MARK: Window

    /// How many bytes of the window NIO gets now.
    ///
    /// - Parameter isLast: Whether it cannot be given more for an unknown time.
    mutating func give(written: Int, isLast: Bool) -> Int {
        let count = isLast || isOff ? window.held : window.due(written: written)
        window.give(count)
        return count
    }
}

/// The head of a frame (RFC 9113 §4.1).
struct HTTP2FrameHead: Equatable {
    /// Frames that are recognised before NIO reads them, or written beside it.
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
    /// The beginning of the bytes.
    enum Part: Equatable {
        /// Not known before more bytes have arrived.
        case incomplete
        /// A number of bytes of a frame that has begun before them.
        case rest(Int)
        /// A frame that is parsed as a whole.
        case whole(HTTP2FrameHead)
        /// So many bytes of a frame that is passed on as it arrives.
        case begun(HTTP2FrameHead, Int)
    }

    /// Longest payload that is parsed as a whole.
    static let longest = 4096

    /// Remaining bytes of the frame that has begun; first the preface (RFC 9113 §3.4).
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

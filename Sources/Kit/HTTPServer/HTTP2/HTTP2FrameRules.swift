import NIOCore

/// Which frames of a client NIO gets, if some requests are responded to without it. It has no channel.
///
/// NIO knows nothing of the streams of these requests. A later stream that it gets closes them for NIO as well, since
/// identifiers only grow (RFC 9113 §5.1.1); until then their frames are kept from it.
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

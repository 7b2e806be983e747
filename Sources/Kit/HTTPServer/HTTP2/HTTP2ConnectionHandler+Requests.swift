import NIOCore
import NIOHPACK
import NIOHTTP2

/// A request that has not begun: it waits for the turn of its client, or until the connection holds less.
struct PostponedStream {
    /// Its head, and what has arrived of its body.
    var frames: [HTTP2Frame]
    /// Follows the head.
    var created: NIOHTTP2StreamCreatedEvent?
}

/// Begins the requests of a connection, as far as what it holds allows.
///
/// A request whose response has not begun counts as if that were large, for some time: a hundred of them that begin at
/// once would be a hundred responses before the first is taken. One whose response takes longer delays no other.
extension HTTP2ConnectionHandler {
    /// What requests are taken to hold, in bytes.
    private enum Estimate {
        /// Of a response that has not begun.
        static let response = 256 << 10
        /// Of the handlers and the task of a stream.
        static let stream = 32 << 10
    }

    /// For how long a response that has not begun is expected.
    private static let patience = TimeAmount.milliseconds(100)

    /// The head of a request has arrived.
    func arrived(_ frame: HTTP2Frame, _ block: HPACKHeaders, _ context: ChannelHandlerContext) {
        charge(block.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 32 }, to: frame.streamID)
        let stream = PostponedStream(frames: [frame])
        guard !postponed.isEmpty || !begins(stream, context) else { return }
        postponed.append(stream)
        resumeAfterPatience(context)
    }

    /// Keeps a further frame of a request that has not begun.
    func postpones(_ frame: HTTP2Frame) -> Bool {
        guard let index = postponed.firstIndex(where: { $0.frames[0].streamID == frame.streamID }) else { return false }
        if case .data(let data) = frame.payload { charge(data.data.readableBytes, to: frame.streamID) }
        postponed[index].frames.append(frame)
        return true
    }

    /// Begins a request if it may.
    private func begins(_ stream: PostponedStream, _ context: ChannelHandlerContext) -> Bool {
        guard case .headers(let block) = stream.frames[0].payload else { return true }
        guard open.mayBegin, context.channel.isWritable else { return false }
        if block.endStream {
            switch respond(to: stream.frames[0], block.headers, context) {
            case .served: return true
            case .postponed: return false
            case .missed: break
            }
        }
        let identifier = stream.frames[0].streamID
        charge(Estimate.response, to: identifier)
        unanswered.insert(identifier)
        resumeAfterPatience(context)
        context.fireChannelRead(Self.wrapInboundOut(stream.frames[0]))
        if let created = stream.created { context.fireUserInboundEventTriggered(created) }
        for frame in stream.frames.dropFirst() { context.fireChannelRead(Self.wrapInboundOut(frame)) }
        return true
    }

    /// The response to a request begins.
    func answered(_ stream: HTTP2StreamID, _ context: ChannelHandlerContext) {
        guard unanswered.remove(stream) != nil else { return }
        charge(Estimate.stream - Estimate.response, to: stream)
        resumeLater(context)
    }

    /// A stream has ended.
    func ended(_ stream: HTTP2StreamID, _ context: ChannelHandlerContext) {
        postponed.removeAll { $0.frames[0].streamID == stream }
        unanswered.remove(stream)
        open.hold(-(charges.removeValue(forKey: stream) ?? 0))
        resumeLater(context)
    }

    private func charge(_ count: Int, to stream: HTTP2StreamID) {
        charges[stream, default: 0] += count
        open.hold(count)
    }

    // MARK: What waits

    /// Begins what waits, as far as that is possible.
    func resume() {
        guard let context, context.channel.isActive, !isResuming else { return }
        isResuming = true
        var (hasBegun, isBlocked) = (false, false)
        while !isBlocked, let stream = postponed.first {
            postponed.removeFirst()
            isBlocked = !begins(stream, context)
            if isBlocked { postponed.insert(stream, at: 0) } else { hasBegun = true }
        }
        isResuming = false
        guard hasBegun else { return }
        context.flush()
        context.fireChannelReadComplete()
    }

    /// Begins what waits when the frames under way have been processed.
    private func resumeLater(_ context: ChannelHandlerContext) {
        guard !postponed.isEmpty, !isResumingLater else { return }
        isResumingLater = true
        context.eventLoop.assumeIsolated().execute {
            self.isResumingLater = false
            self.resume()
        }
    }

    /// Expects no response for longer, and begins what waits: other connections may hold less by then.
    private func resumeAfterPatience(_ context: ChannelHandlerContext) {
        guard !isPatient, !postponed.isEmpty || !unanswered.isEmpty else { return }
        isPatient = true
        _ = context.eventLoop.assumeIsolated().scheduleTask(in: Self.patience) {
            self.isPatient = false
            guard let context = self.context else { return }
            for stream in self.unanswered { self.charge(Estimate.stream - Estimate.response, to: stream) }
            self.unanswered = []
            self.resume()
            self.resumeAfterPatience(context)
        }
    }
}

import NIOCore

/// What a client has pipelined beyond the turn of its connection.
struct PostponedInput {
    var bytes: ByteBuffer?
    /// The client has closed its output after these bytes.
    var isInputClosed = false
    /// The application has requested more in the meantime.
    var isReadHeld = false

    /// Appends bytes if others wait already.
    mutating func append(_ more: ByteBuffer) -> Bool {
        guard bytes != nil else { return false }
        var more = more
        bytes?.writeBuffer(&more)
        return true
    }
}

/// A client gets the responses of its turns, and none while it takes no bytes. What it has sent beyond waits here and
/// not after the decoder: there, each of its requests would cost as much as a miss.
extension ResponseCacheHandler {
    /// Whether it is the turn of the client; keeps the bytes for it otherwise.
    func begins(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) -> Bool {
        if connection.share.begins(.cachedResponse, now: context.eventLoop.now) { return true }
        connection.share.wait(.cachedResponse) { self.resume(context) }
        postponed.bytes = bytes
        return false
    }

    /// Keeps bytes for the next turn.
    func postpone(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
        postponed.bytes = bytes
        guard context.channel.isWritable else { return }
        connection.share.wait(.cachedResponse) { self.resume(context) }
    }

    /// Processes what waits for the response under way, once that has ended.
    func resumeLater() {
        guard postponed.bytes != nil, let context else { return }
        context.eventLoop.assumeIsolated().execute { self.resume(context) }
    }

    private func resume(_ context: ChannelHandlerContext) {
        guard context.channel.isActive, context.channel.isWritable, let bytes = postponed.bytes else { return }
        postponed.bytes = nil
        process(bytes, context)
        completeRead(context)
        guard postponed.bytes == nil else { return }
        if postponed.isInputClosed {
            postponed.isInputClosed = false
            context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        }
        if postponed.isReadHeld {
            postponed.isReadHeld = false
            context.read()
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        context.fireChannelWritabilityChanged()
        // Within a flush of this handler nothing is postponed yet.
        if postponed.bytes != nil { resume(context) }
    }

    func read(context: ChannelHandlerContext) {
        if postponed.bytes == nil { context.read() } else { postponed.isReadHeld = true }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if postponed.bytes != nil, case ChannelEvent.inputClosed = event {
            postponed.isInputClosed = true
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        postponed = PostponedInput()
        context.fireChannelInactive()
    }
}

import NIOCore
import NIOHTTP1

extension ConnectionHandler {
    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch Self.unwrapOutboundIn(data) {
        case .head(var head):
            let mark = rendered == nil ? nil : head.headers.first(name: ResponseCache.mark)
            if mark != nil { head.headers.remove(name: ResponseCache.mark) }
            switch state.responseHead(head) {
            case .pass:
                if let mark { rendered?.responseBegins(mark: mark) }
                context.write(mark == nil ? data : Self.wrapOutboundOut(.head(head)), promise: promise)
            case .rewrite(let head): context.write(Self.wrapOutboundOut(.head(head)), promise: promise)
            case .drop: drop(promise)
            }
        case .body:
            guard state.forwardsResponseBody else { return drop(promise) }
            context.write(data, promise: promise)
        case .end:
            switch state.responseEnded(now: context.eventLoop.now) {
            case .keepAlive(let endsBody):
                context.write(endsBody ? data : Self.nothing, promise: promise)
                rendered?.responseEnded(now: context.eventLoop.now)
                releaseHeld(context)
                noteUndecoded(context)
                armTimer(context)
            case .drain(let endsBody):
                context.write(endsBody ? data : Self.nothing, promise: promise)
                drain(context)
            case .drop:
                drop(promise)
            }
        }
    }

    func flush(context: ChannelHandlerContext) {
        context.flush()
        watchWrites(context)
    }

    /// Starts watching whether the client takes its bytes, if that is not going on already.
    func watchWrites(_ context: ChannelHandlerContext) {
        guard !state.writeWatch.isWatching else { return }
        state.writeWatch.begin(taken: meter.sent - waitingBytes(context), now: context.eventLoop.now)
        armTimer(context)
    }

    /// Answers a request that goes no further.
    func refuse(_ refusal: ConnectionRefusal, version: HTTPVersion, isHEAD: Bool, _ context: ChannelHandlerContext) {
        let version = version == .http1_0 ? version : .http1_1
        for part in RefusalResponse(refusal, version: version, isHEAD: isHEAD, problem: reports.problem).parts {
            context.write(Self.wrapOutboundOut(part), promise: nil)
        }
        reports.onRefusal(refusal)
        drain(context)
    }

    /// Bytes handed to the channel that the socket has not taken.
    func waitingBytes(_ context: ChannelHandlerContext) -> Int {
        do {
            return try context.channel.syncOptions?.getOption(.bufferedWritableBytes) ?? 0
        } catch {
            // A channel that cannot tell: as good as none waiting, the idle deadline then stands alone.
            return 0
        }
    }

    /// Nothing, as the encoder passes it on in any state; its promise succeeds when everything before it was taken.
    static var nothing: NIOAny { wrapOutboundOut(.body(.byteBuffer(ByteBuffer()))) }

    /// The response comes too late: the request was refused or the connection is ending.
    private func drop(_ promise: EventLoopPromise<Void>?) {
        promise?.fail(ChannelError.outputClosed)
    }
}

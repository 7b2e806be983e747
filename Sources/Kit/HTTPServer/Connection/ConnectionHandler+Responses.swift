import NIOCore
import NIOHTTP1

extension ConnectionHandler {
    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let part = Self.unwrapOutboundIn(data)
        guard !unsent.isEmpty || UnsentParts.isLarge(part) else { return write(part, data, promise, context) }
        open.hold(unsent.append(part, promise))
    }

    /// Passes on what waits, as far as the client takes it.
    func sendUnsent(_ context: ChannelHandlerContext) {
        guard !isSending else { return }
        isSending = true
        while context.channel.isWritable, let next = unsent.popFirst() {
            open.hold(-next.bytes)
            write(next.part, Self.wrapOutboundOut(next.part), next.promise, context)
            if next.bytes > 0 { context.flush() }
        }
        context.flush()
        isSending = false
        guard isCloseDue, unsent.isEmpty else { return }
        isCloseDue = false
        close(context: context, mode: .output, promise: nil)
    }

    private func write(
        _ part: HTTPServerResponsePart,
        _ data: NIOAny,
        _ promise: EventLoopPromise<Void>?,
        _ context: ChannelHandlerContext
    ) {
        switch part {
        case .head(let head):
            write(head, data, promise, context)
        case .body:
            guard state.forwardsResponseBody else { return drop(promise) }
            context.write(data, promise: promise)
        case .end:
            switch state.responseEnded(now: context.eventLoop.now) {
            case .keepAlive(let endsBody):
                self.head = nil
                context.write(endsBody ? data : Self.nothing, promise: promise)
                observer?.responseEnded(now: context.eventLoop.now)
                releaseHeld(context)
                checkUnparsed(context)
                armTimer(context)
            case .drain(let endsBody):
                context.write(endsBody ? data : Self.nothing, promise: promise)
                observer?.responseEnded(now: context.eventLoop.now)
                drain(context)
            case .drop:
                drop(promise)
            }
        }
    }

    private func write(
        _ head: HTTPResponseHead,
        _ data: NIOAny,
        _ promise: EventLoopPromise<Void>?,
        _ context: ChannelHandlerContext
    ) {
        var head = head
        if 400..<500 ~= head.status.code { share.count(.failure) }
        let annotations = head.status.code >= 200 ? self.annotations.take() : ResponseAnnotations.Values()
        if let date = annotations.originDate { head.headers.replaceOrAdd(name: "Date", value: date) }
        switch state.responseHead(head) {
        case .pass:
            observer?.responseBegins(annotations)
            let isChanged = annotations.originDate != nil
            context.write(isChanged ? Self.wrapOutboundOut(.head(head)) : data, promise: promise)
        case .rewrite(let head):
            observer?.responseBegins(annotations)
            context.write(Self.wrapOutboundOut(.head(head)), promise: promise)
        case .drop: drop(promise)
        }
    }

    func flush(context: ChannelHandlerContext) {
        if unsent.isEmpty { context.flush() } else { sendUnsent(context) }
        watchWrites(context)
    }

    /// Starts to watch whether the client takes its bytes, unless they are watched already.
    func watchWrites(_ context: ChannelHandlerContext) {
        guard !state.stalledWrites.isWatching else { return }
        state.stalledWrites.begin(taken: counter.sent - waitingBytes(context), now: context.eventLoop.now)
        armTimer(context)
    }

    /// Responds to a request that the application does not see, or not to its end.
    func refuse(_ refusal: ConnectionRefusal, version: HTTPVersion, isHEAD: Bool, _ context: ChannelHandlerContext) {
        let version = version == .http1_0 ? version : .http1_1
        let content = reports.problem(refusal, head.map(RefusedHead.init))
        for part in RefusalResponse(refusal, version: version, isHEAD: isHEAD, content).parts {
            context.write(Self.wrapOutboundOut(part), promise: nil)
        }
        reports.onRefusal(refusal)
        share.count(.refusal)
        drain(context)
    }

    /// Writes interim responses until the response begins or is not awaited any more: a client that has left resets the
    /// connection. One is not enough: a client that takes it and closes its socket afterwards resets at the next.
    func probeClient() {
        probe?.cancel()
        probe = nil
        guard let context, annotations.presence.isAwaited else { return }
        let head = HTTPResponseHead(version: .http1_1, status: .processing)
        guard case .pass = state.responseHead(head) else { return }
        context.writeAndFlush(Self.wrapOutboundOut(.head(head)), promise: nil)
        probe = context.eventLoop.assumeIsolated().scheduleTask(in: Self.probeInterval) { self.probeClient() }
    }

    /// Returns the bytes that were written to the channel and that the socket has not taken.
    func waitingBytes(_ context: ChannelHandlerContext) -> Int {
        if let waiting = counter.waiting { return waiting }
        do {
            return try context.channel.syncOptions?.getOption(.bufferedWritableBytes) ?? 0
        } catch {
            // The channel does not count them: then only the idle deadline applies.
            return 0
        }
    }

    /// An empty body, which the encoder passes on in any state; its promise succeeds once everything before it was
    /// taken.
    static var nothing: NIOAny { wrapOutboundOut(.body(.byteBuffer(ByteBuffer()))) }

    /// Fails a write of a response that is too late: the request was refused or the connection is closing.
    private func drop(_ promise: EventLoopPromise<Void>?) {
        promise?.fail(ChannelError.outputClosed)
    }
}

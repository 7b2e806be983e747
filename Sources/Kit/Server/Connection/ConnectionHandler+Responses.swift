import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypesHTTP1

extension ConnectionHandler {
    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let part = Self.unwrapOutboundIn(data)
        guard !unsent.isEmpty || UnsentParts.isLarge(part) else { return write(part, data, promise, context) }
        open.hold(unsent.append(part, promise))
    }

    /// Passes on waiting parts, as far as the client takes them.
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

/// `100 Continue` (RFC 9110 §10.1.1): sent when the application begins to read the body, so that a request which is
/// refused by its head alone gets its final response instead.
extension ConnectionHandler {
    func triggerUserOutboundEvent(
        context: ChannelHandlerContext,
        event: Any,
        promise: EventLoopPromise<Void>?
    ) {
        guard event is BodyDemand else { return context.triggerUserOutboundEvent(event, promise: promise) }
        promise?.succeed()
        guard awaitsContinue, state.isBodyDue, !state.isResponseBegun else { return }
        context.writeAndFlush(
            Self.wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: .continue))),
            promise: nil
        )
        continued(context)
    }

    /// The client did not wait for `100 Continue`.
    func bodyArrived(_ context: ChannelHandlerContext) {
        if awaitsContinue { continued(context) }
    }

    /// From here on, time counts against the client.
    private func continued(_ context: ChannelHandlerContext) {
        awaitsContinue = false
        state.readResumed(now: context.eventLoop.now)
        armTimer(context)
    }
}

/// Interim responses of the application (RFC 9110 §15.2).
extension ConnectionHandler {
    /// Lets the application send interim responses.
    func acceptInterimResponses(_ context: ChannelHandlerContext) {
        let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
        annotations.interim.opened { [eventLoop = context.eventLoop] response, request in
            eventLoop.execute { handler.value.write(interim: response, to: request) }
        }
    }

    /// Writes an interim response, unless the response to its request has begun or the client takes no bytes. A client
    /// of HTTP/1.0 gets none (RFC 9110 §15.2).
    private func write(interim response: HTTPResponse, to request: Int) {
        guard let context, isWritable, request == annotations.interim.request else { return }
        let head = HTTPResponseHead(response)
        guard case .pass = state.responseHead(head) else { return }
        context.writeAndFlush(Self.wrapOutboundOut(.head(head)), promise: nil)
        watchWrites(context)
    }

    /// Performs the action for a failed request, and fails the reader of its body.
    func perform(_ action: ConnectionState.FailureAction, _ context: ChannelHandlerContext) {
        switch action {
        case .refuse(let refusal, let version, let isHEAD, let body):
            refuse(refusal, version: version, isHEAD: isHEAD, context)
            if let body { context.fireErrorCaught(body) }
        case .closeAbruptly(let reason, let body):
            closeAbruptly(reason, body: body, context)
        case .ignore:
            break
        }
    }

    /// Closes without a response.
    func closeAbruptly(_ reason: AbruptClose, body: RequestBodyError?, _ context: ChannelHandlerContext) {
        reports.onAbruptClose(reason)
        if let body { context.fireErrorCaught(body) }
        context.close(promise: nil)
    }

    /// Waits until the client has taken everything, then closes: our side first, so that the client can still read the
    /// response.
    func drain(_ context: ChannelHandlerContext) {
        held.removeAll()
        piecesEnded(context)
        observer?.responseAbandoned()
        discardFrom = counter.received
        let promise = context.eventLoop.makePromise(of: Void.self)
        promise.futureResult.assumeIsolated().whenComplete { result in
            guard case .success = result, self.state.drained(now: context.eventLoop.now) == .closeOutput else {
                return context.close(promise: nil)
            }
            let closed = context.eventLoop.makePromise(of: Void.self)
            closed.futureResult.assumeIsolated().whenFailure { _ in context.close(promise: nil) }
            context.close(mode: .output, promise: closed)
            self.discardCompleted(context)
            self.armTimer(context)
        }
        context.write(Self.nothing, promise: promise)
        context.flush()
        watchWrites(context)
        // From here on this handler reads by itself: no later handler needs the bytes that arrive.
        context.read()
    }

    /// While draining and lingering, reads until enough has been discarded.
    func discardCompleted(_ context: ChannelHandlerContext) {
        let isWithin = counter.received - discardFrom <= limits.lingerBytes
        switch state.phase {
        case .draining where isWithin, .lingering where isWithin:
            context.read()
        case .lingering:
            context.close(promise: nil)
        default:
            break
        }
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard mode != .input else { return context.close(mode: mode, promise: promise) }
        guard mode != .output || unsent.isEmpty else {
            isCloseDue = true
            return context.channel.closeFuture.cascade(to: promise)
        }
        switch state.applicationClosed(outputOnly: mode == .output) {
        case .close:
            context.close(mode: .all, promise: promise)
        case .drain:
            context.channel.closeFuture.cascade(to: promise)
            drain(context)
        case .ignore:
            context.channel.closeFuture.cascade(to: promise)
        }
    }

    // MARK: Timer

    /// Makes the timer fire no later than the next deadline.
    func armTimer(_ context: ChannelHandlerContext) {
        timer.arm(state.nextDeadline, on: context.eventLoop) {
            self.timer.fired()
            self.timerFired(context)
        }
    }

    func cancelTimer() {
        timer.cancel()
        probe?.cancel()
        probe = nil
    }

    private func timerFired(_ context: ChannelHandlerContext) {
        let waiting = waitingBytes(context)
        switch state.timerFired(taken: counter.sent - waiting, waiting: waiting, now: context.eventLoop.now) {
        case .none:
            break
        case .fail(let action):
            perform(action, context)
        case .closeAbruptly(let reason, let body):
            closeAbruptly(reason, body: body, context)
        case .close:
            context.close(promise: nil)
        }
        armTimer(context)
    }
}

/// The rest of a response, which waits here as one buffer until the client takes it. Later handlers would copy and
/// encrypt a large body as a whole, and divide it into frames.
struct UnsentParts {
    /// Largest part of a body that is passed on at once, in bytes.
    static let piece = 64 << 10

    private var parts: [(part: HTTPServerResponsePart, promise: EventLoopPromise<Void>?)] = []
    /// Bytes of bodies.
    private(set) var bytes = 0

    var isEmpty: Bool { parts.isEmpty }

    /// Whether a part is not passed on at once.
    static func isLarge(_ part: HTTPServerResponsePart) -> Bool { size(part) > piece }

    private static func size(_ part: HTTPServerResponsePart) -> Int {
        if case .body(let body) = part { body.readableBytes } else { 0 }
    }

    /// Adds a part after those that wait.
    ///
    /// - Returns: Its bytes.
    mutating func append(_ part: HTTPServerResponsePart, _ promise: EventLoopPromise<Void>?) -> Int {
        parts.append((part, promise))
        bytes += Self.size(part)
        return Self.size(part)
    }

    /// Removes the next part, or a piece of it.
    mutating func popFirst() -> (part: HTTPServerResponsePart, promise: EventLoopPromise<Void>?, bytes: Int)? {
        guard let first = parts.first else { return nil }
        if Self.isLarge(first.part), case .body(.byteBuffer(var rest)) = first.part,
            let piece = rest.readSlice(length: Self.piece)
        {
            parts[0].part = .body(.byteBuffer(rest))
            bytes -= Self.piece
            return (.body(.byteBuffer(piece)), nil, Self.piece)
        }
        parts.removeFirst()
        bytes -= Self.size(first.part)
        return (first.part, first.promise, Self.size(first.part))
    }

    /// Forgets all waiting parts: the channel is closed.
    mutating func removeAll() {
        for part in parts { part.promise?.fail(ChannelError.ioOnClosedChannel) }
        parts = []
        bytes = 0
    }
}

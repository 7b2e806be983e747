import NIOCore
import NIOHTTP1

/// Decides about the next action of a connection. It has no channel and no clock: times and byte counts are passed in.
///
/// One request is under way at a time. The owner holds back requests that a client pipelines after it (``intake``), so
/// responses are in order and limits count per request. Each method is an event and returns the action. Deadlines are
/// those of ``ConnectionLimits``.
struct ConnectionState {
    /// A request under way and its response.
    struct Exchange: Equatable {
        let version: HTTPVersion
        let isHEAD: Bool
        /// Whether the connection may live on after the response, as far as known.
        var keepsAlive: Bool
        /// The request has arrived whole.
        var isReceived = false
        /// Set once the head of the response has been passed on: whether body bytes may follow it.
        var responseBody: ResponseBody?
        /// When the body began, and when its last bytes arrived; both move on by the time in which the server did not
        /// read.
        var bodyBegan: NIODeadline
        var bodyProgress: NIODeadline
        /// Bytes of the body that have arrived.
        var bodyBytes = 0
    }

    /// The framing after the head of a response.
    enum ResponseBody: Equatable {
        case allowed
        /// HEAD, 204, 304: nothing may follow, whatever the application writes (RFC 9110 section 6.4.1).
        case none
    }

    enum Phase: Equatable {
        /// Between requests.
        case idle(since: NIODeadline)
        /// The first bytes of a head have arrived.
        case head(began: NIODeadline)
        case exchange(Exchange)
        /// The last response of the connection is written; the client has yet to take it.
        case draining(lingers: Bool)
        /// Our side is closed; further bytes of the client are discarded, so that it can read the response.
        case lingering(until: NIODeadline)
        case closed
    }

    /// The action for the next decoded part.
    enum Intake: Equatable { case process, hold, discard }

    let limits: ConnectionLimits
    let rules: RequestHeadRules
    var phase: Phase
    var stalledWrites: StalledWriteDetector
    /// Since when the server has not been reading while a body was due.
    var readPausedAt: NIODeadline?
    /// A request has arrived and waits for a slot of its client: no time counts against the client.
    var isSlotAwaited = false
    private(set) var isQuiescing = false
    private(set) var isInputClosed = false

    init(limits: ConnectionLimits, security: ConnectionSecurity = .clearText, now: NIODeadline) {
        self.limits = limits
        rules = RequestHeadRules(limits: limits, security: security)
        phase = .idle(since: now)
        stalledWrites = StalledWriteDetector(deadline: TimeAmount(limits.writeDeadline))
    }

    var intake: Intake {
        switch phase {
        case .idle, .head: .process
        case .exchange(let exchange): exchange.isReceived ? .hold : .process
        case .draining, .lingering, .closed: .discard
        }
    }

    /// Whether the next head would begin a new request. False while the client takes no responses.
    var isBetweenRequests: Bool {
        switch phase {
        case .idle, .head: true
        default: false
        }
    }

    /// Whether a whole request that arrived now would get its response, with the connection staying open.
    var isAtRest: Bool {
        if case .idle = phase { !isQuiescing && !isInputClosed } else { false }
    }

    /// A request got its response ahead of the decoder.
    mutating func servedFromCache(now: NIODeadline) {
        if case .idle = phase { phase = .idle(since: now) }
    }

    /// The last request of the connection got its response ahead of the decoder.
    mutating func servedLastFromCache() {
        if case .idle = phase { phase = .draining(lingers: true) }
    }

    // MARK: The request

    enum HeadAction: Equatable {
        /// Send `100 Continue` if it is expected, then pass the head on.
        case forward(AcceptedHead)
        case refuse(ConnectionRefusal)
    }

    /// A head was decoded, and no other request is under way.
    mutating func headReceived(_ head: HTTPRequestHead, now: NIODeadline) -> HeadAction {
        switch rules.judge(head) {
        case .success(let accepted):
            let keepsAlive = accepted.keepsAlive && !isQuiescing
            phase = .exchange(
                Exchange(
                    version: head.version,
                    isHEAD: head.method == .HEAD,
                    keepsAlive: keepsAlive,
                    bodyBegan: now,
                    bodyProgress: now
                )
            )
            return .forward(accepted)
        case .failure(let refusal):
            phase = .draining(lingers: true)
            return .refuse(refusal)
        }
    }

    /// A piece of the body arrived.
    mutating func bodyReceived(bytes: Int, now: NIODeadline) {
        guard case .exchange(var exchange) = phase else { return }
        exchange.bodyProgress = now
        exchange.bodyBytes += bytes
        phase = .exchange(exchange)
    }

    /// The request has arrived whole.
    mutating func requestEnded() {
        guard case .exchange(var exchange) = phase else { return }
        exchange.isReceived = true
        phase = .exchange(exchange)
        readPausedAt = nil
    }

    /// The action for a failed request.
    enum FailureAction: Equatable {
        /// Write the problem, drain, linger. `body` is the error for the reader of the body, if there is one.
        case refuse(ConnectionRefusal, version: HTTPVersion, isHEAD: Bool, body: RequestBodyError?)
        /// Too late for a response of its own: close at once.
        case closeAbruptly(AbruptClose, body: RequestBodyError?)
        case ignore
    }

    /// The request under way, or the one that is arriving, has failed.
    mutating func failed(_ refusal: ConnectionRefusal, body: RequestBodyError) -> FailureAction {
        switch phase {
        case .idle, .head:
            phase = .draining(lingers: true)
            return .refuse(refusal, version: .http1_1, isHEAD: false, body: nil)
        case .exchange(let exchange):
            let bodyError = exchange.isReceived ? nil : body
            if exchange.responseBody == nil {
                phase = .draining(lingers: true)
                return .refuse(refusal, version: exchange.version, isHEAD: exchange.isHEAD, body: bodyError)
            }
            phase = .closed
            return .closeAbruptly(.failedDuringResponse, body: bodyError)
        case .draining, .lingering, .closed:
            return .ignore
        }
    }

    enum InputClosedAction: Equatable {
        /// The response under way is finished, then the connection closed; pass the event on.
        case forward
        /// Nothing under way: close as soon as the client has taken all written bytes.
        case drain
        case close
        case closeAbruptly(AbruptClose, body: RequestBodyError?)
        case ignore
    }

    /// The client has closed its output.
    mutating func inputClosed() -> InputClosedAction {
        isInputClosed = true
        switch phase {
        case .idle:
            phase = .draining(lingers: false)
            return .drain
        case .head:
            phase = .closed
            return .closeAbruptly(.truncatedRequest, body: nil)
        case .exchange(var exchange):
            guard exchange.isReceived else {
                phase = .closed
                return .closeAbruptly(.truncatedRequest, body: .truncated)
            }
            exchange.keepsAlive = false
            phase = .exchange(exchange)
            return .forward
        case .draining:
            return .ignore
        case .lingering:
            phase = .closed
            return .close
        case .closed:
            return .ignore
        }
    }

    /// The channel is closed.
    /// - Returns: the error for the reader of an unfinished body
    mutating func channelClosed() -> RequestBodyError? {
        defer { phase = .closed }
        if case .exchange(let exchange) = phase, !exchange.isReceived { return .truncated }
        return nil
    }

    // MARK: The end of the connection

    enum DrainedAction: Equatable { case closeOutput, close }

    /// The client has taken all that was written. Ends draining.
    mutating func drained(now: NIODeadline) -> DrainedAction {
        guard case .draining(let lingers) = phase, lingers, !isInputClosed else {
            phase = .closed
            return .close
        }
        phase = .lingering(until: now + TimeAmount(limits.lingerTime))
        return .closeOutput
    }

    enum QuiesceAction: Equatable { case drain, wait }

    /// The server stops: idle connections close at once, the others after the response under way.
    mutating func quiesce() -> QuiesceAction {
        isQuiescing = true
        guard case .idle = phase else { return .wait }
        phase = .draining(lingers: false)
        return .drain
    }

    enum ApplicationCloseAction: Equatable { case drain, close, ignore }

    /// The application has closed its end, wholly or for output only.
    mutating func applicationClosed(outputOnly: Bool) -> ApplicationCloseAction {
        switch phase {
        case .idle where outputOnly, .head where outputOnly:
            phase = .draining(lingers: true)
            return .drain
        case .idle, .head, .exchange:
            // Within a response: better cut off, where the client can see it, than ended as if it were whole.
            phase = .closed
            return .close
        case .draining, .lingering:
            return .ignore
        case .closed:
            return .close
        }
    }
}

/// The response of the exchange under way.
extension ConnectionState {
    enum ResponseHeadAction: Equatable {
        case pass
        /// The head has to say whether the connection stays open.
        case rewrite(HTTPResponseHead)
        /// No client waits for this response.
        case drop
    }

    /// The application has begun its response.
    mutating func responseHead(_ head: HTTPResponseHead) -> ResponseHeadAction {
        guard case .exchange(var exchange) = phase, exchange.responseBody == nil else { return .drop }
        if head.status.code < 200 { return exchange.version == .http1_1 ? .pass : .drop }
        let hasBody = !exchange.isHEAD && head.status != .noContent && head.status != .notModified
        exchange.responseBody = hasBody ? .allowed : ResponseBody.none
        exchange.keepsAlive = exchange.keepsAlive && exchange.isReceived && !isQuiescing
        if head.headers.contains(name: "Connection"),
            head.headers[canonicalForm: "Connection"].contains(where: { $0.lowercased() == "close" })
        {
            exchange.keepsAlive = false
        }
        defer { phase = .exchange(exchange) }
        if exchange.version == .http1_1, exchange.keepsAlive { return .pass }

        var head = head
        if exchange.version == .http1_0 {
            // A 1.0 client knows no chunks: a body of unknown length ends with the connection (RFC 9112 section 6.3).
            head.version = .http1_0
            head.headers.remove(name: "Transfer-Encoding")
            if hasBody, !head.headers.contains(name: "Content-Length") { exchange.keepsAlive = false }
        }
        head.headers.replaceOrAdd(name: "Connection", value: exchange.keepsAlive ? "keep-alive" : "close")
        return .rewrite(head)
    }

    /// Whether the head of the final response has been passed on.
    var isResponseBegun: Bool {
        if case .exchange(let exchange) = phase { exchange.responseBody != nil } else { false }
    }

    /// Whether a piece of a response's body is written.
    var forwardsResponseBody: Bool {
        if case .exchange(let exchange) = phase { exchange.responseBody == .allowed } else { false }
    }

    enum ResponseEndAction: Equatable {
        /// Write the end if there is a body to end, then take the next request.
        case keepAlive(endsBody: Bool)
        /// Write it, and close once the client has taken it.
        case drain(endsBody: Bool)
        case drop
    }

    /// The application has ended its response.
    mutating func responseEnded(now: NIODeadline) -> ResponseEndAction {
        guard case .exchange(let exchange) = phase, let body = exchange.responseBody else { return .drop }
        // A response without a body ends with its head: ending it again would write the last chunk of a body that is
        // not there.
        let endsBody = body == .allowed
        guard exchange.keepsAlive, exchange.isReceived, !isQuiescing else {
            phase = .draining(lingers: true)
            return .drain(endsBody: endsBody)
        }
        phase = .idle(since: now)
        return .keepAlive(endsBody: endsBody)
    }
}

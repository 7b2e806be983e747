import NIOCore

/// The deadlines of ``ConnectionLimits`` in the event loop's unit.
struct ConnectionDeadlines: Equatable {
    let head: TimeAmount
    let idle: TimeAmount
    let body: TimeAmount
    let bodyIdle: TimeAmount
    let write: TimeAmount
    let linger: TimeAmount
    let lingerBytes: Int
    let unparsedBytes: Int

    init(_ limits: ConnectionLimits) {
        head = TimeAmount(limits.headDeadline)
        idle = TimeAmount(limits.idleTimeout)
        body = TimeAmount(limits.bodyDeadline)
        bodyIdle = TimeAmount(limits.bodyIdle)
        write = TimeAmount(limits.writeDeadline)
        linger = TimeAmount(limits.lingerTime)
        lingerBytes = limits.lingerBytes
        unparsedBytes = limits.headerBytes
    }

    /// How long a body may take of which so much has arrived: files of any size do at 16 KiB in a second.
    func wholeBody(received bytes: Int) -> TimeAmount { body + .seconds(Int64(bytes / (16 << 10))) }
}

extension ConnectionState {
    /// Looked at after every batch of reads: bytes that have not become a part start the head deadline, too many of
    /// them are refused.
    mutating func checkUnparsed(bytes: Int, now: @autoclosure () -> NIODeadline) -> FailureAction {
        switch phase {
        case .idle where bytes > 0:
            phase = .head(began: now())
        default:
            break
        }
        guard bytes > deadlines.unparsedBytes else { return .ignore }
        switch phase {
        case .exchange(let exchange) where !exchange.isReceived:
            return failed(.malformed("The framing of the body takes far more bytes than the body."), body: .malformed)
        case .idle, .head:
            return failed(
                .headersTooLarge("The request head is larger than \(deadlines.unparsedBytes) bytes."),
                body: .malformed
            )
        default:
            return .ignore
        }
    }

    /// The server stops reading: time does not count against the client until it resumes.
    mutating func readPaused(now: NIODeadline) {
        guard isBodyDue, readPausedAt == nil else { return }
        readPausedAt = now
    }

    /// The server reads again.
    mutating func readResumed(now: NIODeadline) {
        guard let pausedAt = readPausedAt else { return }
        readPausedAt = nil
        guard case .exchange(var exchange) = phase else { return }
        exchange.bodyBegan = exchange.bodyBegan + (now - pausedAt)
        exchange.bodyProgress = exchange.bodyProgress + (now - pausedAt)
        phase = .exchange(exchange)
    }

    /// Whether bytes of a request body are outstanding.
    var isBodyDue: Bool {
        if case .exchange(let exchange) = phase { !exchange.isReceived } else { false }
    }

    /// When to look again; nil if nothing has a deadline.
    var nextDeadline: NIODeadline? {
        guard let phaseDeadline else { return stalledWrites.nextCheck }
        guard let check = stalledWrites.nextCheck else { return phaseDeadline }
        return min(phaseDeadline, check)
    }

    private var phaseDeadline: NIODeadline? {
        switch phase {
        case .idle where isTurnAwaited, .head where isTurnAwaited: nil
        case .idle(let since): since + deadlines.idle
        case .head(let began): began + deadlines.head
        case .exchange(let exchange) where !exchange.isReceived && readPausedAt == nil:
            min(
                exchange.bodyBegan + deadlines.wholeBody(received: exchange.bodyBytes),
                exchange.bodyProgress + deadlines.bodyIdle
            )
        case .exchange: nil
        case .lingering(let until): until
        case .draining, .closed: nil
        }
    }

    /// A timer has fired.
    enum TimerAction: Equatable {
        case none
        case fail(FailureAction)
        case closeAbruptly(AbruptClose, body: RequestBodyError?)
        /// The end of lingering: nothing was lost.
        case close
    }

    /// Looks at every deadline.
    /// - Parameters:
    ///   - taken: bytes the client's socket has taken since the connection began
    ///   - waiting: bytes handed over and not taken
    mutating func timerFired(taken: Int, waiting: Int, now: NIODeadline) -> TimerAction {
        if stalledWrites.isStalled(taken: taken, waiting: waiting, now: now) {
            let body: RequestBodyError? = isBodyDue ? .timedOut : nil
            phase = .closed
            return .closeAbruptly(.writeStalled, body: body)
        }
        guard let due = phaseDeadline, now >= due else { return .none }
        switch phase {
        case .idle:
            // The end of a response was queued, not taken: the connection is not idle before it has been.
            guard waiting == 0 else {
                phase = .idle(since: now)
                return .none
            }
            phase = .closed
            return .closeAbruptly(.idle, body: nil)
        case .head:
            return .fail(failed(.timedOut("The request head did not arrive in time."), body: .timedOut))
        case .exchange:
            return .fail(failed(.timedOut("The request body did not arrive in time."), body: .timedOut))
        case .lingering:
            phase = .closed
            return .close
        case .draining, .closed:
            return .none
        }
    }
}

import NIOCore
import NIOHTTP1

/// Limits of one client in the connection layer: sizes, counts and deadlines. Every value is configuration; the
/// defaults are the documented ones.
///
/// The size of a request body is a property of the route and is checked where the body is read.
package struct ConnectionLimits: Sendable, Equatable {
    /// Bytes of a whole request head, request line included; also the most bytes that may arrive without completing a
    /// head or adding to a body (chunk extensions, trailers, empty lines). Beyond it: 431 in a head, 400 in a body.
    package var headerBytes = 32 * 1024
    /// Field lines in a head, trailers included. Beyond it: 431.
    var headerCount = 100
    /// Bytes of the request target. Beyond it: 414.
    package var urlBytes = 8 * 1024
    /// From the first byte of a head to its end; then 408.
    package var headDeadline: Duration = .seconds(10)
    /// How long a connection may stay open with no request under way and nothing left to send; closed silently.
    package var idleTimeout: Duration = .seconds(60)
    /// Whole request body, not counting time in which the server itself did not read; then 408.
    package var bodyDeadline: Duration = .seconds(60)
    /// Longest pause within a request body, without time in which the server did not read; then 408.
    var bodyIdle: Duration = .seconds(20)
    /// How long a client may take no byte while bytes are waiting for it. Progress is checked four times within this
    /// time, so a stalled client is closed after at most a quarter more.
    package var writeDeadline: Duration = .seconds(30)
    /// Connections open at once; enforced by the listener, not here.
    package var connections = 1024
    /// Bytes read and thrown away after the last response of a connection, so that the client can read that response
    /// (RFC 9112 section 9.6).
    var lingerBytes = 64 * 1024
    /// How long that lasts.
    var lingerTime: Duration = .seconds(2)

    package static let standard = ConnectionLimits()

    /// Longest time for a body of which so many bytes have arrived: 16 KiB in a second are enough for a file of any
    /// size.
    func wholeBody(received bytes: Int) -> TimeAmount {
        TimeAmount(bodyDeadline) + .seconds(Int64(bytes / (16 << 10)))
    }
}

/// How the bytes of a connection arrive.
enum ConnectionSecurity {
    /// In clear text, on a port without TLS.
    case clearText
    /// Through TLS.
    case tls
    /// In clear text on a port for TLS: every request is refused, or redirected if its host is served.
    case clearTextOnTLS(HostRules)

    /// The beginning of the URL of a request.
    var scheme: String {
        if case .tls = self { "https://" } else { "http://" }
    }

    var isRefused: Bool {
        if case .clearTextOnTLS = self { true } else { false }
    }

    /// Returns the refusal of a request that should have used TLS; nil if it is acceptable.
    func refusal(_ head: HTTPRequestHead) -> ConnectionRefusal? {
        guard case .clearTextOnTLS(let hosts) = self else { return nil }
        let names = head.headers["Host"]
        guard head.method == .GET || head.method == .HEAD, names.count == 1, HostField.isValid(names[0]),
            hosts.allows(names[0]), head.uri.utf8.first == UInt8(ascii: "/"),
            RequestTarget(uri: head.uri, isOptions: false) == .origin
        else { return .clearText }
        return .redirect(to: "https://\(names[0])\(head.uri)")
    }
}

/// Functions of the server that a connection calls, on the event loop: they must not block.
struct ConnectionReports: Sendable {
    /// Renders a refusal in the application's problem format.
    let problem: @Sendable (ConnectionRefusal, RefusedHead?) -> RefusalContent
    /// Is called for every refused request.
    let onRefusal: @Sendable (ConnectionRefusal) -> Void
    /// Is called for every connection that was closed without a whole response.
    let onAbruptClose: @Sendable (AbruptClose) -> Void
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
        guard bytes > limits.headerBytes else { return .ignore }
        switch phase {
        case .exchange(let exchange) where !exchange.isReceived:
            return failed(.malformed("The framing of the body takes far more bytes than the body."), body: .malformed)
        case .idle, .head:
            return failed(
                .headersTooLarge("The request head is larger than \(limits.headerBytes) bytes."),
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
        case .idle where isSlotAwaited, .head where isSlotAwaited: nil
        case .idle(let since): since + TimeAmount(limits.idleTimeout)
        case .head(let began): began + TimeAmount(limits.headDeadline)
        case .exchange(let exchange) where !exchange.isReceived && readPausedAt == nil:
            min(
                exchange.bodyBegan + limits.wholeBody(received: exchange.bodyBytes),
                exchange.bodyProgress + TimeAmount(limits.bodyIdle)
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

/// Detects that a client takes none of the bytes that wait for it. A slow reader passes as long as it takes anything.
///
/// It checks four times within the deadline and needs no work per write, which keeps it off the path of a hit.
struct StalledWriteDetector {
    private let deadline: TimeAmount
    private var taken = 0
    private var progressAt: NIODeadline?
    /// When to check next; nil while nothing is watched.
    private(set) var nextCheck: NIODeadline?

    init(deadline: TimeAmount) {
        self.deadline = deadline
    }

    /// Whether a check is scheduled, so that another write need not start one.
    var isWatching: Bool { nextCheck != nil }

    /// Bytes were handed over while nothing was watched.
    /// - Parameter taken: bytes the client's socket has taken since the connection began
    mutating func begin(taken: Int, now: NIODeadline) {
        self.taken = taken
        progressAt = now
        nextCheck = now + interval
    }

    /// Checks the progress since the last check.
    /// - Parameter waiting: bytes handed over and not taken
    /// - Returns: whether the client has taken nothing for the deadline
    mutating func isStalled(taken: Int, waiting: Int, now: NIODeadline) -> Bool {
        guard let progressAt, let nextCheck, now >= nextCheck else { return false }
        guard waiting > 0 else {
            self.nextCheck = nil
            return false
        }
        if taken > self.taken {
            self.taken = taken
            self.progressAt = now
        } else if now - progressAt >= deadline {
            return true
        }
        self.nextCheck = now + interval
        return false
    }

    private var interval: TimeAmount { .nanoseconds(max(1, deadline.nanoseconds / 4)) }
}

/// The timer of a connection: fires no later than the next of its deadlines.
///
/// A timer that fires too early causes only a check, after which it is armed again, so a request with an immediate
/// response costs no scheduling. The scheduled closure calls ``fired()`` first.
struct DeadlineTimer {
    private var pending: (deadline: NIODeadline, task: Scheduled<Void>)?

    /// Makes the timer fire at a deadline, unless it fires before that.
    ///
    /// - Parameters:
    ///   - deadline: The next of all deadlines; nil if there is none, then the timer does not change.
    ///   - eventLoop: That of the connection, on which this is called.
    mutating func arm(_ deadline: NIODeadline?, on eventLoop: any EventLoop, _ fire: @escaping () -> Void) {
        guard let deadline else { return }
        if let pending {
            guard deadline < pending.deadline else { return }
            pending.task.cancel()
        }
        pending = (deadline, eventLoop.assumeIsolated().scheduleTask(deadline: deadline, fire))
    }

    mutating func fired() { pending = nil }

    mutating func cancel() {
        pending?.task.cancel()
        pending = nil
    }
}

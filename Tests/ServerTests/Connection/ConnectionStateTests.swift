import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import Server

@Suite("The state of a connection")
struct ConnectionStateTests {
    private let start = NIODeadline.uptimeNanoseconds(5_000_000_000)
    private let get = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/", headers: ["Host": "a"])
    private let post = HTTPRequestHead(
        version: .http1_1,
        method: .POST,
        uri: "/",
        headers: ["Host": "a", "Content-Length": "9"]
    )

    private func fresh() -> ConnectionState {
        ConnectionState(limits: .standard, now: start)
    }

    private func responding(_ head: HTTPRequestHead, received: Bool = true) -> ConnectionState {
        var state = fresh()
        _ = state.headReceived(head, now: start)
        if received { state.requestEnded() }
        return state
    }

    private let ok = HTTPResponseHead(version: .http1_1, status: .ok, headers: ["Content-Length": "2"])

    // MARK: Order

    @Test("While a response is under way, what arrives next is held; after the response it is processed")
    func intake() {
        var state = fresh()
        #expect(state.intake == .process)
        _ = state.headReceived(post, now: start)
        #expect(state.intake == .process)
        state.requestEnded()
        #expect(state.intake == .hold)
        _ = state.sentHead(ok)
        #expect(state.intake == .hold)
        #expect(state.responseEnded(now: start) == .keepAlive(endsBody: true))
        #expect(state.intake == .process)
    }

    @Test("After a refusal everything is discarded, also a late response of the application")
    func refusalDiscards() {
        var state = responding(post, received: false)
        let refusal = ConnectionRefusal.malformed("x")
        #expect(
            state.failed(refusal, body: .malformed)
                == .refuse(refusal, version: .http1_1, isHEAD: false, body: .malformed)
        )
        #expect(state.intake == .discard)
        #expect(state.sentHead(ok) == nil)
        #expect(!state.forwardsResponseBody)
        #expect(state.responseEnded(now: start) == .drop)
    }

    @Test("A failure within a begun response closes the connection: two responses to one request are never sent")
    func failureDuringResponse() {
        var state = responding(post, received: false)
        _ = state.sentHead(ok)
        #expect(
            state.failed(.malformed("x"), body: .malformed) == .closeAbruptly(.failedDuringResponse, body: .malformed)
        )
    }

    // MARK: Answers

    @Test("A whole request on HTTP/1.1 keeps the connection alive and its response unchanged")
    func keepAlive() {
        var state = responding(get)
        #expect(state.sentHead(ok) == ok)
        #expect(state.responseEnded(now: start) == .keepAlive(endsBody: true))
    }

    @Test("A response before the request is whole says close and ends the connection")
    func earlyResponse() {
        var state = responding(post, received: false)
        #expect(state.sentHead(ok)?.headers["connection"] == ["close"])
        #expect(state.responseEnded(now: start) == .drain(endsBody: true))
        #expect(state.drained(now: start) == .closeOutput)
        #expect(state.phase == .lingering(until: start + .seconds(2)))
    }

    @Test("A response that has said close closes, even if the request has arrived whole meanwhile")
    func requestEndsDuringResponse() {
        var state = responding(post, received: false)
        _ = state.sentHead(ok)
        state.requestEnded()
        #expect(state.responseEnded(now: start) == .drain(endsBody: true))
    }

    @Test("The application's own Connection: Close is kept")
    func applicationSaysClose() {
        var state = responding(get)
        var head = ok
        head.headers.add(name: "Connection", value: "Close")
        #expect(state.sentHead(head)?.headers["connection"] == ["close"])
        #expect(state.responseEnded(now: start) == .drain(endsBody: true))
    }

    @Test(
        "An HTTP/1.0 client gets no chunks, and keep-alive only if it asked and the length is known",
        arguments: [(nil, "2", "close"), ("keep-alive", "2", "keep-alive"), ("keep-alive", nil, "close")]
            as [(String?, String?, String)]
    )
    func http10(asks: String?, length: String?, response: String) throws {
        var request = get
        request.version = .http1_0
        if let asks { request.headers.add(name: "Connection", value: asks) }
        var state = responding(request)
        var head = HTTPResponseHead(version: .http1_1, status: .ok, headers: ["Transfer-Encoding": "chunked"])
        if let length { head.headers.add(name: "Content-Length", value: length) }
        let responded = state.sentHead(head)
        let sent = try #require(responded)
        #expect(sent.version == .http1_0)
        #expect(!sent.headers.contains(name: "Transfer-Encoding"))
        #expect(sent.headers["connection"] == [response])
    }

    @Test("Responses to HEAD, and 204 and 304, have no body whatever the application writes")
    func noBody() {
        var request = get
        request.method = .HEAD
        var state = responding(request)
        _ = state.sentHead(ok)
        #expect(!state.forwardsResponseBody)
        #expect(state.responseEnded(now: start) == .keepAlive(endsBody: false))
        for status in [HTTPResponseStatus.noContent, .notModified] {
            state = responding(get)
            _ = state.sentHead(HTTPResponseHead(version: .http1_1, status: status))
            #expect(!state.forwardsResponseBody)
        }
    }

    @Test("Interim responses are sent to HTTP/1.1 clients only and leave the final one to come")
    func interim() {
        let hints = HTTPResponseHead(version: .http1_1, status: .custom(code: 103, reasonPhrase: "Early Hints"))
        var state = responding(get)
        #expect(state.sentHead(hints) == hints)
        #expect(state.sentHead(ok) == ok)
        var request = get
        request.version = .http1_0
        state = responding(request)
        #expect(state.sentHead(hints) == nil)
    }

    // MARK: Deadlines

    @Test("SRV-11 An idle connection is closed at its deadline; a request that is served has none")
    func idleDeadline() {
        var state = fresh()
        #expect(state.nextDeadline == start + .seconds(60))
        #expect(state.timerFired(taken: 0, waiting: 0, now: start + .seconds(59)) == .none)
        #expect(state.timerFired(taken: 0, waiting: 0, now: start + .seconds(60)) == .closeAbruptly(.idle, body: nil))
        state = responding(get)
        #expect(state.nextDeadline == nil)
    }

    @Test("SRV-11 A slow head is refused at its deadline, which more bytes do not move")
    func headDeadline() {
        var state = fresh()
        #expect(state.checkUnparsed(bytes: 1, now: start) == .ignore)
        #expect(state.nextDeadline == start + .seconds(10))
        // More bytes do not move it.
        #expect(state.checkUnparsed(bytes: 90, now: start + .seconds(9)) == .ignore)
        #expect(state.nextDeadline == start + .seconds(10))
        guard
            case .fail(.refuse(let refusal, _, _, nil)) = state.timerFired(
                taken: 0,
                waiting: 0,
                now: start + .seconds(10)
            )
        else {
            Issue.record("A slow head is not refused")
            return
        }
        #expect(refusal.status == 408)
    }

    @Test("SRV-11 A slow body is refused at its deadline")
    func bodyDeadline() {
        var state = responding(post, received: false)
        #expect(state.nextDeadline == start + .seconds(20))
        for second in stride(from: 15, through: 45, by: 15) {
            state.bodyReceived(bytes: 5000, now: start + .seconds(Int64(second)))
        }
        // Progress in small steps counts only up to the deadline of the whole body.
        #expect(state.nextDeadline == start + .seconds(60))
        guard
            case .fail(.refuse(_, _, _, .timedOut)) = state.timerFired(taken: 0, waiting: 0, now: start + .seconds(60))
        else {
            Issue.record("A slow body is not refused")
            return
        }
    }

    @Test("SRV-14 a body of any size has time to arrive, at 16 KiB in a second")
    func largeBody() {
        var state = responding(post, received: false)
        for second in stride(from: Int64(10), through: 300, by: 10) {
            state.bodyReceived(bytes: 160 << 10, now: start + .seconds(second))
            #expect(state.timerFired(taken: 0, waiting: 0, now: start + .seconds(second)) == .none)
        }
        #expect(state.nextDeadline == start + .seconds(320), "20 s without progress")
        for second in stride(from: Int64(310), through: 360, by: 10) {
            state.bodyReceived(bytes: 1, now: start + .seconds(second))
        }
        #expect(state.nextDeadline == start + .seconds(360), "a minute, and a second for each 16 KiB")
    }

    @Test("Time in which the server does not read does not count against the body")
    func backPressure() {
        var state = responding(post, received: false)
        state.readPaused(now: start + .seconds(5))
        #expect(state.nextDeadline == nil)
        #expect(state.timerFired(taken: 0, waiting: 0, now: start + .seconds(99)) == .none)
        state.readResumed(now: start + .seconds(105))
        #expect(state.nextDeadline == start + .seconds(120))
    }

    @Test("A connection whose last response is still being taken is not idle")
    func notIdleWhileTaking() {
        var state = fresh()
        #expect(state.timerFired(taken: 0, waiting: 10, now: start + .seconds(60)) == .none)
        #expect(state.nextDeadline == start + .seconds(120))
    }

    @Test("SRV-11 Bytes that become nothing are refused: 431 in a head, 400 in a body")
    func undecodedLimit() {
        for (head, status) in [(nil, 431), (post, 400)] {
            var state = fresh()
            if let head { _ = state.headReceived(head, now: start) }
            #expect(state.checkUnparsed(bytes: 32 * 1024, now: start) == .ignore)
            guard case .refuse(let refusal, _, _, _) = state.checkUnparsed(bytes: 32 * 1024 + 1, now: start) else {
                Issue.record("Endless framing is not refused")
                continue
            }
            #expect(refusal.status == status)
        }
    }

    // MARK: Closing

    @Test("SRV-12 Stopping closes an idle connection at once and another after its response, which says so")
    func quiesce() {
        var state = fresh()
        #expect(state.quiesce() == .drain)
        #expect(state.drained(now: start) == .close)

        state = responding(get)
        #expect(state.quiesce() == .wait)
        #expect(state.sentHead(ok)?.headers["connection"] == ["close"])
        #expect(state.responseEnded(now: start) == .drain(endsBody: true))

        // A response that had begun already.
        state = responding(get)
        _ = state.sentHead(ok)
        #expect(state.quiesce() == .wait)
        #expect(state.responseEnded(now: start) == .drain(endsBody: true))

        // A request whose head was arriving.
        state = fresh()
        _ = state.checkUnparsed(bytes: 3, now: start)
        #expect(state.quiesce() == .wait)
        _ = state.headReceived(get, now: start)
        state.requestEnded()
        #expect(state.sentHead(ok)?.headers["connection"] == ["close"])
    }

    @Test("A client that has sent its request and closed its side gets the response; then the connection closes")
    func halfClosedClient() {
        var state = responding(get)
        #expect(state.inputClosed() == .forward)
        #expect(state.sentHead(ok)?.headers["connection"] == ["close"])
        #expect(state.responseEnded(now: start) == .drain(endsBody: true))
        #expect(state.drained(now: start) == .close)
    }

    @Test("The reader of a body is notified of the end of input within a request")
    func truncated() {
        var state = responding(post, received: false)
        #expect(state.inputClosed() == .closeAbruptly(.truncatedRequest, body: .truncated))
        state = responding(post, received: false)
        #expect(state.channelClosed() == .truncated)
        state = responding(post)
        #expect(state.channelClosed() == nil)
        state = fresh()
        #expect(state.inputClosed() == .drain)
    }

    @Test("Lingering ends with the client's end of input, or at its deadline")
    func lingering() {
        var state = responding(post, received: false)
        _ = state.sentHead(ok)
        _ = state.responseEnded(now: start)
        _ = state.drained(now: start)
        var other = state
        #expect(state.inputClosed() == .close)
        #expect(other.nextDeadline == start + .seconds(2))
        #expect(other.timerFired(taken: 0, waiting: 0, now: start + .seconds(2)) == .close)
    }

    @Test("The application's close waits for a refusal to be taken, but breaks off an unfinished response")
    func applicationCloses() {
        var state = responding(post, received: false)
        _ = state.failed(.malformed("x"), body: .malformed)
        #expect(state.applicationClosed(outputOnly: false) == .ignore)
        state = responding(get)
        _ = state.sentHead(ok)
        #expect(state.applicationClosed(outputOnly: true) == .close)
        state = fresh()
        #expect(state.applicationClosed(outputOnly: true) == .drain)
    }
}

extension ConnectionState {
    /// The head in its sent form; nil if it is not sent.
    fileprivate mutating func sentHead(_ head: HTTPResponseHead) -> HTTPResponseHead? {
        switch responseHead(head) {
        case .pass: head
        case .rewrite(let head): head
        case .drop: nil
        }
    }
}

struct DeadlineTimerTests {
    /// Uses its timer like a connection: it has a deadline or none, and arms the timer again when that fires.
    private final class Owner {
        let eventLoop = EmbeddedEventLoop()
        var timer = DeadlineTimer()
        var deadline: NIODeadline?
        var checks: [NIODeadline] = []

        func arm() {
            timer.arm(deadline, on: eventLoop) {
                self.timer.fired()
                self.checks.append(self.eventLoop.now)
                self.arm()
            }
        }
    }

    private func seconds(_ count: Int64) -> NIODeadline { .uptimeNanoseconds(0) + .seconds(count) }

    @Test("the timer fires at the first of its deadlines, and checks again at a later one")
    func deadlines() {
        let owner = Owner()
        owner.deadline = seconds(10)
        owner.arm()
        owner.deadline = seconds(4)
        owner.arm()
        owner.deadline = seconds(7)
        owner.arm()
        owner.eventLoop.advanceTime(to: seconds(5))
        #expect(owner.checks == [seconds(4)], "a later deadline schedules nothing by itself")
        owner.deadline = nil
        owner.eventLoop.advanceTime(to: seconds(20))
        #expect(owner.checks == [seconds(4), seconds(7)])
    }

    @Test("without a deadline, and after its end, the timer does not fire")
    func none() {
        let owner = Owner()
        owner.arm()
        owner.deadline = seconds(1)
        owner.arm()
        owner.timer.cancel()
        owner.eventLoop.advanceTime(to: seconds(5))
        #expect(owner.checks.isEmpty)
        owner.deadline = seconds(6)
        owner.arm()
        owner.deadline = nil
        owner.eventLoop.advanceTime(to: seconds(6))
        #expect(owner.checks == [seconds(6)], "it can be armed again")
    }
}

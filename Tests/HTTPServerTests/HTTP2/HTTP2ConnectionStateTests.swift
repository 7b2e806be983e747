import NIOCore
import NIOHTTP2
import Testing

@testable import HTTPServer

@Suite("When a connection of HTTP/2 ends")
struct HTTP2ConnectionStateTests {
    private let start = NIODeadline.uptimeNanoseconds(5)

    @Test("The idle time begins with the connection, and again when the last stream ends")
    func idle() {
        var state = HTTP2ConnectionState(ConnectionLimits(idleTimeout: .seconds(60)), now: start)
        #expect(state.idleDeadline == start + .seconds(60))
        state.opened(1)
        state.opened(3)
        #expect(state.idleDeadline == nil)
        var ends = [state.closed(1, now: start + .seconds(5))]
        #expect(state.idleDeadline == nil)
        ends.append(state.closed(3, now: start + .seconds(9)))
        #expect(ends == [false, false] && state.idleDeadline == start + .seconds(69))
        #expect(state.lastStream == 3)
    }

    @Test("An end is announced once, and comes with the last stream; streams that were never opened do not count")
    func end() {
        var state = HTTP2ConnectionState(.standard, now: start)
        state.opened(1)
        let actions = [state.end(), state.end()]
        #expect(actions == [.announce, .none] && state.idleDeadline == nil)
        let ends = [state.closed(7, now: start), state.closed(1, now: start)]
        #expect(ends == [false, true])
        var empty = HTTP2ConnectionState(.standard, now: start)
        let action = empty.end()
        #expect(action == .close)
    }
}

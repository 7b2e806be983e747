import NIOCore
import NIOHTTP2
import TestKit
import Testing

@testable import Server

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

@Suite("The window of a connection, divided between NIO and what is sent beside it")
struct HTTP2SplitWindowTests {
    @Test("NIO has the window of the beginning; of what the client opens it has half, and 1 MiB at most")
    func shares() {
        var window = HTTP2SplitWindow()
        #expect(window.held == 0 && window.due(written: 0) == 0)
        window.opened(by: 1 << 30)
        #expect(window.due(written: 0) == 1 << 20 - HTTP2SplitWindow.initial)
        window.give(window.due(written: 0))
        #expect(window.due(written: 0) == 0 && window.held == 1 << 30 - 1 << 20 + HTTP2SplitWindow.initial)
        // It gets more when half of it is gone.
        #expect(window.due(written: 1 << 19) == 0 && window.due(written: 1 << 19 + 1) == 1 << 19 + 1)
    }

    @Test("Of a small window, NIO gets all that it needs")
    func small() {
        var window = HTTP2SplitWindow()
        window.opened(by: 1000)
        #expect(window.due(written: 0) == 0 && window.due(written: HTTP2SplitWindow.initial) == 1000)
    }

    @Test("A window beyond the largest is for NIO to refuse, as is an increment of 0")
    func limits() {
        var window = HTTP2SplitWindow()
        let room = HTTP2SplitWindow.largest - HTTP2SplitWindow.initial
        #expect(window.mayOpen(by: room, written: 0) && !window.mayOpen(by: room + 1, written: 0))
        #expect(window.mayOpen(by: room + 1, written: 1) && !window.mayOpen(by: 0, written: 0))
        window.opened(by: room)
        #expect(!window.mayOpen(by: 1, written: 0))
    }

    @Test("Both together never send more than the client allows, and NIO is never left without", arguments: 1...20)
    func property(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var window = HTTP2SplitWindow()
        // The window that the client has opened, and the part of it that NIO knows.
        var (all, known, written) = (HTTP2SplitWindow.initial, HTTP2SplitWindow.initial, 0)
        let largest = 1 << Int.random(in: 4...24, using: &random)
        for _ in 1...2000 {
            let count = Int.random(in: 1...largest, using: &random)
            switch Int.random(in: 0...3, using: &random) {
            case 0 where window.mayOpen(by: count, written: written):
                window.opened(by: count)
                all += count
            case 1 where count <= window.held:
                window.take(count)
                all -= count
            default:
                let sent = min(count, known)
                known -= sent
                all -= sent
                written += sent
            }
            let due = window.due(written: written)
            #expect(due <= window.held)
            window.give(due)
            known += due
            #expect(known + window.held == all && known >= 0 && window.held >= 0)
            #expect(known > 0 || all == 0)
        }
    }
}

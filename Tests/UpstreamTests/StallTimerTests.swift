import NIOCore
import Testing

@testable import Upstream

/// TRUST-13 The time in which an upstream is waited for, as a value.
struct StallTimerTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000)
    private var timer = StallTimer(limit: .seconds(8), response: .seconds(3600))

    @Test("A request body counts only while the connection takes no more of it")
    mutating func sending() {
        timer.wrote(isWritable: true, at: start)
        #expect(timer.deadline == nil)
        timer.writabilityChanged(false, at: start + .seconds(100))
        #expect(timer.deadline == start + .seconds(108))
        timer.writabilityChanged(true, at: start + .seconds(101))
        #expect(timer.deadline == nil)
        timer.wroteEnd(at: start + .seconds(200))
        #expect(timer.deadline == start + .seconds(3800), "DISK-40 the response has a limit of its own")
    }

    @Test("A response counts only while it is asked for, and its parts add up")
    mutating func receiving() {
        timer.wrote(isWritable: true, at: start)
        timer.wroteEnd(at: start)
        timer.received(0, at: start + .seconds(1))
        #expect(timer.deadline == nil)
        timer.asked(at: start + .seconds(100))
        #expect(timer.deadline == start + .seconds(108))
        timer.received(1, at: start + .seconds(107))
        timer.asked(at: start + .seconds(200))
        #expect(timer.deadline == start + .seconds(201), "one byte in seven seconds does not buy eight more")
        timer.ended()
        #expect(timer.deadline == nil)
    }

    @Test("Each 16 KiB buy a second, so that a large body has the time that it takes")
    mutating func size() {
        timer.received(0, at: start)
        var now = start
        for _ in 0..<100 {
            timer.asked(at: now)
            #expect(timer.deadline == now + .seconds(8))
            now = now + .seconds(7)
            timer.received(7 * StallTimer.bytesPerSecond, at: now)
        }
    }

    @Test("TRUST-13 A body that stalls ends after the limit, however much of it has arrived")
    mutating func stalled() {
        timer.received(0, at: start)
        timer.asked(at: start)
        timer.received(64 << 20, at: start + .seconds(1))
        timer.asked(at: start + .seconds(10))
        #expect(timer.deadline == start + .seconds(18))
    }

    @Test("A response that begins before its request has ended is timed as a response")
    mutating func early() {
        timer.wrote(isWritable: false, at: start)
        timer.received(0, at: start + .seconds(1))
        timer.wrote(isWritable: false, at: start + .seconds(2))
        timer.wroteEnd(at: start + .seconds(3))
        #expect(timer.deadline == nil)
    }
}

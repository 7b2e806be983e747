import NIOCore
import Testing

@testable import Server

@Suite("Counting what arrives and what is taken")
struct UnparsedByteCounterTests {
    @Test("Bytes of a head are pending until it is decoded")
    func head() {
        var counter = UnparsedByteCounter()
        #expect(counter.pending(received: 70) == 70)
        counter.decodedBoundary(received: 120)
        #expect(counter.pending(received: 120) == 0)
        #expect(counter.pending(received: 125) == 5)
    }

    @Test("Body bytes pay for reasonable framing, not for endless chunk extensions")
    func body() {
        var counter = UnparsedByteCounter()
        counter.decodedBody(bytes: 1, received: 6)
        #expect(counter.pending(received: 6) == 0)
        counter.decodedBody(bytes: 1, received: 1006)
        #expect(counter.pending(received: 1006) == 992)
        counter.decodedBody(bytes: 5000, received: 6006)
        #expect(counter.pending(received: 6006) == 0)
    }

    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000)

    @Test("A client that takes anything within the deadline is not stalled")
    func slowReader() {
        var watch = StalledWriteDetector(deadline: .seconds(40))
        watch.begin(taken: 100, now: start)
        for quarter in 1...20 {
            // One byte in every third look.
            let stalled = watch.isStalled(
                taken: 100 + quarter / 3,
                waiting: 5000,
                now: start + .seconds(Int64(quarter) * 10)
            )
            #expect(!stalled)
        }
    }

    @Test("A client that takes nothing for the deadline is stalled, not earlier")
    func stalledReader() {
        var watch = StalledWriteDetector(deadline: .seconds(40))
        watch.begin(taken: 100, now: start)
        for seconds in [5, 10, 20, 30] as [Int64] {
            let stalled = watch.isStalled(taken: 100, waiting: 1, now: start + .seconds(seconds))
            #expect(!stalled)
        }
        let stalled = watch.isStalled(taken: 100, waiting: 1, now: start + .seconds(40))
        #expect(stalled)
    }

    @Test("Once nothing waits, watching ends until the next write")
    func nothingWaits() {
        var watch = StalledWriteDetector(deadline: .seconds(40))
        #expect(!watch.isWatching)
        watch.begin(taken: 0, now: start)
        #expect(watch.isWatching)
        let stalled = watch.isStalled(taken: 100, waiting: 0, now: start + .seconds(10))
        #expect(!stalled)
        #expect(!watch.isWatching)
    }
}

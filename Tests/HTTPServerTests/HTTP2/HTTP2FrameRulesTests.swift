import NIOCore
import NIOHPACK
import NIOHTTP2
import Testing

@testable import HTTPServer

@Suite("Which frames NIO gets")
struct HTTP2FrameRulesTests {
    private var rules = HTTP2FrameRules()
    private let written = HTTP2WrittenFrames()

    private mutating func judge(_ frame: RawFrame, seconds: Int64 = 1) -> HTTP2FrameRules.Verdict {
        let now = NIODeadline.uptimeNanoseconds(0) + .seconds(seconds)
        return frame.bytes.withUnsafeBytes { bytes in
            let payload = UnsafeRawBufferPointer(rebasing: bytes[HTTP2FrameHead.size...])
            return rules.judge(HTTP2FrameHead(bytes), payload, written: written.data, now: now)
        }
    }

    private static func request(_ stream: Int) -> RawFrame { RawFrame(kind: 1, flags: 5, stream: stream) }
    private static func reset(_ stream: Int) -> RawFrame {
        RawFrame(kind: 3, stream: stream, payload: [0, 0, 0, 8])
    }

    @Test("Frames of a stream that NIO does not know are kept from it until it knows a later one")
    mutating func streams() {
        var verdicts = [judge(Self.request(1))]
        rules.served(3, bytes: 0)
        rules.served(5, bytes: 0)
        verdicts += [judge(.windowUpdate(3, 9)), judge(Self.reset(5)), judge(.windowUpdate(5, 9))]
        #expect(verdicts == [.pass, .drop, .drop, .drop])
        // Of NIO's own; not used yet; nothing is opened.
        verdicts = [judge(Self.reset(1)), judge(.windowUpdate(7, 9)), judge(.windowUpdate(5, 0))]
        verdicts += [judge(RawFrame(kind: 8, stream: 5, payload: [1])), judge(RawFrame(kind: 0, stream: 5))]
        verdicts += [judge(Self.request(7)), judge(.windowUpdate(5, 9)), judge(Self.reset(3))]
        #expect(verdicts == Array(repeating: .pass, count: 8))
    }

    @Test("Only a new stream of a client is responded to without NIO; one that begins again is an error")
    mutating func identifiers() {
        #expect(rules.mayServe(1, written) && !rules.mayServe(0, written) && !rules.mayServe(2, written))
        _ = judge(Self.request(5))
        #expect(!rules.mayServe(5, written) && !rules.mayServe(3, written) && rules.mayServe(7, written))
        rules.served(9, bytes: 0)
        #expect(!rules.mayServe(7, written) && !rules.mayServe(9, written) && rules.mayServe(11, written))
        // Trailers of NIO's stream, and what NIO finds itself.
        let passed = [judge(Self.request(5)), judge(Self.request(3)), judge(Self.request(8))]
        #expect(passed == [.pass, .pass, .pass])
        let refused = [judge(Self.request(7)), judge(Self.request(9))]
        #expect(refused == [.refuse, .refuse] && rules.isOff && !rules.mayServe(11, written))
    }

    @Test("Settings are waited for until NIO has acknowledged them, another table until it has written a header block")
    mutating func settings() {
        let verdict = judge(.settings([(1, 0), (4, 70_000), (3, 9)]))
        #expect(verdict == .pass && !rules.mayServe(1, written) && rules.streamWindow == 70_000)
        written.wroteFrame(HTTP2Frame(streamID: 1, payload: .headers(.init(headers: [:]))))
        #expect(!rules.mayServe(1, written))
        written.wroteFrame(HTTP2Frame(streamID: .rootStream, payload: .settings(.ack)))
        #expect(!rules.mayServe(1, written))
        written.wroteFrame(HTTP2Frame(streamID: 1, payload: .headers(.init(headers: [:]))))
        #expect(rules.mayServe(1, written))
        rules.served(1, bytes: 0)
        _ = judge(.settings([(4, 5)]))
        #expect(!rules.mayServe(3, written))
        written.wroteFrame(HTTP2Frame(streamID: .rootStream, payload: .settings(.ack)))
        #expect(rules.mayServe(3, written) && rules.fits(0) && !rules.fits(1))
        // The acknowledgement of the server's own settings changes nothing.
        _ = judge(RawFrame(kind: 4, flags: 1))
        #expect(rules.mayServe(3, written))
    }

    @Test("What the client opens is held, and a body takes it; what is too much NIO gets, with all that is held")
    mutating func window() {
        #expect(!rules.fits(1))
        let verdict = judge(.windowUpdate(0, 50_000))
        #expect(verdict == .drop && rules.fits(50_000) && !rules.fits(50_001))
        rules.served(1, bytes: 30_000)
        #expect(rules.fits(20_000) && !rules.fits(20_001))
        let (due, excess) = (rules.give(written: 0, isLast: false), judge(.windowUpdate(0, Int(Int32.max))))
        #expect(due == 0 && excess == .pass && rules.isOff)
        let given = rules.give(written: 0, isLast: false)
        #expect(given == 20_000 && rules.window.held == 0)
    }

    @Test(
        "A client that says farewell, or whose settings are none, is NIO's alone",
        arguments: [(7, 8), (4, 5)] as [(UInt8, Int)]
    )
    mutating func off(_ kind: UInt8, _ count: Int) {
        let verdict = judge(RawFrame(kind: kind, payload: Array(repeating: 0, count: count)))
        #expect(verdict == .pass && rules.isOff && !rules.mayServe(1, written))
    }

    @Test("Resets of streams that NIO does not know are counted as NIO counts its own (CVE-2023-44487)")
    mutating func resets() {
        rules.served(1, bytes: 0)
        var dropped = 0
        for _ in 1...HTTP2Limits.resets where judge(Self.reset(1)) == .drop { dropped += 1 }
        let (beyond, later) = (judge(Self.reset(1), seconds: 30), judge(Self.reset(1), seconds: 31))
        #expect(dropped == HTTP2Limits.resets && beyond == .pass && later == .drop)
    }
}

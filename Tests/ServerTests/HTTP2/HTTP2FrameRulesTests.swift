import NIOCore
import NIOHPACK
import NIOHTTP2
import TestKit
import Testing

@testable import Server

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
        // Trailers of a stream of NIO, and two streams that NIO itself refuses: one below an open one, and an even one.
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

/// A frame as a client sends it.
struct RawFrame {
    var kind: UInt8
    var flags: UInt8 = 0
    var stream = 0
    var payload: [UInt8] = []

    var bytes: [UInt8] {
        let head = [payload.count >> 16, payload.count >> 8, payload.count, Int(kind), Int(flags)]
        return (head + [stream >> 24, stream >> 16, stream >> 8, stream]).map { UInt8(truncatingIfNeeded: $0) }
            + payload
    }

    /// The bytes with which a client opens a connection (RFC 9113 §3.4).
    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    static func windowUpdate(_ stream: Int, _ increment: Int) -> RawFrame {
        let payload = [increment >> 24, increment >> 16, increment >> 8, increment].map {
            UInt8(truncatingIfNeeded: $0)
        }
        return RawFrame(kind: 8, stream: stream, payload: payload)
    }

    /// - Parameter settings: Each by its identifier and its value.
    static func settings(_ settings: [(Int, Int)] = []) -> RawFrame {
        let payload = settings.flatMap { id, value in
            [id >> 8, id, value >> 24, value >> 16, value >> 8, value].map { UInt8(truncatingIfNeeded: $0) }
        }
        return RawFrame(kind: 4, payload: payload)
    }
}

@Suite("Frames in the bytes of a client")
struct HTTP2FrameHeadTests {
    @Test("A head has the length, kind, flags and stream of its frame, without the reserved bit")
    func head() {
        var bytes = RawFrame(kind: 1, flags: 5, stream: 0x0102_0304, payload: Array(repeating: 0, count: 0x10203)).bytes
        bytes[5] |= 0x80
        let head = bytes.withUnsafeBytes { HTTP2FrameHead($0) }
        #expect(head.length == 0x10203 && head.kind == .headers && head.flags == 5 && head.stream == 0x0102_0304)
        let unknown = RawFrame(kind: 99).bytes.withUnsafeBytes { HTTP2FrameHead($0) }
        #expect(unknown.kind == nil && unknown.length == 0)
    }

    /// Divides bytes that arrive in pieces of this size: returns frames by their heads, with the way in which they
    /// arrived, and the number of bytes of all parts.
    private static func divide(_ bytes: [UInt8], by size: Int) -> (frames: [String], count: Int, isAtBoundary: Bool) {
        var (division, frames, count, held) = (HTTP2FrameDivision(), [String](), 0, [UInt8]())
        for start in stride(from: 0, to: bytes.count, by: size) {
            held += bytes[start..<min(start + size, bytes.count)]
            loop: while true {
                let taken: Int
                switch held.withUnsafeBytes({ division.next($0) }) {
                case .incomplete: break loop
                case .rest(let bytes): taken = bytes
                case .whole(let head):
                    taken = HTTP2FrameHead.size + head.length
                    frames.append("whole \(head.length) \(head.stream)")
                case .begun(let head, let bytes):
                    taken = bytes
                    frames.append("begun \(head.length) \(head.stream)")
                }
                count += taken
                held.removeFirst(taken)
            }
        }
        return (frames, count, division.isAtBoundary)
    }

    @Test("Frames are found however their bytes are divided", arguments: [1, 2, 3, 8, 9, 10, 13, 64, 1000, 100_000])
    func divided(_ size: Int) {
        let long = Array(repeating: UInt8(0x82), count: HTTP2FrameDivision.longest + 1)
        let frames = [
            RawFrame.settings([(4, 1)]), RawFrame(kind: 1, flags: 5, stream: 1, payload: [0x82]),
            RawFrame(kind: 0, stream: 3, payload: Array(repeating: 7, count: 300)), RawFrame(kind: 0, stream: 3),
            RawFrame(kind: 1, flags: 4, stream: 5, payload: long), .windowUpdate(0, 5),
            // A block in two frames: nothing between them is looked at.
            RawFrame(kind: 1, flags: 1, stream: 7, payload: [0x82]), .windowUpdate(0, 6),
            RawFrame(kind: 9, stream: 7, payload: [0x84]), RawFrame(kind: 9, flags: 4, stream: 7, payload: [0x84]),
            RawFrame(kind: 3, stream: 7, payload: [0, 0, 0, 8]),
            RawFrame(kind: 6, payload: Array(repeating: 1, count: 8)),
            RawFrame(kind: 7, payload: Array(repeating: 0, count: 8)), RawFrame(kind: 42, stream: 9, payload: [1]),
        ]
        let bytes = RawFrame.preface + frames.flatMap(\.bytes)
        let (found, count, isAtBoundary) = Self.divide(bytes, by: size)
        let expected = [
            "whole 6 0", "whole 1 1", "begun 300 3", "begun 0 3", "begun \(long.count) 5", "whole 4 0", "begun 1 7",
            "begun 4 0", "begun 1 7", "begun 1 7", "whole 4 7", "begun 8 0", "begun 8 0", "begun 1 9",
        ]
        #expect(found == expected && count == bytes.count && isAtBoundary)
    }

    @Test("Nothing can be put in within the preface, a frame or a block")
    func boundary() {
        let begins = RawFrame.preface + RawFrame(kind: 1, stream: 1, payload: [0x82]).bytes
        for count in [0, 5, 23, begins.count] {
            #expect(Self.divide(Array(begins.prefix(count)), by: 7).isAtBoundary == false)
        }
        let data = RawFrame.preface + RawFrame(kind: 0, stream: 1, payload: [1, 2]).bytes
        #expect(Self.divide(Array(data.dropLast()), by: 4).isAtBoundary == false)
        // The beginning of a frame that is looked at as a whole has not been passed on.
        let update = RawFrame.preface + RawFrame.windowUpdate(0, 1).bytes
        #expect(Self.divide(Array(update.dropLast()), by: 4).isAtBoundary)
    }
}

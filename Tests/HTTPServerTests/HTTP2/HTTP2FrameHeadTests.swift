import TestKit
import Testing

@testable import HTTPServer

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

    /// What a connection begins with (RFC 9113 §3.4).
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

    /// What bytes are divided into if they arrive in pieces of this size: frames by their heads, how they came, and
    /// the number of bytes of all parts.
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

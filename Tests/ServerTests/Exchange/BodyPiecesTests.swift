import Foundation
import NIOCore
import NIOEmbedded
import TestKit
import Testing

@testable import Server

@Suite("Pieces of request bodies")
struct BodyPiecesTests {
    private static let largest = BodyPieces.largest

    @Test("Pieces are large as long as more than one is to come, and never reach into what is behind the body")
    func rest() {
        var pieces = BodyPieces(LargeBodySlots())
        let changes = [1000, Self.largest, Self.largest - 1000, 1].map { bytes in
            let isChange = pieces.received(bytes: bytes, of: 3 * Self.largest)
            return (isChange, pieces.areLarge)
        }
        #expect(changes.map(\.0) == [true, false, false, true])
        #expect(changes.map(\.1) == [true, true, true, false])
        let end = pieces.ended()
        #expect(!end)
    }

    @Test("A small body, and one of unknown length, come in small pieces", arguments: [nil, 10, BodyPieces.largest])
    func small(length: Int?) {
        var pieces = BodyPieces(LargeBodySlots())
        let changes = [10, Self.largest].map { pieces.received(bytes: $0, of: length) }
        #expect(changes == [false, false])
        #expect(!pieces.areLarge)
    }

    @Test("Each body has a length of its own")
    func next() {
        var pieces = BodyPieces(LargeBodySlots())
        let small = pieces.received(bytes: 1, of: 2)
        let end = pieces.ended()
        #expect(!small && !end)
        let large = pieces.received(bytes: 1, of: 2 * Self.largest)
        let largeEnd = pieces.ended()
        #expect(large && largeEnd)
        #expect(!pieces.areLarge)
    }

    @Test("Only so many bodies come in large pieces at a time; the next one does when one has ended")
    func places() {
        let places = LargeBodySlots(2)
        var bodies = (0..<3).map { _ in BodyPieces(places) }
        for index in bodies.indices { _ = bodies[index].received(bytes: 1, of: 9 * Self.largest) }
        #expect(bodies.map(\.areLarge) == [true, true, false])
        _ = bodies[0].ended()
        _ = bodies[2].received(bytes: 1, of: nil)
        #expect(bodies.map(\.areLarge) == [false, true, true])
        for index in bodies.indices { _ = bodies[index].ended() }
        let free = (0..<3).map { _ in places.take() }
        #expect(free == [true, true, false])
    }

    @Test("A client that sends much at a time gets more memory for it, up to the largest piece; none of it is kept")
    func allocator() {
        var pool = NIOPooledRecvBufferAllocator(capacity: 1, recvAllocator: AdaptiveRecvByteBufferAllocator())
        func read() -> ByteBuffer {
            let (buffer, bytes) = pool.buffer(allocator: ByteBufferAllocator()) { buffer in
                buffer.writeRepeatingByte(1, count: buffer.writableBytes)
            }
            pool.record(actualReadBytes: bytes)
            return buffer
        }
        _ = read()
        pool.recvAllocator = LargePieceAllocator()
        let sizes = (0..<8).map { _ in read().readableBytes }
        #expect(sizes.max() == Self.largest)
        #expect(sizes.last == Self.largest)
        pool.recvAllocator = AdaptiveRecvByteBufferAllocator()
        #expect(read().capacity < 64 << 10)
    }

    @Test("A connection reads the body of an upload in large pieces, and what comes behind it in small ones")
    func connection() throws {
        let connection = try EmbeddedConnection()
        func nextCapacity() -> Int? {
            let options = connection.channel.options
            let value = options.last { $0.option is ChannelOptions.Types.RecvAllocatorOption }?.value
            return (value as? any RecvByteBufferAllocator)?.buffer(allocator: ByteBufferAllocator()).capacity
        }
        let piece = String(repeating: "x", count: 1 << 16)
        connection.receive("PUT /a HTTP/1.1\r\nHost: a\r\nContent-Length: \(6 << 16)\r\n\r\n")
        #expect(nextCapacity() == nil)
        connection.receive(piece)
        #expect(nextCapacity() == 64 << 10)
        for _ in 0..<5 { connection.receive(piece) }
        #expect(connection.application.ends == 1)
        #expect(nextCapacity() == 2048)
    }
}

@Suite struct GzipTests {
    @Test("What is compressed comes back, whatever its size", arguments: [0, 1, 1000, 300_000])
    func roundTrip(count: Int) throws {
        var state: UInt64 = 1
        let bytes = Data(
            (0..<count).map { _ in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return UInt8(truncatingIfNeeded: state >> 33)
            }
        )
        #expect(try gunzipped(Gzip.compress(bytes)) == bytes)
        let repetitive = Data(repeating: 0x61, count: count)
        #expect(try gunzipped(Gzip.compress(repetitive)) == repetitive)
    }

    @Test("Equal bytes are compressed equally, so their ETag may be the same")
    func deterministic() throws {
        let bytes = Data("ship ship ship".utf8)
        #expect(try Gzip.compress(bytes) == Gzip.compress(bytes))
    }
}

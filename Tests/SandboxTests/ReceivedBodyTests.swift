import NIOCore
import Testing

@testable import Sandbox

@Suite struct ReceivedBodyTests {
    @Test(
        "a body is the same in memory and in a file",
        arguments: [0, 1, ReceivedBody.inMemory, ReceivedBody.inMemory + 1, 3_000_000]
    )
    func received(size: Int) async throws {
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 / 7) }
        let (stream, continuation) = AsyncThrowingStream<ByteBuffer, any Error>.makeStream()
        for start in stride(from: 0, to: size, by: 100_000) {
            continuation.yield(ByteBuffer(bytes: bytes[start..<min(size, start + 100_000)]))
        }
        continuation.finish()
        let body = try await ReceivedBody.receive(stream)
        #expect(body.count == size && body.sha256 == ReceivedBody(bytes).sha256 && body.md5 == ReceivedBody(bytes).md5)
        #expect(try body.source.bytes(in: 0..<size) == bytes)
        if size > 10 { #expect(try body.source.bytes(in: size - 3..<size) == bytes.suffix(3)) }
    }
}

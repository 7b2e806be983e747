import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Testing

@testable import Screens

@Suite("Bodies that are prepared once")
struct PreparedBytesTests {
    private static func address(_ buffer: ByteBuffer) -> UInt? {
        buffer.withUnsafeReadableBytes { $0.baseAddress.map { UInt(bitPattern: $0) } }
    }

    @Test("TRUST-25 the contract is compressed once, and TRUST-23 its responses share the bytes")
    func shared() throws {
        let text = String(repeating: "openapi: 3.1.0\n", count: 1000)
        let prepared = PreparedBytes(Data(text.utf8), type: MediaType.yaml)
        let compressed = try (1...2).map { _ in try #require(try prepared.compressedBody()) }
        #expect(Self.address(compressed[0]) == Self.address(compressed[1]))
        #expect(compressed[0].readableBytes < text.utf8.count / 10)
        #expect(prepared.bytes == Data(text.utf8))
        #expect(prepared.entityTag(isCompressed: true) != prepared.entityTag(isCompressed: false))
    }

    @Test("TRUST-25 whatever the head, the response has the prepared bytes")
    func rendered() throws {
        let prepared = PreparedBytes(Data(repeating: 0x61, count: 10_000), type: MediaType.yaml)
        let lengths: [(String, Int?)] = [("gzip", try prepared.compressed()?.count), ("identity", 10_000)]
        for (encoding, expected) in lengths {
            for number in 1...2 {
                let request = HTTPRequest(
                    method: .get,
                    scheme: "http",
                    authority: "a",
                    path: "/openapi.yaml",
                    headerFields: [.acceptEncoding: encoding, .userAgent: "client \(number)"]
                )
                let screen = ScreenResponse(body: .prepared(prepared))
                let response = try ScreenResponseRenderer.render(screen, for: request)
                #expect(response.status == .ok && response.body.contentLength == expected)
                #expect(response.headers[.contentLength] == expected.map { String($0) })
                #expect(response.headers[.contentEncoding] == (encoding == "gzip" ? "gzip" : nil))
                #expect(response.headers[.eTag] == prepared.entityTag(isCompressed: encoding == "gzip"))
            }
        }
    }
}

import Foundation
import HTTP
import HTTPTypes
import Hummingbird
import NIOCore
import Testing

@testable import Screens

@Suite struct ScreenResponseTests {
    private func fields(_ provenance: Provenance) -> HTTPFields {
        var fields = HTTPFields()
        fields.add(provenance, now: ten + 90.9)
        return fields
    }

    @Test("SRV-05 Age is the age of the copy in whole seconds, 0 for what was just fetched")
    func age() {
        let stored = Provenance(
            source: .upstream,
            offline: true,
            validatedAt: ten,
            cacheStatus: CacheStatus(.hit, timeToLive: -85, detail: "offline")
        )
        #expect(fields(stored) == [.cacheStatus: "larder; hit; ttl=-85; detail=offline", .age: "90"])
        let fetched = Provenance(
            source: .upstream,
            validatedAt: ten,
            cacheStatus: CacheStatus(.forward(.uriMiss), stored: true),
            isValidatedNow: true
        )
        #expect(fields(fetched) == [.cacheStatus: "larder; fwd=uri-miss; stored", .age: "0"])
    }

    @Test("The age of a copy from the future, since clocks are set back, is its distance")
    func future() {
        let provenance = Provenance(source: .upstream, validatedAt: ten + 900, cacheStatus: CacheStatus(.hit))
        #expect(fields(provenance)[.age] == "809")
    }

    @Test("SRV-05 Local data has neither field")
    func local() {
        #expect(fields(.local) == [:])
    }
}

@Suite struct EntityTagScreensTests {
    @Test("A tag is quoted, the same for the same bytes, another for others and for another encoding")
    func tags() {
        let tag = EntityTag.strong(for: Data("a".utf8))
        #expect(tag.hasPrefix("\"") && tag.hasSuffix("\"") && !tag.dropFirst().dropLast().contains("\""))
        #expect(tag == EntityTag.strong(for: Data("a".utf8)))
        #expect(
            tag != EntityTag.strong(for: Data("b".utf8))
                && tag != EntityTag.strong(for: Data("a".utf8), variant: "gzip")
        )
    }

    @Test("A version precedes the digest")
    func versions() {
        let bytes = Data("a".utf8)
        let tag = EntityTag.strong(for: bytes, version: "12")
        #expect(tag.hasPrefix("\"12.") && tag.dropFirst(4) == EntityTag.strong(for: bytes).dropFirst())
        let zipped = EntityTag.strong(for: bytes, version: "12", variant: "gzip")
        #expect(zipped != tag && zipped.hasSuffix("-gzip\""))
    }

    @Test("A comma or an asterisk within a tag is part of it: `\"a,*,b\"` is one tag, and not `*`")
    func commas() {
        let field = ["\"a,*,b\""]
        #expect(
            !EntityTag.matches(field, "\"x\"") && EntityTag.matches(field, "\"a,*,b\"")
                && !EntityTag.matches(field, "\"a\"")
        )
    }

    @Test(
        "If-None-Match compares weakly, in lists and over lines",
        arguments: [["\"x\""], ["W/\"x\""], ["\"a\", \"x\""], ["\"a\"", "W/\"b\",\"x\""], ["*"], [" \"x\" "]]
    )
    func matches(lines: [String]) {
        #expect(EntityTag.matches(lines, "\"x\""))
    }

    @Test(
        "What is not the tag does not match",
        arguments: [[], [""], ["x"], ["\"X\""], ["\"xx\""], ["w/\"x\""], ["\"a\", \"b\""]]
    )
    func others(lines: [String]) {
        #expect(!EntityTag.matches(lines, "\"x\""))
    }
}

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
        let lengths: [(String, Int?)] = [("gzip", try prepared.compressedBody()?.readableBytes), ("identity", 10_000)]
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

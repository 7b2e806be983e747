import Foundation
import Freshness
import HTTPCaching
import HTTPSemantics
import HTTPServer
import HTTPTypes
import TestKit
import Testing
import Upstream

@testable import Screens

struct PageTests {
    @Test("SRV-06 With a total, more follows until it is reached")
    func total() {
        #expect(Page(PageRequest(limit: 20, offset: 0), count: 20, total: 29).nextOffset == 20)
        let last = Page(PageRequest(limit: 20, offset: 20), count: 9, total: 29)
        #expect(!last.hasMore && last.nextOffset == nil)
        let past = Page(PageRequest(limit: 20, offset: 100), count: 0, total: 29)
        #expect(!past.hasMore && past.nextOffset == nil)
        #expect(!Page(PageRequest(limit: 20, offset: 0), count: 20, total: 20).hasMore)
    }

    @Test("Without a total the caller knows")
    func noTotal() {
        #expect(Page(PageRequest(limit: 20, offset: 40), count: 20, total: nil, hasMore: true).nextOffset == 60)
        #expect(!Page(PageRequest(limit: 20, offset: 40), count: 20, total: nil).hasMore)
    }

    @Test("The largest offset overflows nothing")
    func largest() {
        #expect(!Page(PageRequest(limit: 500, offset: .max), count: 0, total: 3).hasMore)
    }

    @Test("SRV-06 All members are there, null where there is nothing")
    func encoding() throws {
        let text = String(
            decoding: try WireFormat.encode(Page(PageRequest(limit: 20, offset: 0), count: 2, total: nil)),
            as: UTF8.self
        )
        #expect(text == #"{"count":2,"has_more":false,"limit":20,"next_offset":null,"offset":0,"total":null}"#)
    }
}

struct EnvelopeTests {
    private struct Content: Encodable {
        let firstName: String
        @Nullable var lastName: String?
        let counts: [String: Int]
    }

    private func text<Content>(_ envelope: Envelope<Content>) throws -> String {
        String(decoding: try WireFormat.encode(envelope), as: UTF8.self)
    }

    @Test("SRV-06 The whole envelope, byte for byte")
    func whole() throws {
        let envelope = Envelope(
            data: Content(firstName: "A/B", lastName: nil, counts: ["keyOfData": 1]),
            meta: Meta(
                screen: "ships.list",
                state: .empty,
                provenance: Provenance(source: .upstream, offline: true, validatedAt: ten.addingTimeInterval(0.9)),
                revision: 8,
                partial: true,
                banner: Banner(code: "offline", text: "No internet", dismissal: .online),
                page: Page(PageRequest(limit: 20, offset: 0), count: 20, total: 29)
            ),
            links: Links(self: "/v1/ships", next: "/v1/ships?limit=20&offset=20")
        )
        let meta = [
            #"{"banner":{"code":"offline","dismiss":"on_online","text":"No internet"},"#,
            #""fetched_at":"2026-01-05T10:00:00Z","offline":true,"#,
            #""page":{"count":20,"has_more":true,"limit":20,"next_offset":20,"offset":0,"total":29},"#,
            #""partial":true,"revision":8,"#,
            #""screen":"ships.list","source":"upstream","stale":true,"state":"empty"}"#,
        ].joined()
        #expect(
            try text(envelope)
                == #"{"data":{"counts":{"keyOfData":1},"first_name":"A/B","last_name":null},"#
                + #""links":{"next":"/v1/ships?limit=20&offset=20","self":"/v1/ships"},"meta":\#(meta)}"#
        )
    }

    @Test("SRV-06 What there is nothing of is null or left out, always the same")
    func least() throws {
        let envelope = Envelope(
            data: [String](),
            meta: Meta(screen: "index", provenance: .local),
            links: Links(self: "/v1")
        )
        let meta =
            #"{"banner":null,"fetched_at":null,"offline":false,"screen":"index","source":"local","#
            + #""stale":false,"state":"content"}"#
        #expect(try text(envelope) == #"{"data":[],"links":{"next":null,"self":"/v1"},"meta":\#(meta)}"#)
    }

    @Test("A banner that goes by itself says when")
    func banner() throws {
        let bytes = try WireFormat.encode(Banner(code: "c", text: "t", dismissal: .after(seconds: 3)))
        #expect(String(decoding: bytes, as: UTF8.self) == #"{"after_s":3,"code":"c","dismiss":"after_s","text":"t"}"#)
    }

    @Test("An action's confirmation is null where nothing is asked")
    func action() throws {
        let bytes = try WireFormat.encode(Action(id: "a", title: "A", method: "GET", href: "/v1"))
        #expect(
            String(decoding: bytes, as: UTF8.self)
                == #"{"confirm":null,"enabled":true,"href":"/v1","id":"a","method":"GET","title":"A"}"#
        )
    }

    @Test("Equal values give equal bytes")
    func stable() throws {
        let content = Content(
            firstName: "a",
            lastName: "b",
            counts: Dictionary(uniqueKeysWithValues: (0..<50).map { ("k\($0)", $0) })
        )
        let first = try WireFormat.encode(content)
        for _ in 1...5 { #expect(try WireFormat.encode(content) == first) }
    }
}

struct ScreenResponseFieldsTests {
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

struct EntityTagTests {
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

    @Test("A version stands before the digest, and If-Match finds it in every form of the tag, but not in weak ones")
    func versions() {
        let bytes = Data("a".utf8)
        let tag = EntityTag.strong(for: bytes, version: "12")
        #expect(tag.hasPrefix("\"12.") && tag.dropFirst(4) == EntityTag.strong(for: bytes).dropFirst())
        let zipped = EntityTag.strong(for: bytes, version: "12", variant: "gzip")
        #expect(zipped != tag && zipped.hasSuffix("-gzip\""))
        #expect(
            EntityTag.versions(in: [tag]) == [12]
                && EntityTag.versions(in: ["\"12\", \(zipped)", EntityTag.strong(for: bytes, version: "3")]) == [12, 3]
        )
        #expect(
            EntityTag.versions(in: [
                "W/\(tag)", "12", "\"\"", "\"-1\"", "\"x12\"", "\"99999999999999999999\"", EntityTag.strong(for: bytes),
                "\"",
            ]) == []
        )
        #expect(EntityTag.versions(in: ["\"1\", *"]) == nil && EntityTag.versions(in: []) == [])
    }

    @Test("A comma or an asterisk within a tag is part of it: `\"a,*,b\"` is one tag, and not `*`")
    func commas() {
        let field = ["\"a,*,b\""]
        #expect(EntityTag.versions(in: field) == [] && EntityTag.versions(in: ["\"a,*,b\", \"7\""]) == [7])
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

struct CompressionTests {
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

    @Test("Text is worth compressing, pictures are not")
    func types() {
        for type in [MediaType.json, MediaType.problem, "text/html", "IMAGE/SVG+XML", "application/javascript"] {
            #expect(MediaType.isCompressible(type))
        }
        for type in ["image/png", "application/zip", "application/pdf", "video/mp4", ""] {
            #expect(!MediaType.isCompressible(type))
        }
    }
}

struct PictureTypeTests {
    @Test("A picture is told by its first bytes")
    func known() {
        #expect(PictureType(of: [0xFF, 0xD8, 0xFF, 0xE0, 0, 0]) == .jpeg)
        #expect(PictureType(of: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0]) == .png)
        #expect(PictureType(of: Array("GIF89a...".utf8)) == .gif)
        #expect(PictureType(of: Array("RIFF\u{1}\u{2}\u{3}\u{4}WEBPVP8 ".utf8)) == .webp)
    }

    @Test(
        "What is none is none",
        arguments: ["", "G", "<html>", "<svg xmlns=", "RIFF....WAVE", "%PDF-1.4", "BM", "\u{89}PNG"]
    )
    func unknown(text: String) {
        #expect(PictureType(of: Array(text.utf8)) == nil)
    }
}

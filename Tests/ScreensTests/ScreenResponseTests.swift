import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Hummingbird
import NIOCore
import Testing
import Upstream

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

@Suite("Responses of mounts")
struct ProxyResponseRendererTests {
    @Test(
        "TRUST-07 Nothing of a mount can be a page or script of this origin, unless its type is surely none of those",
        arguments: [
            nil, "", "*/*", "unknown/unknown", "application/unknown", "text/html", "text/xsl", "image/svg+xml",
            "multipart/x-mixed-replace", "application/pdf", "text/xml", "application/xhtml+xml", "text/vtt+xml",
            "video/x+xml", "text/javascript", "text/plain, text/html", "text/plain;a=\",text/html", "text", "text/",
            "text/plain/x", "text /plain", "text/plain text/html", "image/svg", "model/vrml", "message/rfc822",
        ]
    )
    func sandboxed(type: String?) {
        for status in [HTTPResponse.Status.ok, .notModified, .notFound] {
            var fields: HTTPFields = [.contentSecurityPolicy: "default-src *"]
            fields[.contentType] = type
            let response = ProxyResponseRenderer.render(
                ProxyResponse(head: HTTPResponse(status: status, headerFields: fields), body: .none)
            )
            #expect(response.headers[values: .contentSecurityPolicy] == ["default-src *", "sandbox"])
            #expect(response.headers[.contentTypeOptions] == "nosniff")
        }
    }

    @Test(
        "TRUST-07 A type that no browser runs as a document keeps the policies of its upstream, and gets nosniff",
        arguments: [
            "application/json", "application/geo+json; charset=utf-8", "text/plain;charset=utf-8", "TEXT/PLAIN",
            "image/png", "video/mp4", "audio/mpeg", "font/woff2", " text/css ", "application/octet-stream",
        ]
    )
    func passive(type: String) {
        let fields: HTTPFields = [.contentSecurityPolicy: "default-src 'self'", .contentType: type]
        let response = ProxyResponseRenderer.render(
            ProxyResponse(head: HTTPResponse(status: .ok, headerFields: fields), body: .none)
        )
        #expect(response.headers[values: .contentSecurityPolicy] == ["default-src 'self'"])
        #expect(response.headers[.contentTypeOptions] == "nosniff")
    }

    @Test("TRUST-07 A response with two types gets the sandbox")
    func twoTypes() {
        var fields: HTTPFields = [.contentType: "text/plain"]
        fields.append(HTTPField(name: .contentType, value: "text/html"))
        let rendered = ProxyResponseRenderer.withoutWordsForItsOrigin(fields)
        #expect(rendered[.contentSecurityPolicy] == "sandbox")
    }

    @Test("SRV-11 An upstream sets its own cookies, and none of this server's, which would choose the session")
    func cookies() {
        var fields: HTTPFields = [.contentType: "application/json"]
        let own = ["larder-abcdef-ships=t; Path=/v1", " LARDER-abcdef-disk=t", "=larder-abcdef-notes=t"]
        for value in own + ["sid=1; HttpOnly"] { fields.append(HTTPField(name: .setCookie, value: value)) }
        #expect(ProxyResponseRenderer.withoutWordsForItsOrigin(fields)[values: .setCookie] == ["sid=1; HttpOnly"])
    }

    @Test("TRUST-07 What an upstream says of its own origin is removed")
    func origin() {
        let names = [
            "Clear-Site-Data", "Strict-Transport-Security", "Alt-Svc", "Service-Worker-Allowed",
            "Access-Control-Allow-Origin", "NEL", "Report-To", "Reporting-Endpoints", "Accept-CH", "Critical-CH",
            "Origin-Agent-Cluster", "Use-As-Dictionary", "Public-Key-Pins-Report-Only", "Expect-CT", "Set-Login",
            "Sec-Session-Registration", "Secure-Session-Registration",
        ]
        let fields = HTTPFields(names.compactMap { HTTPField.Name($0) }.map { HTTPField(name: $0, value: "x") })
        let rendered = ProxyResponseRenderer.withoutWordsForItsOrigin(fields)
        #expect(Set(rendered.map(\.name)) == [.contentSecurityPolicy, .contentTypeOptions])
    }

    @Test("SRV-07 TRUST-07 Of interim responses the same is removed, and nothing is added")
    func interim() throws {
        var response = HTTPResponse(status: .init(code: 103))
        let hint = try #require(HTTPField.Name("Link"))
        response.headerFields[hint] = "</a.css>; rel=preload"
        let rendered = ProxyResponseRenderer.interim(response)
        #expect(rendered == response)
        for name in ["Clear-Site-Data", "Access-Control-Allow-Origin"] {
            response.headerFields[try #require(HTTPField.Name(name))] = "*"
        }
        #expect(ProxyResponseRenderer.interim(response) == rendered)
    }

    @Test("SRV-07 Pins of keys pass: only a chain that has one of them binds this origin to it (RFC 7469 §2.5)")
    func pins() throws {
        let pins = try #require(HTTPField.Name("Public-Key-Pins"))
        #expect(ProxyResponseRenderer.withoutWordsForItsOrigin([pins: "max-age=1"])[pins] == "max-age=1")
    }
}

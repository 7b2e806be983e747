import Concurrency
import CoreMetrics
import Foundation
import HTTP
import HTTPTypes
import HummingbirdCore
import NIOCore
import Server
import TestKit
import Testing
import Upstream

@testable import Screens

/// Whole exchanges through the router: status, fields, body, and absent fields.
struct ScreenRouterTests {
    private struct Secret: Error, CustomStringConvertible { let description = "password=hunter2" }

    private static let large = #"{"text":"\#(String(repeating: "ships ", count: 400))"}"#

    /// Routes with bodies and failures of their own.
    private static func plainRoutes() -> [Route] {
        [
            Route(.get, "/v1/small", "small") { _ in plain(#"{"a":1}"#) },
            Route(.get, "/v1/large", "large") { _ in plain(large) },
            Route(.get, "/v1/picture", "picture") { _ in plain(large, type: "image/png") },
            Route(.get, "/v1/echo/{id}", "echo") { request in
                plain(#"{"id":"\#(try request.parameter("id"))","method":"\#(request.method.rawValue)"}"#)
            }
            .query("secret"),
            Route(.get, "/v1/echo/fixed", "echo") { _ in plain(#"{"id":"the fixed one"}"#) },
            Route(.post, "/v1/write", "write", maximumBodyBytes: 100) { request in
                let name = try await request.jsonObject().string("name") ?? ""
                return ScreenResponse(
                    status: .created,
                    headerFields: [.location: "/v1/echo/\(name)"],
                    body: .bytes(Data(#"{"name":"\#(name)"}"#.utf8), type: MediaType.json)
                )
            }
            .body("name"),
            Route(.get, "/v1/fails", "fails") { _ in throw Secret() },
            Route(.get, "/v1/problem", "problem") { _ in
                throw Problem(.rateLimited, "Later.", headerFields: [.retryAfter: "7"])
            }
            .query("token"),
        ]
    }

    /// Routes with parts of screens.
    private static func screenRoutes() -> [Route] {
        [
            Route(.get, "/v1/links", "links") { request in
                let page = Page(PageRequest(limit: 2, offset: 2), count: 2, total: 9)
                return plain(request.links(for: page, next: "abc").next?.requestTarget ?? "")
            }
            .query("q", .page, "refresh"),
            Route(.get, "/v1/demand", "demand") { request in plain("\(try request.cachePolicy())") }.query("refresh"),
            Route(.get, "/v1/mine", "mine", session: "ships") { _, session in
                plain(#"{"account":"\#(session.account)"}"#)
            },
            Route(.get, "/v1/screen", "screen") { request in
                let provenance = Provenance(
                    source: .upstream,
                    offline: true,
                    validatedAt: ten,
                    cacheStatus: CacheStatus(.hit, timeToLive: -60, detail: "offline")
                )
                let meta = Meta(
                    screen: "screen",
                    provenance: provenance,
                    banner: Banner(code: "offline", text: "Offline", dismissal: .online)
                )
                return try .screen(
                    Envelope(data: [1], meta: meta, links: Links(self: request.selfLink)),
                    provenance: provenance,
                    now: ten + 65
                )
            }
            .query("refresh", "b"),
        ]
    }

    private func harness(origins: [String] = []) throws -> ScreenHarness {
        try ScreenHarness(Self.plainRoutes() + Self.screenRoutes(), origins: origins)
    }

    // MARK: Responses

    @Test("SRV-05 SRV-06 A screen: envelope, flags in body and fields, validator, nothing for shared caches")
    func screen() async throws {
        let served = try await harness().serve(.get, "/v1/screen?refresh=1&b=2")
        #expect(served.status == .ok)
        #expect(served.fields[.contentType] == "application/json; charset=utf-8")
        #expect(served.fields[.cacheControl] == "private, no-cache")
        #expect(served.fields[.vary] == "Authorization, Cookie, Accept-Language, Accept-Encoding")
        #expect(served.fields[.cacheStatus] == "larder; hit; ttl=-60; detail=offline")
        #expect(served.fields[.age] == "65")
        #expect(served.fields[.eTag] != nil)
        #expect(served.fields[.contentTypeOptions] == "nosniff")
        #expect(served.fields[.contentLength] == String(served.body.count))
        #expect(
            served.text.contains(#""links":{"self":"/v1/screen?b=2","next":null}"#),
            "asking again is not refreshing again"
        )
        #expect(served.text.contains(#""offline":true"#) && served.text.contains(#""stale":true"#))
    }

    @Test(
        "A part of the path is percent-decoded, once",
        arguments: [("a", "a"), ("%D1%84", "ф"), ("%2541", "%41"), ("a+b", "a+b"), ("a%2Fb", "a/b"), ("..%2F", "../")]
    )
    func parameters(raw: String, value: String) async throws {
        #expect(try await harness().serve(.get, "/v1/echo/\(raw)").json()["id"] == .string(value))
    }

    @Test("A part of the path that is not UTF-8 is a malformed request")
    func brokenParameter() async throws {
        let served = try await harness().serve(.get, "/v1/echo/%FF")
        #expect(try served.status == .badRequest && served.code() == "malformed-request")
    }

    @Test("SRV-06 The next page keeps the other parameters")
    func links() async throws {
        #expect(
            try await harness().serve(.get, "/v1/links?q=a%26b&limit=2&offset=2&refresh=1").text
                == "/v1/links?q=a%26b&cursor=abc&limit=2"
        )
    }

    @Test(
        "What the client asks of freshness",
        arguments: [
            ("", [:], "useCache"), ("?refresh=1", [:], "revalidate"), ("?refresh=0", [:], "useCache"),
            ("", [.cacheControl: "no-cache"], "revalidate"),
            ("", [.cacheControl: "Max-Age=0"], "revalidate"), ("", [.cacheControl: "max-age=5"], "useCache"),
            ("", [.cacheControl: "only-if-cached"], "onlyIfCached"),
            ("?refresh=1", [.cacheControl: "foo, ONLY-IF-CACHED"], "onlyIfCached"),
        ] as [(String, HTTPFields, String)]
    )
    func cachePolicy(query: String, fields: HTTPFields, expected: String) async throws {
        #expect(try await harness().serve(.get, "/v1/demand\(query)", fields).text == expected)
    }

    // MARK: HEAD, OPTIONS, misses

    @Test(
        "SRV-06 HEAD has the fields of GET and no body",
        arguments: ["/v1/small", "/v1/large", "/v1/echo/x", "/v1/screen", "/v1/problem", "/v1/missing"]
    )
    func head(path: String) async throws {
        let harness = try harness()
        let get = try await harness.serve(.get, path, [.requestID: "same"])
        let head = try await harness.serve(.head, path, [.requestID: "same"])
        #expect(head.status == get.status)
        #expect(head.fields == get.fields)
        #expect(head.body.isEmpty)
    }

    @Test(
        "SRV-06 A path that is not there is a problem",
        arguments: ["/", "/v2", "/v1/small/x", "/v1/echo", "/V1/small"],
        [HTTPRequest.Method.get, .post, .options]
    )
    func notFound(path: String, method: HTTPRequest.Method) async throws {
        let served = try await harness().serve(method, path)
        #expect(served.status == .notFound)
        #expect(try served.code() == "not-found")
        #expect(try served.json()["instance"] == .string(path))
        #expect(
            served.fields[.cacheControl] == "no-store" && served.fields[.eTag] == nil
                && served.fields[.cacheStatus] == nil
        )
    }

    @Test(
        "SRV-06 A method that is not there is 405 and says which are",
        arguments: [
            (HTTPRequest.Method.post, "/v1/small", "GET, HEAD, OPTIONS"), (.get, "/v1/write", "POST, OPTIONS"),
            (.head, "/v1/write", "POST, OPTIONS"),
            (.delete, "/v1/echo/x", "GET, HEAD, OPTIONS"), (.trace, "/v1/small", "GET, HEAD, OPTIONS"),
        ]
    )
    func methodNotAllowed(method: HTTPRequest.Method, path: String, allow: String) async throws {
        let served = try await harness().serve(method, path)
        #expect(served.status == .methodNotAllowed)
        #expect(served.fields[.allow] == allow)
        if method != .head { #expect(try served.code() == "method-not-allowed") }
    }

    @Test("SRV-06 OPTIONS names the methods of a path, without a body and without its length")
    func options() async throws {
        let served = try await harness().serve(.options, "/v1/small")
        #expect(served.status == .noContent && served.fields[.allow] == "GET, HEAD, OPTIONS" && served.body.isEmpty)
        #expect(served.fields[.contentLength] == nil, "RFC 9110 §8.6")
        #expect(served.fields[.accessControlAllowMethods] == nil)
    }

    // MARK: Validators and compression

    @Test(
        "SRV-06 The same again is 304, with what a 200 says of caching and without body fields",
        arguments: [HTTPRequest.Method.get, .head]
    )
    func notModified(method: HTTPRequest.Method) async throws {
        let harness = try harness()
        let first = try await harness.serve(.get, "/v1/screen")
        let tag = try #require(first.fields[.eTag])
        let second = try await harness.serve(method, "/v1/screen", [.ifNoneMatch: "\"other\", W/\(tag)"])
        #expect(second.status == .notModified && second.body.isEmpty)
        for name in [HTTPField.Name.eTag, .cacheControl, .vary, .cacheStatus, .age] {
            #expect(second.fields[name] == first.fields[name])
        }
        #expect(second.fields[.contentType] == nil && second.fields[.contentLength] == nil)
        #expect(try await harness.serve(.get, "/v1/screen", [.ifNoneMatch: "\"other\""]).status == .ok)
        #expect(try await harness.serve(.get, "/v1/small", [.ifNoneMatch: tag]).status == .ok)
    }

    @Test("SRV-06 gzip on request, and the same bytes; each form has its own tag")
    func gzip() async throws {
        let harness = try harness()
        let plainly = try await harness.serve(.get, "/v1/large")
        let packed = try await harness.serve(.get, "/v1/large", [.acceptEncoding: "br, gzip"])
        #expect(plainly.fields[.contentEncoding] == nil && plainly.text == Self.large)
        #expect(packed.fields[.contentEncoding] == "gzip")
        #expect(packed.body.count < plainly.body.count && packed.fields[.contentLength] == String(packed.body.count))
        #expect(try gunzipped(packed.body) == plainly.body)
        #expect(
            packed.fields[.vary]?.contains("Accept-Encoding") == true
                && plainly.fields[.vary]?.contains("Accept-Encoding") == true
        )
        let tag = try #require(packed.fields[.eTag])
        #expect(tag != plainly.fields[.eTag])
        #expect(
            try await harness.serve(.get, "/v1/large", [.acceptEncoding: "gzip", .ifNoneMatch: tag]).status
                == .notModified
        )
        #expect(try await harness.serve(.get, "/v1/large", [.ifNoneMatch: tag]).status == .ok)
        #expect(
            try await harness.serve(.get, "/v1/large", [.acceptEncoding: "gzip;q=0"]).fields[.contentEncoding] == nil
        )
    }

    @Test("SRV-06 What is small or compressed already is not compressed", arguments: ["/v1/small", "/v1/picture"])
    func notCompressed(path: String) async throws {
        #expect(try await harness().serve(.get, path, [.acceptEncoding: "gzip"]).fields[.contentEncoding] == nil)
    }

    @Test("A reply's own Vary is kept beside what compression adds")
    func vary() async throws {
        let harness = try ScreenHarness([
            Route(.get, "/v", "v") { _ in
                ScreenResponse(
                    headerFields: [.vary: "Authorization"],
                    body: .bytes(Data(Self.large.utf8), type: MediaType.json)
                )
            }
        ])
        #expect(try await harness.serve(.get, "/v").fields[.vary] == "Authorization, Accept-Encoding")
    }

    // MARK: Bodies

    @Test("A write responds 201 with its place, never with a tag or 304")
    func write() async throws {
        let served = try await harness().serve(
            .post,
            "/v1/write",
            [.contentType: "application/json", .ifNoneMatch: "*"],
            body: #"{"name":"x"}"#
        )
        #expect(
            served.status == .created && served.fields[.location] == "/v1/echo/x" && served.text == #"{"name":"x"}"#
        )
        #expect(served.fields[.eTag] == nil && served.fields[.cacheControl] == "no-store")
    }

    @Test("SRV-11 A body over the route's limit is 413, announced or in pieces of any size", arguments: [true, false])
    func tooLarge(inPieces: Bool) async throws {
        let buffer = ByteBuffer(string: #"{"name":"\#(String(repeating: "x", count: 100))"}"#)
        let pieces = AsyncStream<ByteBuffer> { stream in
            for byte in buffer.readableBytesView { stream.yield(ByteBuffer(bytes: [byte])) }
            stream.finish()
        }
        let body = inPieces ? RequestBody(asyncSequence: pieces) : RequestBody(buffer: buffer)
        let response = try await harness().respond(.post, "/v1/write", body: body)
        #expect(response.status == .contentTooLarge)
        let plate = Plate()
        try await response.body.write(plate)
        #expect(try JSONFields(plate.bytes).string("code") == "too-large")
    }

    @Test(
        "SRV-06 Malformed JSON is 400, another type is 415, a wrong kind is 422",
        arguments: [
            ("", nil, 400, "malformed-json"), ("{", nil, 400, "malformed-json"),
            ("[1]", "application/json", 400, "malformed-json"),
            (#"{"name":1}"#, "application/json; charset=utf-8", 422, "validation-failed"),
            ("<x/>", "text/xml", 415, "unsupported-media-type"),
            (#"{"name":"x"}"#, "text/plain", 415, "unsupported-media-type"),
            (#"{"name":"x"}"#, "", 415, "unsupported-media-type"),
        ] as [(String, String?, Int, String)]
    )
    func badBodies(body: String, type: String?, status: Int, code: String) async throws {
        let served = try await harness().serve(.post, "/v1/write", type.map { [.contentType: $0] } ?? [:], body: body)
        #expect(served.status.code == status)
        #expect(try served.code() == code)
    }

    @Test("SRV-06 Compressed content is 415 that names what is accepted, before it is read as something else")
    func compressed() async throws {
        for coding in ["gzip", "br", "identity, gzip", "x-unknown"] {
            let fields: HTTPFields = [.contentEncoding: coding, .contentType: "application/json"]
            let served = try await harness().serve(.post, "/v1/write", fields, body: #"{"name":"x"}"#)
            #expect(served.status == .unsupportedMediaType && served.fields[.acceptEncoding] == "identity")
            #expect(try served.code() == "unsupported-media-type")
            #expect(try await harness().serve(.get, "/v1/small", fields).status == .ok, "a GET has no content")
        }
        for coding in ["identity", "", "Identity"] {
            let served = try await harness().serve(
                .post,
                "/v1/write",
                [.contentEncoding: coding],
                body: #"{"name":"x"}"#
            )
            #expect(served.status == .created)
        }
    }

    @Test("TRUST-05 Content-Range on any PUT is 400: a part would destroy the rest")
    func partialPut() async throws {
        let harness = try ScreenHarness([Route(.put, "/v1/put", "put") { _ in plain("{}") }])
        let served = try await harness.serve(.put, "/v1/put", [.contentRange: "bytes 0-1/2"], body: "{}")
        #expect(served.status == .badRequest)
        #expect(try served.code() == "invalid-parameter")
        #expect(try await harness.serve(.put, "/v1/put", body: "{}").status == .ok)
    }

    // MARK: Errors

    @Test("SRV-06 SRV-11 An unexpected error is 500, and nothing of its cause leaves")
    func internalError() async throws {
        let served = try await harness().serve(.get, "/v1/fails")
        #expect(served.status == .internalServerError)
        #expect(try served.code() == "internal")
        #expect(!served.text.contains("hunter2") && !served.text.contains("Secret"))
        #expect(served.fields[.requestID] != nil)
    }

    @Test(
        "A body that its client did not finish is the client's fault",
        arguments: [RequestBodyError.truncated, .timedOut]
    )
    func unfinishedBody(error: RequestBodyError) async throws {
        let served = try await ScreenHarness([Route(.get, "/v1/body", "body") { _ in throw error }]).serve(
            .get,
            "/v1/body"
        )
        #expect(served.status == .badRequest)
        #expect(try served.code() == "malformed-request")
    }

    @Test("A problem has its own fields")
    func problem() async throws {
        let served = try await harness().serve(.get, "/v1/problem?token=secret")
        #expect(served.status == .tooManyRequests && served.fields[.retryAfter] == "7")
        #expect(
            try served.json()["instance"] == .string("/v1/problem"),
            "without the query, which may hold what is private"
        )
    }

    // MARK: Guards

    @Test(
        "SRV-11 A foreign host gets nothing, on any route and method",
        arguments: [HTTPRequest.Method.get, .post, .options, .head],
        ["/v1/small", "/missing"]
    )
    func foreignHost(method: HTTPRequest.Method, path: String) async throws {
        for authority in ["evil.test", "evil.test:8080", nil] {
            let served = try await harness(origins: ["*"]).serve(
                method,
                path,
                [.origin: "http://evil.test"],
                authority: authority
            )
            #expect(served.status == .forbidden)
            if method != .head { #expect(try served.code() == "host-not-allowed") }
            #expect(served.fields[.allow] == nil)
        }
    }

    @Test("SRV-11 A foreign origin may not write, and the handler is not called")
    func foreignOrigin() async throws {
        let served = try await harness().serve(
            .post,
            "/v1/write",
            [.origin: "https://evil.test"],
            body: #"{"name":"x"}"#
        )
        #expect(try served.status == .forbidden && served.code() == "origin-not-allowed")
        #expect(
            try await harness().serve(.post, "/v1/write", [.origin: "http://localhost:8080"], body: #"{"name":"x"}"#)
                .status == .created
        )
        #expect(
            try await harness(origins: ["https://shop.example"]).serve(
                .post,
                "/v1/write",
                [.origin: "https://shop.example"],
                body: #"{"name":"x"}"#
            ).status
                == .created
        )
    }

    @Test(
        "SRV-06 A listed origin may read every response, problems included; another none",
        arguments: ["/v1/small", "/v1/missing", "/v1/fails"]
    )
    func cors(path: String) async throws {
        let harness = try harness(origins: ["https://shop.example"])
        let listed = try await harness.serve(.get, path, [.origin: "https://shop.example"])
        #expect(listed.fields[.accessControlAllowOrigin] == "https://shop.example")
        #expect(listed.fields[.accessControlExposeHeaders]?.contains("Cache-Status") == true)
        #expect(
            listed.fields[.accessControlExposeHeaders]?.contains("Larder-Offline") == true,
            "a page must be able to tell an offline response of a mount"
        )
        #expect(listed.fields[.accessControlAllowCredentials] == nil)
        let foreign = try await harness.serve(.get, path, [.origin: "https://evil.test"])
        #expect(foreign.fields[.accessControlAllowOrigin] == nil && foreign.status == listed.status)
        // A cache must know that the response depends on the origin, also of one that was sent without.
        for served in [listed, foreign, try await harness.serve(.get, path)] {
            #expect(served.fields[.vary]?.contains("Origin") == true)
        }
        let none = try await self.harness().serve(.get, path, [.origin: "https://shop.example"])
        #expect(none.fields[.accessControlAllowOrigin] == nil && none.fields[.vary]?.contains("Origin") != true)
    }

    @Test("SRV-06 A preflight of a listed origin gets the methods of the path")
    func preflight() async throws {
        let asked: HTTPFields = [.origin: "https://shop.example", .accessControlRequestMethod: "POST"]
        let listed = try await harness(origins: ["https://shop.example"]).serve(.options, "/v1/write", asked)
        #expect(listed.status == .noContent)
        #expect(listed.fields[.accessControlAllowMethods] == "POST, OPTIONS")
        #expect(listed.fields[.accessControlAllowOrigin] == "https://shop.example")
        let foreign = try await harness(origins: ["https://other.example"]).serve(.options, "/v1/write", asked)
        #expect(foreign.fields[.accessControlAllowMethods] == nil && foreign.fields[.accessControlAllowOrigin] == nil)
    }

    // MARK: Effects, spellings, clients

    private func effects() throws -> ScreenHarness {
        try ScreenHarness(
            [Route(.get, "/v1/effects", "effects") { plain("\($0.allowsEffects)") }],
            origins: ["https://app.example"]
        )
    }

    @Test("TRUST-20 Whether a GET may change what a user sees: no HEAD, no page of another origin")
    func allowsEffects() async throws {
        let harness = try effects()
        #expect(try await harness.serve(.get, "/v1/effects").text == "true")
        #expect(try await harness.serve(.get, "/v1/effects", [.origin: "https://app.example"]).text == "true")
        for fields in [[.origin: "http://evil.example"], [HTTPField.Name(literal: "Sec-Fetch-Site"): "cross-site"]]
            as [HTTPFields]
        {
            #expect(try await harness.serve(.get, "/v1/effects", fields).text == "false", "\(fields)")
        }
        let head = try await harness.serve(.head, "/v1/effects")
        #expect(head.fields[.contentLength] == "\("false".utf8.count)")
    }

    @Test("SRV-06 OPTIONS * is about the server; a path with needless percent-encoding redirects to its equivalent")
    func spellings() async throws {
        let harness = try effects()
        let options = try await harness.serve(.options, "*")
        #expect(options.status == .noContent && options.fields[.allow]?.contains("GET") == true)
        let redirect = try await harness.serve(.get, "/v1/%65ffects?a=%65")
        #expect(redirect.status == .permanentRedirect && redirect.fields[.location] == "/v1/effects?a=%65")
        #expect(try await harness.serve(.get, "/v1/%2Feffects").status == .notFound)
    }

    @Test("SRV-06 A query that is not UTF-8 is malformed", arguments: ["q=%D0%BB%FF", "%ff=1", "q=%zz", "q=%C3%28"])
    func queryBytes(query: String) async throws {
        let served = try await effects().serve(.get, "/v1/effects?\(query)")
        #expect(served.status == .badRequest)
        #expect(try served.code() == "malformed-request")
    }

    @Test("TRUST-21 A request knows its client, behind a trusted proxy too")
    func client() async throws {
        let registry = TrustedProxies(["10.0.0.0/8"].compactMap { AddressRange($0) })
        let route = Route(.get, "/v1/client", "client") { plain($0.clientAddress ?? "none") }
        let fields: HTTPFields = [HTTPField.Name(literal: "X-Forwarded-For"): "1.1.1.1, 192.0.2.1"]
        let trusted = try ScreenHarness([route], proxies: registry)
        #expect(try await trusted.serve(.get, "/v1/client", fields, peer: "10.0.0.1").text == "192.0.2.1")
        #expect(try await trusted.serve(.get, "/v1/client", fields, peer: "203.0.113.1").text == "203.0.113.1")
        let alone = try ScreenHarness([route])
        #expect(try await alone.serve(.get, "/v1/client", fields, peer: "10.0.0.1").text == "10.0.0.1")
    }

    @Test("SRV-11 A body that is declared too large is refused unread")
    func declaredLength() async throws {
        let route = Route(.put, "/v1/body", "body", maximumBodyBytes: 10) {
            _ = try await $0.body()
            return plain("")
        }
        let read = RequestBody(asyncSequence: AsyncThrowingStream<ByteBuffer, any Error> { throw CancellationError() })
        let response = try await ScreenHarness([route]).respond(
            .put,
            "/v1/body",
            [.contentLength: "99999999"],
            body: read
        )
        #expect(response.status == .contentTooLarge)
    }

    // MARK: Sessions, identities, metrics

    @Test("SRV-06 A route of an account wants a session of its app")
    func sessions() async throws {
        let harness = try harness()
        let none = try await harness.serve(.get, "/v1/mine")
        #expect(
            try none.status == .unauthorized && none.code() == "session-required"
                && none.fields[.wwwAuthenticate] == "Bearer"
        )
        let token = try await harness.sessions.open(
            Session(app: "ships", kind: .user, account: "user:a", name: "a", createdAt: ten)
        )
        let known: HTTPFields = [.authorization: "Bearer \(token)"]
        #expect(try await harness.serve(.get, "/v1/mine", known).text == #"{"account":"user:a"}"#)
        #expect(try await harness.serve(.head, "/v1/mine").status == .unauthorized)
        try await harness.sessions.close(SessionCredentials(known), app: "ships")
        let gone = try await harness.serve(.get, "/v1/mine", known)
        #expect(
            try gone.status == .unauthorized && gone.code() == "session-expired"
                && gone.fields[.wwwAuthenticate] == "Bearer"
        )
        #expect(!gone.text.contains(token))
    }

    @Test(
        "SRV-12 Every response has an identity: the client's own if it is harmless, else a new one",
        arguments: ["/v1/small", "/v1/missing", "/v1/fails"]
    )
    func requestIdentity(path: String) async throws {
        let harness = try harness()
        #expect(try await harness.serve(.get, path, [.requestID: "abc-1"]).fields[.requestID] == "abc-1")
        #expect(try await harness.serve(.get, path).fields[.requestID] == "run-1")
        #expect(try await harness.serve(.get, path, [.requestID: "a b"]).fields[.requestID] == "run-2")
        #expect(try await harness.serve(.get, path, authority: "evil.test").fields[.requestID] == "run-3")
    }

    @Test("SRV-12 Requests are counted and timed by route pattern; misses, queries, unknown methods get no series")
    func metrics() async throws {
        let registry = PrometheusRegistry()
        let harness = try harness()
        try await withMetricsFactory(registry) {
            for id in ["a", "b", "c"] { _ = try await harness.serve(.get, "/v1/echo/\(id)?secret=1") }
            _ = try await harness.serve(.get, "/nowhere/1")
            _ = try await harness.serve(.get, "/nowhere/2")
            for method in ["ONE", "TWO"] { _ = try await harness.serve(try #require(.init(method)), "/v1/small") }
        }
        let text = registry.exposition()
        #expect(text.contains(#"larder_http_requests_total{method="GET",route="/v1/echo/{id}",status="200"} 3"#))
        #expect(text.contains(#"larder_http_requests_total{method="GET",route="none",status="404"} 2"#))
        #expect(text.contains(#"larder_http_requests_total{method="other",route="none",status="405"} 2"#))
        #expect(text.contains(#"larder_http_request_duration_seconds_count{method="GET",route="/v1/echo/{id}"} 3"#))
        #expect(!text.contains("secret") && !text.contains("nowhere") && !text.contains("ONE"))
    }

    @Test(
        "TRUST-01 A route that responds with a status that is not final is a problem: clients would wait on",
        arguments: [0, 99, 100, 101, 199]
    )
    func unfinal(code: Int) async throws {
        let harness = try ScreenHarness([
            Route(
                .get,
                "/v1/raw/{path}",
                "raw",
                raw: .init(otherMethods: [], allowedMethods: { _ in [.get] }) { _, _ in
                    Response(status: .init(code: code))
                }
            ),
            Route(.get, "/v1/reply", "reply") { _ in ScreenResponse(status: .init(code: code), body: .none) },
        ])
        for path in ["/v1/raw/x", "/v1/reply"] {
            let served = try await harness.serve(.get, path)
            #expect(served.status.code == 500)
            #expect(try served.code() == "internal")
        }
    }
}

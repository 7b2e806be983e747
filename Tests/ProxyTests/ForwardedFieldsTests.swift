import HTTPSemantics
import HTTPTypes
import TestKit
import Testing
import Upstream

@testable import Concurrency
@testable import Freshness
@testable import Proxy
@testable import Upstream

@Suite("Mounts: request fields", .timeLimit(.minutes(10)))
struct ForwardedFieldsTests {
    private static let tenant = HTTPField.Name(literal: "X-Tenant")

    @Test("TRUST-07 Fields that upstreams obey without Vary do not reach them", arguments: [true, false])
    func unlisted(shared: Bool) async throws {
        let it = try MountScenario(MountOptions(shared: shared))
        it.scene.transport.always(response(.ok, "x", fields: it.fields("no-store")))
        var fields = HTTPFields()
        for name in [
            "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Prefix", "X-Forwarded-Port", "X-Forwarded-For",
            "X-Original-URL", "X-Rewrite-URL", "X-Host", "X-Original-Host", "Forwarded", "X-HTTP-Method-Override",
            "X-Method-Override", "Origin", "Referer", "X-Tenant", "Larder-Exchange", "Larder-Target", "Accept",
        ] {
            fields.append(HTTPField(name: try #require(HTTPField.Name(name)), value: "evil.example"))
        }
        try await it.ask(.get, "/thing", fields)
        let sent = try #require(it.scene.transport.requests.first?.headerFields)
        #expect(Set(sent.map(\.name.canonicalName)) == ["accept", "via"])
    }

    @Test("TRUST-07 Connection: close, X-Hop takes X-Hop along, and what it names of the listed fields")
    func hopByHop() async throws {
        let it = try MountScenario(MountOptions(requestFields: [RequestField(Self.tenant)]))
        it.scene.transport.always(
            response(
                .ok,
                "x",
                fields: it.fields("no-store", [.connection: "close, X-Tenant", Self.tenant: "t", .trailer: "X-T"])
            )
        )
        let seen = try await it.ask(
            .get,
            "/thing",
            [.connection: "close, X-Tenant, Accept-Language", Self.tenant: "a", .acceptLanguage: "en"]
        )
        let sent = try #require(it.scene.transport.requests.first?.headerFields)
        #expect(sent[Self.tenant] == nil && sent[.acceptLanguage] == nil && sent[.connection] == nil)
        #expect(seen.fields[Self.tenant] == nil && seen.fields[.trailer] == nil)
    }

    @Test("TRUST-07 A field that the operator names is forwarded, and responses are stored by it, unless it is unkeyed")
    func named() async throws {
        let it = try MountScenario(
            MountOptions(requestFields: [RequestField(Self.tenant), RequestField(.from, isKey: false)])
        )
        it.scene.transport.always { request in
            IncomingResponse(
                status: .ok,
                headerFields: [.cacheControl: "max-age=60"],
                body: Array((request.headerFields[Self.tenant] ?? "none").utf8)
            )
        }
        #expect(try await it.ask(.get, "/thing", [Self.tenant: "a", .from: "1"]).body == "a")
        #expect(try await it.ask(.get, "/thing", [Self.tenant: "b"]).body == "b")
        #expect(try await it.ask().body == "none")
        let hit = try await it.ask(.get, "/thing", [Self.tenant: "a", .from: "2"])
        #expect(hit.body == "a" && hit.cacheStatus?.hasPrefix("larder; hit") == true)
        #expect(hit.fields[.vary] == "X-Tenant")
        #expect(it.scene.transport.requests.first?.headerFields[.from] == "1")
        #expect(it.scene.transport.count == 3)
    }

    @Test("TRUST-07 A shared mount passes credentials on only if the operator names Authorization; never cookies")
    func credentials() async throws {
        for (named, expected) in [([], nil), ([RequestField(.authorization, isKey: false)], "Basic YTpi")] {
            let it = try MountScenario(MountOptions(requestFields: named + [RequestField(.cookie, isKey: false)]))
            it.scene.transport.always(response(.ok, "x", fields: it.fields("max-age=60")))
            let own: HTTPFields = [.authorization: "Basic YTpi", .cookie: "a=b"]
            try await it.ask(.get, "/thing", own)
            let sent = try #require(it.scene.transport.requests.first?.headerFields)
            #expect(sent[.authorization] == expected && sent[.cookie] == nil)
            // RFC 9111 §3.5: not for others, unless the response says so.
            let other = try await it.ask()
            #expect(other.cacheStatus?.contains("hit") == false && it.scene.transport.count == 2)
            it.scene.transport.always(response(.ok, "y", fields: it.fields("public, max-age=60")))
            try await it.ask(.get, "/shared", own)
            let shared = try await it.ask(.get, "/shared")
            #expect(shared.body == "y" && shared.cacheStatus?.contains("hit") == true)
        }
    }

    @Test("TRUST-07 A GET has no body for the upstream, whose response would be stored under the URL alone")
    func body() async throws {
        let it = try MountScenario(MountOptions(methods: [.get, .head, .post]))
        it.scene.transport.always { request in
            IncomingResponse(status: .ok, headerFields: [.cacheControl: "max-age=60"], body: request.body ?? [])
        }
        #expect(try await it.ask(.get, "/f", body: "q=evil").body == "")
        #expect(try await it.ask(.get, "/f").cacheStatus?.hasPrefix("larder; hit") == true)
        #expect(try await it.ask(.post, "/f", body: "q=good").body == "q=good")
    }

    @Test(
        "A setting names an end-to-end field, and may say that it is no key",
        arguments: [
            ("X-Tenant", RequestField(tenant)), ("X-Tenant:unkeyed", RequestField(tenant, isKey: false)),
            ("X-Tenant:other", nil), ("Host", nil), ("connection", nil), ("a b", nil), ("", nil),
        ]
    )
    func setting(text: String, expected: RequestField?) {
        #expect(RequestField(setting: text) == expected)
    }
}

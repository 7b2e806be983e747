import Foundation
import GRDB
import HTTP
import HTTPTypes
import Storage
import TestKit
import Testing

@testable import Concurrency
@testable import Upstream

@Suite("Mounts: privacy", .timeLimit(.minutes(10)))
struct ProxiedRequestTests {
    @Test("SRV-11 A shared mount passes on neither Authorization nor Cookie, and no field of the connection either way")
    func sharedMount() async throws {
        let it = try MountScenario()
        it.scene.transport.always(
            response(
                .ok,
                "one",
                fields: [
                    .connection: "X-Once", .init("X-Once")!: "1", .transferEncoding: "chunked",
                    .contentType: "text/plain",
                ]
            )
        )
        let seen = try await it.ask(
            .get,
            "/thing",
            [
                .authorization: "Bearer secret", .cookie: "a=b", .proxyAuthorization: "Basic x", .connection: "X-Hop",
                .init("X-Hop")!: "1", .te: "trailers",
                .accept: "text/plain",
            ]
        )
        let sent = try #require(it.scene.transport.requests.first?.headerFields)
        #expect(Set(sent.map(\.name.canonicalName)) == ["accept", "via"])
        #expect(sent[.via] == "1.1 larder")
        #expect(Set(seen.fields.map(\.name.canonicalName)) == ["content-type", "cache-status"])
        // RFC 9111 §3.5: it was requested with a credential, so it is not shared.
        #expect(try it.storedCount == 0)
    }

    @Test("SRV-07 SRV-11 A mount per credential passes the credential on and stores responses by its hash")
    func perCredential() async throws {
        let it = try MountScenario(MountOptions(shared: false))
        it.scene.transport.always { request in
            let who = request.headerFields[.authorization] ?? "none"
            return IncomingResponse(
                status: .ok,
                headerFields: [.cacheControl: "max-age=60", .vary: "Authorization, Cookie"],
                body: Array("for \(who)".utf8)
            )
        }
        for who in ["Bearer alice-secret", "Bearer bob-secret", "Bearer alice-secret", "Bearer bob-secret"] {
            #expect(
                try await it.ask(.get, "/me", [.authorization: who, .cookie: "sid=cookie-secret"]).body == "for \(who)"
            )
        }
        #expect(it.scene.transport.count == 2)
        let kept = try await it.scene.database.pool.read { db in
            try Row.fetchAll(db, sql: "SELECT varying, header, credential FROM stored_response").map { row in
                row.databaseValues.compactMap { Data.fromDatabaseValue($0).map { String(decoding: $0, as: UTF8.self) } }
                    .joined()
            }.joined()
        }
        #expect(
            !kept.isEmpty && !kept.contains("alice-secret") && !kept.contains("bob-secret")
                && !kept.contains("cookie-secret")
        )
    }

    @Test(
        "SRV-11 An account's credential replaces the client's, is the key of the store, and goes to no shared mount",
        arguments: [true, false]
    )
    func ownCredential(isShared: Bool) async throws {
        let it = try MountScenario(MountOptions(shared: isShared))
        it.scene.transport.always(response(.ok, "mine", fields: [.cacheControl: "max-age=60"]))
        let identity = try SealedSecrets(it.scene.database).credentialHasher().hash("account 1")
        let request = MountRequest(
            method: .get,
            target: "/me",
            headerFields: [.cookie: "a=b"],
            credential: MountCredential(authorization: "OAuth token", identity: identity)
        )
        _ = try await it.mount.respond(to: request)
        let sent = try #require(it.scene.transport.requests.first?.headerFields)
        #expect(sent[.authorization] == (isShared ? nil : "OAuth token") && sent[.cookie] == nil)
        let database = it.scene.database
        try await database.write { db in try ResponseStore(database).remove(credential: identity, in: db) }
        #expect(try it.storedCount == 0)
    }
}

extension ProxiedRequestTests {
    @Test("SRV-11 A response that arrives after its account was logged out is not stored", arguments: [false, true])
    func loggedOut(isPart: Bool) async throws {
        let it = try MountScenario(MountOptions(shared: false))
        var fields = it.fields("max-age=60", [.eTag: "\"a\""])
        if isPart { fields[.contentRange] = "bytes 0-1/4" }
        it.scene.transport.always(response(isPart ? .partialContent : .ok, "mi", fields: fields))
        let identity = try SealedSecrets(it.scene.database).credentialHasher().hash("account 1")
        for isLoggedIn in [false, true] {
            let request = MountRequest(
                method: .get,
                target: "/me",
                headerFields: isPart ? [.range: "bytes=0-1"] : [:],
                credential: MountCredential(authorization: "a", identity: identity, isLoggedIn: { _ in isLoggedIn })
            )
            let seen = try await it.mount.respond(to: request)
            if case .stream(let parts, _) = seen.body { _ = try await parts.collect(upTo: 10) }
            #expect(try it.storedCount == (isLoggedIn ? 1 : 0))
        }
    }
}

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

struct ForwardedResponseTests {
    @Test("TRUST-01 A status from 600 to 999 is 502 of a mount (RFC 9110 §15)", arguments: [600, 999])
    func processedAsServerError(code: Int) async throws {
        let mounted = try MountScenario()
        let status = HTTPResponse.Status(code: code)
        mounted.scene.transport.then(response(status, "odd", fields: [.cacheControl: "max-age=60"]))
        let seen = try await mounted.ask()
        #expect(seen.status == 502 && seen.body == "odd")
        #expect(mounted.scene.upstream.reachability.lastError?.reason == "status \(code)")
    }
}

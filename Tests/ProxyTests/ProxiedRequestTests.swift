import Database
import Foundation
import GRDB
import HTTPTypes
import ResponseStore
import TestKit
import Testing
import Upstream

@testable import Concurrency
@testable import Freshness
@testable import Proxy
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

    @Test(
        "SRV-07 SRV-11 A mount per credential passes the credential on and stores responses by its hash"
    )
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

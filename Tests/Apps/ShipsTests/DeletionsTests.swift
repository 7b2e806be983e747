import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Screens
import Storage
import TestKit
import Testing
import Upstream

@testable import Ships

@Suite("Deleting and restoring over HTTP")
struct DeletionsTests {
    @Test("SHIP-08 SHIP-16 a deleted ship leaves the list, stays away on refresh, and comes back when restored")
    func wholeWay() async throws {
        try await ShipsHarness.run { app, token in
            _ = try await app.get("/v1/ships", as: token)
            let deleted = try await app.ask(.delete, "/v1/ships/b0b", as: token)
            deleted.expectScreen("ships.list")
            #expect(deleted["data.ids"] == ["b0b"])
            #expect(deleted["data.revision"] == 2)
            #expect(deleted["data.hidden_count"] == 1)
            #expect(deleted["data.actions.0.id"] == "undo" && deleted["data.actions.0.href"] == "/v1/ships/restore")
            #expect(
                deleted["data.actions.0.method"] == "POST" && deleted["data.actions.0.body.ids"] == deleted["data.ids"]
            )
            #expect(deleted["meta.source"] == "local")
            #expect(deleted["links.self"] == "/v1/ships")
            #expect(
                try await app.get("/v1/ships?refresh=1", as: token).all("id", in: "data.items") == ["a1", "ca", "d0"]
            )
            try await app.ask(.delete, "/v1/ships/b0b", as: token).expectProblem("ship-deleted", 404)
            let restored = try await app.ask(.post, "/v1/ships/restore", as: token)
            restored.expectScreen("ships.list")
            #expect(restored["data.ids"] == ["b0b"])
            #expect(restored["data.hidden_count"] == 0 && restored["data.actions"] == [])
            #expect(try await app.get("/v1/ships", as: token).all("id", in: "data.items") == ["a1", "b0b", "ca", "d0"])
            #expect(app.spaceX.requests.count == 2, "deleting and restoring ask no upstream")
            #expect(app.spaceX.requests.allSatisfy { $0.method == .get })
        }
    }

    @Test("SHIP-08 deletions survive leaving, a restart, and logging in again in another spelling")
    func account() async throws {
        let directory = try DataDirectory.temporary()
        try await ShipsHarness.run(directory: directory) { app in
            let token = try await app.logIn("Jürgen@Example.org")
            _ = try await app.get("/v1/ships", as: token)
            _ = try await app.ask(.delete, "/v1/ships/b0b", as: token)
            _ = try await app.ask(.delete, "/v1/ships/session", as: token)
        }
        try await ShipsHarness.run(directory: directory) { app in
            for spelling in ["jürgen@example.ORG", "ju\u{308}rgen@example.org"] {
                let response = try await app.get("/v1/ships?refresh=1", as: app.logIn(spelling))
                #expect(response["data.hidden_count"] == 1, "\(spelling)")
            }
        }
    }

    @Test("SHIP-08 guests delete for themselves: no guest and no user sees what another did")
    func guests() async throws {
        try await ShipsHarness.run { app in
            let (one, other, user) = (try await app.enterAsGuest(), try await app.enterAsGuest(), try await app.logIn())
            _ = try await app.get("/v1/ships", as: one)
            #expect(try await app.ask(.delete, "/v1/ships/b0b", as: one).status == 200)
            for token in [other, user] {
                let response = try await app.get("/v1/ships", as: token)
                #expect(response["data.hidden_count"] == 0)
                #expect(response["data.revision"] == 1)
            }
            #expect(try await app.ask(.post, "/v1/ships/restore", as: other)["data.ids"] == [])
            #expect(try await app.get("/v1/ships", as: one)["data.hidden_count"] == 1)
        }
    }

    @Test("SHIP-08 offline, ships are deleted and restored as online")
    func offline() async throws {
        try await ShipsHarness.run { app in
            let token = try await app.enterAsGuest()
            _ = try await app.get("/v1/ships", as: token)
            app.spaceX.become(.unreachable(.nameResolution))
            _ = try await app.get("/v1/ships?refresh=1", as: token)
            #expect(try await app.ask(.delete, "/v1/ships/ca", as: token).status == 200)
            let list = try await app.get("/v1/ships", as: token)
            #expect(list.all("id", in: "data.items") == ["a1", "b0b", "d0"])
            #expect(list["meta.offline"] == true)
            #expect(
                try await app.ask(.post, "/v1/ships/restore", as: token, body: #"{"ids":["ca"]}"#)["data.ids"] == ["ca"]
            )
            await app.recover()
            #expect(try await app.get("/v1/ships", as: token)["data.hidden_count"] == 0)
        }
    }

    @Test("SHIP-08 in literal mode the next refresh restores a deleted ship, and reports it to its account")
    func literal() async throws {
        try await ShipsHarness.run(settings: .ships.with(ShipsApp.deletion, .literal)) { app in
            let (me, you) = (try await app.logIn("me@here.org"), try await app.logIn("you@here.org"))
            _ = try await app.get("/v1/ships", as: me)
            _ = try await app.ask(.delete, "/v1/ships/b0b", as: me)
            #expect(
                try await app.get("/v1/ships", as: me).all("id", in: "data.items") == ["a1", "ca", "d0"],
                "a copy is no refresh"
            )
            let refreshed = try await app.get("/v1/ships?refresh=1&since_revision=2", as: me)
            #expect(refreshed.all("id", in: "data.items") == ["a1", "b0b", "ca", "d0"])
            #expect(refreshed["data.changes.added"] == ["b0b"])
            _ = try await app.ask(.delete, "/v1/ships/ca", as: me)
            #expect(try await app.get("/v1/ships/d0?refresh=1", as: you).status == 200)
            #expect(try await app.get("/v1/ships", as: me)["data.hidden_count"] == 0, "any refresh is one")
            #expect(
                app.events.published.filter { $0.audience == .account(app: "ships", account: "user:me@here.org") }.count
                    == 4
            )
        }
    }

    @Test("SHIP-08 in literal mode the refresh after an outage restores deleted ships, failed ones before it do not")
    func literalRecovery() async throws {
        try await ShipsHarness.run(settings: .ships.with(ShipsApp.deletion, .literal)) { app, token in
            _ = try await app.get("/v1/ships", as: token)
            app.spaceX.become(.unreachable(.refused))
            _ = try await app.get("/v1/ships?refresh=1", as: token)
            _ = try await app.ask(.delete, "/v1/ships/b0b", as: token)
            #expect(try await app.get("/v1/ships?refresh=1", as: token)["data.hidden_count"] == 1)
            await app.clock.sleepers(of: .seconds(5))
            app.spaceX.become(.ships(ShipFixtures.fleet))
            app.clock.advance(by: .seconds(5))
            await app.events.published("connectivity", containing: #""reachable":true"#)
            #expect(try await app.get("/v1/ships", as: token)["data.hidden_count"] == 0)
        }
    }

    @Test("SHIP-08 in literal mode a refresh that ends after the patience restores deleted ships, too")
    func literalAfterPatience() async throws {
        try await ShipsHarness.run(settings: .ships.with(ShipsApp.deletion, .literal)) { app, token in
            _ = try await app.get("/v1/ships", as: token)
            _ = try await app.ask(.delete, "/v1/ships/b0b", as: token)
            app.spaceX.become(.ships(ShipFixtures.fleet + [ShipFixtures.record("e0", "Eve")]))
            app.spaceX.upstream.hold()
            app.clock.advance(by: .seconds(6))
            async let waiting = app.get("/v1/ships", as: token)
            await app.spaceX.upstream.requestIsHeld()
            await app.clock.sleepers(of: .seconds(2))
            app.clock.advance(by: .seconds(2))
            #expect(try await waiting["data.hidden_count"] == 1)
            app.spaceX.upstream.release()
            await app.events.published("screen-changed", containing: #""revision":3"#)
            let after = try await app.get("/v1/ships", as: token)
            #expect(after.cacheStatus?.hasPrefix("larder; hit") == true && after["data.hidden_count"] == 0)
            _ = try await app.ask(.delete, "/v1/ships/b0b", as: token)
            #expect(try await app.get("/v1/ships", as: token)["data.hidden_count"] == 1, "a copy is no refresh")
        }
    }

    @Test("TRUST-05 deletions and restorations honour If-Match and If-None-Match")
    func preconditions() async throws {
        try await ShipsHarness.run { app, token in
            let list = try await app.get("/v1/ships", as: token)
            let tag = try #require(try await app.get("/v1/ships/b0b", as: token).headerFields[.eTag])
            #expect(tag.hasPrefix("\"1.") && list.headerFields[.eTag]?.hasPrefix("\"1.") == true)
            for fields: HTTPFields in [
                [.ifMatch: "\"0\""], [.ifMatch: "W/\(tag)"], [.ifNoneMatch: tag], [.ifNoneMatch: "*"], [.ifMatch: ""],
            ] {
                let refused = try await app.ask(.delete, "/v1/ships/b0b", as: token, fields)
                refused.expectProblem("precondition-failed", 412)
                try await app.ask(.post, "/v1/ships/restore", as: token, fields, body: "{}")
                    .expectProblem("precondition-failed", 412)
            }
            #expect(try await app.get("/v1/ships", as: token)["data.hidden_count"] == 0)
            #expect(try await app.ask(.delete, "/v1/ships/b0b", as: token, [.ifMatch: tag]).status == 200)
            // A missing ship is 404, whatever the preconditions (RFC 9110 §13.2.1).
            try await app.ask(.delete, "/v1/ships/b0b", as: token, [.ifMatch: "\"0\""])
                .expectProblem("ship-deleted", 404)
            let fields: HTTPFields = [.ifMatch: "\"2\"", .ifNoneMatch: "\"1\""]
            #expect(try await app.ask(.post, "/v1/ships/restore", as: token, fields, body: "{}").status == 200)
        }
    }

    @Test("concurrent deletions of one ship: one is 200, the others 404, nothing is counted twice")
    func concurrent() async throws {
        try await ShipsHarness.run { app, token in
            _ = try await app.get("/v1/ships", as: token)
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<6 { group.addTask { try await app.ask(.delete, "/v1/ships/b0b", as: token).status } }
                return try await group.reduce(into: []) { $0.append($1) }.sorted()
            }
            #expect(statuses == [200, 404, 404, 404, 404, 404])
            #expect(try await app.get("/v1/ships", as: token)["data.hidden_count"] == 1)
        }
    }

    @Test("restoring leaves ids as they are that are not deleted, or no ship")
    func unknownIDs() async throws {
        try await ShipsHarness.run { app, token in
            _ = try await app.get("/v1/ships", as: token)
            _ = try await app.ask(.delete, "/v1/ships/b0b", as: token)
            let response = try await app.ask(
                .post,
                "/v1/ships/restore",
                as: token,
                body: #"{"ids":["b0b","nöne","a1","../x"]}"#
            )
            #expect(response.status == 200 && response["data.ids"] == ["b0b"])
            #expect(try await app.get("/v1/ships", as: token)["data.hidden_count"] == 0)
        }
    }

    @Test(
        "restoring what is not deleted, or an empty choice, is no error and no change",
        arguments: [#"{"ids":["a1"]}"#, #"{"ids":[]}"#]
    )
    func noChange(body: String) async throws {
        try await ShipsHarness.run { app, token in
            _ = try await app.get("/v1/ships", as: token)
            _ = try await app.ask(.delete, "/v1/ships/b0b", as: token)
            let response = try await app.ask(.post, "/v1/ships/restore", as: token, body: body)
            #expect(response.status == 200)
            #expect(response["data.ids"] == [])
            #expect(response["data.revision"] == 2)
        }
    }

    @Test("without ids all are restored", arguments: ["", "{}", #"{"ids":null}"#])
    func all(body: String) async throws {
        try await ShipsHarness.run { app, token in
            _ = try await app.get("/v1/ships", as: token)
            for id in ["b0b", "ca"] { _ = try await app.ask(.delete, "/v1/ships/\(id)", as: token) }
            #expect(try await app.ask(.post, "/v1/ships/restore", as: token, body: body)["data.ids"] == ["b0b", "ca"])
        }
    }

    @Test(
        "a body that makes no sense restores nothing",
        arguments: [
            ("[", 400, "malformed-json"), ("[]", 400, "malformed-json"), ("null", 400, "malformed-json"),
            (#"{"ids":"b0b"}"#, 422, "validation-failed"),
            (#"{"ids":{"0":"b0b"}}"#, 422, "validation-failed"), (#"{"ids":["b0b",1]}"#, 422, "validation-failed"),
            (#"{"ids":[null]}"#, 422, "validation-failed"), (#"{"other":1}"#, 400, "malformed-request"),
            (
                #"{"ids":[\#(Array(repeating: #""b0b""#, count: 501).joined(separator: ","))]}"#, 422,
                "validation-failed"
            ),
        ]
    )
    func malformed(body: String, status: Int, code: String) async throws {
        try await ShipsHarness.run { app, token in
            _ = try await app.get("/v1/ships", as: token)
            _ = try await app.ask(.delete, "/v1/ships/b0b", as: token)
            try await app.ask(.post, "/v1/ships/restore", as: token, body: body).expectProblem(code, status)
            #expect(try await app.get("/v1/ships", as: token)["data.hidden_count"] == 1)
        }
    }

    @Test("deletions and restorations are published to the account only")
    func events() async throws {
        try await ShipsHarness.run { app in
            let token = try await app.logIn("me@here.org")
            _ = try await app.get("/v1/ships", as: token)
            _ = try await app.ask(.delete, "/v1/ships/b0b", as: token)
            _ = try await app.ask(.delete, "/v1/ships/b0b", as: token)
            _ = try await app.ask(.post, "/v1/ships/restore", as: token)
            _ = try await app.ask(.post, "/v1/ships/restore", as: token)
            #expect(
                app.events.published == [
                    .screenChanged(app: "ships", screen: "ships.list", revision: 1, audience: .app("ships")),
                    .screenChanged(
                        app: "ships",
                        screen: "ships.list",
                        revision: 2,
                        audience: .account(app: "ships", account: "user:me@here.org")
                    ),
                    .screenChanged(
                        app: "ships",
                        screen: "ships.list",
                        revision: 3,
                        audience: .account(app: "ships", account: "user:me@here.org")
                    ),
                ]
            )
        }
    }
}

@Suite("Reads on a full disk", .timeLimit(.minutes(10)))
struct FullDiskTests {
    @Test("TRUST-02 each system call of a read finds no space: in literal mode the list is shown all the same")
    func literal() async throws {
        let directory = try DataDirectory.temporary()
        let disk = try FaultScope(directory.path)
        try await ShipsHarness.run(directory: directory, settings: .ships.with(ShipsApp.deletion, .literal)) { app in
            let token = try await app.logIn()
            _ = try await app.get("/v1/ships", as: token)
            for step in 1..<500 {
                _ = try await app.ask(.delete, "/v1/ships/b0b", as: token)
                app.clock.advance(by: .seconds(60))
                let (shown, hasFailed) = await disk.failing(.noRoomOnce, at: step) {
                    try? await app.get("/v1/ships", as: token)
                }
                // An fsync that fails once, on a disk that has space again, is an error of the disk.
                let isFsync = shown?.status == 500 && shown?["code"] == "storage-failed"
                let isShown = shown?.status == 200 && shown?["meta.offline"] == false
                #expect(isShown || isFsync, "step \(step): \(shown?.text ?? "")")
                #expect(shown?.cacheStatus?.contains("bad-response") != true, "step \(step)")
                app.clock.advance(by: .seconds(60))
                #expect(try await app.get("/v1/ships", as: token)["data.hidden_count"] == 0, "step \(step)")
                guard hasFailed else { return #expect(step > 2) }
            }
        }
    }
}

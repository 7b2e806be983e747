import AppTestKit
import Foundation
import HTTPTypes
import Screens
import Testing
import Upstream

@testable import Ships

@Suite("The first start")
struct FirstStartTests {
    @Test("SHIP-12 without the upstream the bundled ships are shown, flagged offline with the date of their recording")
    func offline() async throws {
        try await ShipsApp.run(ScriptedTransport(.unreachable(.nameResolution)), snapshot: .bundled()) { app in
            let token = try await app.enterAsGuest()
            let answer = try await app.get("/v1/ships", as: token)
            answer.expectScreen("ships.list")
            #expect(answer.all("id", in: "data.items").count == 29)
            #expect(answer["meta.offline"] == true)
            #expect(answer["meta.stale"] == true)
            #expect(answer["meta.source"] == "cache")
            #expect(answer["meta.fetched_at"] == "2024-10-09T00:00:00Z")
            #expect(answer["meta.banner.code"] == "offline")
            #expect(answer.cacheStatus == "larder; fwd=uri-miss; detail=unreachable")
            let again = try await app.get("/v1/ships", as: token)
            #expect(again.body == answer.body)
            #expect(again.cacheStatus == "larder; hit; ttl=-39175200; detail=offline")
            #expect(again.age == "39175200")
        }
    }

    @Test("SHIP-12 details of a bundled ship open without the list having been asked for")
    func details() async throws {
        try await ShipsApp.run(ScriptedTransport(.unreachable(.refused)), snapshot: .bundled()) { app in
            let answer = try await app.get("/v1/ships/5ea6ed2e080df4000697c90a", as: app.logIn())
            #expect(answer["data.name"] == "GO Pursuit")
            #expect(answer["data.weight_kg_text"] == "502999 kg")
            #expect(answer["meta.offline"] == true)
        }
    }

    @Test(
        "SHIP-12 SHIP-06 when the upstream comes the bundled ships give way to the real ones; what was deleted meanwhile stays deleted"
    )
    func recovery() async throws {
        try await ShipsApp.run(ScriptedTransport(.unreachable(.refused))) { app in
            let token = try await app.logIn()
            #expect(
                try await app.get("/v1/ships", as: token).all("name", in: "data.items") == [
                    "Alma", "Carl", "Snapshot Only",
                ]
            )
            _ = try await app.ask(.delete, "/v1/ships/a1", as: token)
            await app.recover()
            let answer = try await app.get("/v1/ships?since_revision=2", as: token)
            #expect(answer.all("name", in: "data.items") == ["bob", "Carl", "DORA"])
            #expect(answer["data.changes.added"] == ["b0b", "d0"])
            #expect(answer["data.changes.updated"] == [])
            #expect(answer["data.changes.removed"] == ["5a"])
            #expect(answer["meta.banner"] == .null)
            #expect(answer["meta.fetched_at"] == "2026-01-05T10:00:05Z")
            try await app.get("/v1/ships/5a", as: token).expectProblem("not-found", 404)
        }
    }

    @Test(
        "SHIP-12 an upstream that only answers errors does not keep the bundled ships away, and is not called offline",
        arguments: [500, 503, 400, 401, 403, 404, 410]
    )
    func failing(status: Int) async throws {
        try await ShipsApp.run(ScriptedTransport(.answer(status))) { app in
            let answer = try await app.get("/v1/ships", as: app.logIn())
            #expect(answer.all("id", in: "data.items").count == 3)
            #expect(answer["meta.stale"] == true)
            #expect(answer["meta.offline"] == false)
            #expect(answer["meta.fetched_at"] == "2024-10-09T00:00:00Z")
        }
    }

    @Test("an upstream that lists no ships is believed: the list is empty, not bundled")
    func emptyUpstream() async throws {
        try await ShipsApp.run(ScriptedTransport(.ships([]))) { app in
            let token = try await app.logIn()
            let answer = try await app.get("/v1/ships", as: token)
            #expect(answer["meta.state"] == "empty")
            app.transport.become(.unreachable(.refused))
            #expect(try await app.get("/v1/ships?refresh=1", as: token)["meta.state"] == "empty")
        }
    }
}

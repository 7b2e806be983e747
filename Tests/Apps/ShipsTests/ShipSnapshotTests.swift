import Foundation
import Freshness
import HTTPTypes
import Screens
import TestKit
import Testing
import Upstream

@testable import Ships

@Suite("The bundled snapshot")
struct ShipSnapshotTests {
    @Test("SHIP-12 holds the 29 ships of October 2024, each with an id and a name of its own")
    func bundled() throws {
        let snapshot = try ShipSnapshot.bundled()
        #expect(snapshot.recordedAt == Date(timeIntervalSince1970: 1_728_432_000))
        let ships = snapshot.records.ships
        #expect(ships.count == 29)
        #expect(Set(ships.map(\.name)).count == 29)
        #expect(ships.allSatisfy { $0.id.count == 24 && !$0.roles.isEmpty && $0.type != nil })
        #expect(ships.filter { $0.yearBuilt == nil }.count == 3)
        #expect(ships.filter { $0.massKilograms == nil }.count == 8)
        #expect(ships.filter { $0.imageURL == nil }.count == 3)
        #expect(ships.filter(\.isActive).count == 15)
    }

    @Test(
        "a file of another shape is refused",
        arguments: [
            "", "{}", #"{"recorded_at":"yesterday","ships":[]}"#, #"{"ships":[]}"#,
            #"{"recorded_at":"2024-10-09T00:00:00Z"}"#,
        ]
    )
    func damaged(json: String) {
        #expect(throws: (any Error).self) { try ShipSnapshot(json: Data(json.utf8)) }
    }
}

@Suite("The first start")
struct FirstStartTests {
    @Test("SHIP-12 without the upstream the bundled ships are shown, flagged offline with the date of their recording")
    func offline() async throws {
        try await ShipsHarness.run(ScriptedSpaceX(.unreachable(.nameResolution)), snapshot: .bundled()) { app in
            let token = try await app.enterAsGuest()
            let response = try await app.get("/v1/ships", as: token)
            response.expectScreen("ships.list")
            #expect(response.all("id", in: "data.items").count == 29)
            #expect(response["meta.offline"] == true)
            #expect(response["meta.stale"] == true)
            #expect(response["meta.source"] == "bundled")
            #expect(response["meta.fetched_at"] == "2024-10-09T00:00:00Z")
            #expect(response["meta.banner.code"] == "offline")
            #expect(response.cacheStatus == "larder; fwd=uri-miss; detail=unreachable")
            let again = try await app.get("/v1/ships", as: token)
            #expect(again.body == response.body)
            #expect(again.cacheStatus == "larder; hit; ttl=-39175200; detail=offline")
            #expect(again.age == "39175200")
        }
    }

    @Test("SHIP-12 details of a bundled ship open without a prior request for the list")
    func details() async throws {
        try await ShipsHarness.run(ScriptedSpaceX(.unreachable(.refused)), snapshot: .bundled()) { app in
            let response = try await app.get("/v1/ships/5ea6ed2e080df4000697c90a", as: app.logIn())
            #expect(response["data.name"] == "GO Pursuit")
            #expect(response["data.weight_kg_text"] == "502999 kg")
            #expect(response["meta.offline"] == true)
        }
    }

    @Test(
        "SHIP-12 SHIP-06 the first response replaces the bundled ships; what was deleted meanwhile stays deleted"
    )
    func recovery() async throws {
        try await ShipsHarness.run(ScriptedSpaceX(.unreachable(.refused))) { app in
            let token = try await app.logIn()
            #expect(
                try await app.get("/v1/ships", as: token).all("name", in: "data.items") == [
                    "Alma", "Carl", "Snapshot Only",
                ]
            )
            _ = try await app.ask(.delete, "/v1/ships/a1", as: token)
            await app.recover()
            let response = try await app.get("/v1/ships?since_revision=2", as: token)
            #expect(response.all("name", in: "data.items") == ["bob", "Carl", "DORA"])
            #expect(response["data.changes.added"] == ["b0b", "d0"])
            #expect(response["data.changes.updated"] == [])
            #expect(response["data.changes.removed"] == ["5a"])
            #expect(response["meta.banner"] == .null)
            #expect(response["meta.fetched_at"] == "2026-01-05T10:00:05Z")
            try await app.get("/v1/ships/5a", as: token).expectProblem("not-found", 404)
        }
    }

    @Test(
        "SHIP-12 the bundled ships are shown even if the upstream responds with errors, and it is not called offline",
        arguments: [500, 503, 400, 401, 403, 404, 410]
    )
    func failing(status: Int) async throws {
        try await ShipsHarness.run(ScriptedSpaceX(.response(status))) { app in
            let response = try await app.get("/v1/ships", as: app.logIn())
            #expect(response.all("id", in: "data.items").count == 3)
            #expect(response["meta.stale"] == true)
            #expect(response["meta.offline"] == false)
            #expect(response["meta.fetched_at"] == "2024-10-09T00:00:00Z")
        }
    }

    @Test("TRUST-06 an empty list as the first response is as unusable as a broken one, online and offline")
    func emptyUpstream() async throws {
        try await ShipsHarness.run(ScriptedSpaceX(.ships([]))) { app in
            let token = try await app.logIn()
            let first = try await app.get("/v1/ships", as: token)
            #expect(first.all("id", in: "data.items").count == 3 && first["meta.source"] == "bundled")
            #expect(first["meta.stale"] == true && first["meta.offline"] == false)
            #expect(first.cacheStatus == "larder; fwd=uri-miss; fwd-status=200; detail=bad-response")
            app.spaceX.become(.unreachable(.refused))
            let offline = try await app.get("/v1/ships?refresh=1", as: token)
            #expect(offline["data.items"] == first["data.items"] && offline["meta.offline"] == true)
            app.spaceX.become(.ships(ShipFixtures.fleet))
            let listed = try await app.get("/v1/ships?refresh=1", as: token)
            #expect(listed["meta.source"] == "upstream" && listed["meta.stale"] == false)
        }
    }
}

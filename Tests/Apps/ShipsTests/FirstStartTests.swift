import HTTPTypes
import TestKit
import Testing
import Upstream

@testable import Ships

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
            #expect(response["data.weight_kg_text"] == "502,999 kg")
            #expect(response["meta.offline"] == true)
        }
    }

    @Test("SHIP-12 SHIP-06 the first response replaces the bundled ships; what was deleted meanwhile stays deleted")
    func recovery() async throws {
        try await ShipsHarness.run(ScriptedSpaceX(.unreachable(.refused))) { app, token in
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

    @Test("SHIP-15 521, 522, 523 and 530 of a gateway are outages, not failures", arguments: [521, 522, 523, 530])
    func gateway(status: Int) async throws {
        try await ShipsHarness.run(ScriptedSpaceX(.response(status, [.contentType: "text/html"], "<html>"))) { app in
            let token = try await app.logIn()
            let first = try await app.get("/v1/ships", as: token)
            first.expectScreen("ships.list")
            #expect(first.all("id", in: "data.items").count == 3 && first["meta.source"] == "bundled")
            #expect(first["meta.stale"] == true && first["meta.offline"] == true)
            #expect(first.cacheStatus == "larder; fwd=uri-miss; detail=unreachable")
            let known = try await app.get("/v1/ships", as: token)
            #expect(known["meta.offline"] == true && known.cacheStatus?.contains("fwd-status") == false)
            app.spaceX.become(.ships(ShipFixtures.fleet))
            let listed = try await app.get("/v1/ships?refresh=1", as: token)
            #expect(listed["meta.source"] == "upstream" && listed["meta.offline"] == false)
            app.spaceX.become(.response(status))
            let later = try await app.get("/v1/ships?refresh=1", as: token)
            #expect(later["data.items"] == listed["data.items"] && later["meta.offline"] == true)
        }
    }

    @Test(
        "ONE-03 a stale list says how old it is and why, in both languages, also after a refresh that failed",
        arguments: [
            (500, "the service does not work at the moment", "сервис сейчас не работает"),
            (429, "the service asks to wait", "сервис просит подождать"),
            (404, "the service did not respond as expected", "сервис ответил не так, как ожидалось"),
        ]
    )
    func staleWords(status: Int, english: String, russian: String) async throws {
        try await ShipsHarness.run(ScriptedSpaceX(.response(status))) { app, token in
            let bundled = try await app.get("/v1/ships", as: token)
            #expect(bundled["meta.freshness_text"] == .string("Recorded 09.10.2024 00:00 UTC: \(english)."))
            #expect(bundled["meta.banner.code"] == "stale" && bundled["meta.banner.dismiss"] == "on_resolved")
            app.spaceX.become(.ships(ShipFixtures.fleet))
            let fresh = try await app.get("/v1/ships?refresh=1", as: token)
            #expect(fresh["meta.freshness_text"] == nil && fresh["meta.banner"] == .null)
            app.spaceX.become(.response(status))
            app.clock.advance(by: .seconds(7200))
            let stale = try await app.get("/v1/ships?refresh=1", as: token, [.acceptLanguage: "ru"])
            #expect(stale["meta.freshness_text"] == .string("Получено 05.01.2026 10:00 UTC: \(russian)."))
            #expect(stale["meta.banner.text"] == stale["meta.freshness_text"] && stale["meta.offline"] == false)
            app.clock.advance(by: .seconds(600))
            let later = try await app.get("/v1/ships?refresh=1", as: token, [.acceptLanguage: "ru"])
            #expect(later.body == stale.body, "time alone changes no body")
            app.spaceX.become(.unreachable(.refused))
            let offline = try await app.get("/v1/ships?refresh=1", as: token)
            #expect(offline["meta.banner.code"] == "offline")
            #expect(
                offline["meta.freshness_text"]
                    == "Received 05.01.2026 10:00 UTC: the service cannot be reached at the moment."
            )
        }
    }

    @Test("ONE-11 texts of ships have no characters that are not seen, and no outer white space")
    func cleanTexts() async throws {
        let record =
            #"{"id":"x1","name":"\u202eGo\u200b Ms\u0007\n","type":" \u2066Tug\u2069 ","home_port":"\ufeffPort\r\nA"}"#
        try await ShipsHarness.run(ScriptedSpaceX(.ships([record]))) { app in
            let ship = try await app.get("/v1/ships/x1", as: app.logIn())
            #expect(ship["data.name"] == "Go Ms")
            #expect(ship.text.contains(#""Tug""#) && ship.text.contains("Port A"))
            for code in [0x202E, 0x200B, 0x2066, 0x2069, 0xFEFF] as [UInt32] {
                #expect(!ship.text.unicodeScalars.contains { $0.value == code })
            }
        }
    }

    @Test("TRUST-06 an empty list as the first response is as unusable as a broken one, online and offline")
    func emptyUpstream() async throws {
        try await ShipsHarness.run(ScriptedSpaceX(.ships([]))) { app, token in
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

import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Screens
import TestKit
import Testing
import Upstream

@testable import Ships

@Suite("Without the upstream, and when it is back")
struct ShipRefresherTests {
    private static let banner = "No internet connection. You\u{2019}re in Offline mode."

    @Test(
        "SHIP-09 offline, the ships of the database are shown under the banner",
        arguments: UnreachableReason.allCases
    )
    func offline(reason: UnreachableReason) async throws {
        try await ShipsHarness.run { app, token in
            let online = try await app.get("/v1/ships", as: token)
            app.spaceX.become(.unreachable(reason))
            app.clock.advance(by: .seconds(60))
            let tried = try await app.get("/v1/ships", as: token)
            tried.expectScreen("ships.list")
            #expect(tried.cacheStatus == "larder; fwd=stale; detail=unreachable")
            #expect(tried.age == "60")
            #expect(tried["data.items"] == online["data.items"])
            #expect(tried["meta.offline"] == true)
            #expect(tried["meta.stale"] == true)
            #expect(tried["meta.source"] == "upstream")
            #expect(tried["meta.fetched_at"] == "2026-01-05T10:00:00Z")
            #expect(tried["meta.banner.code"] == "offline")
            #expect(tried["meta.banner.text"] == .string(Self.banner))
            #expect(tried["meta.banner.dismiss"] == "on_online")
            #expect(tried.headerFields[.eTag] != online.headerFields[.eTag])
            let known = try await app.get("/v1/ships", as: token)
            #expect(known.cacheStatus == "larder; hit; ttl=-55; detail=offline")
            #expect(known.body == tried.body, "known or tried, a client sees the same")
            #expect(app.spaceX.requests.count == 2)
            _ = try await app.get("/v1/ships?refresh=1", as: token)
            #expect(app.spaceX.requests.count == 3, "refresh=1 always tries")
        }
    }

    @Test(
        "SHIP-06 SHIP-09 recovery refreshes the list without a client and is published; the next response has no banner"
    )
    func recovery() async throws {
        try await ShipsHarness.run { app, token in
            _ = try await app.get("/v1/ships", as: token)
            app.spaceX.become(.unreachable(.refused))
            #expect(try await app.get("/v1/ships?refresh=1", as: token)["meta.offline"] == true)
            await app.recover(.ships(ShipFixtures.fleet + [ShipFixtures.record("e0", "Eve")]))
            // The list, the refresh that failed, the probe, and the refresh after it.
            #expect(app.spaceX.listRequests.count == 4)
            let asked = app.spaceX.requests.count
            let response = try await app.get("/v1/ships?since_revision=1", as: token)
            #expect(response["meta.banner"] == .null)
            #expect(response["meta.offline"] == false)
            #expect(response["meta.stale"] == false)
            #expect(response["meta.source"] == "upstream")
            #expect(response.cacheStatus == "larder; hit; ttl=5")
            #expect(response["data.changes.added"] == ["e0"])
            #expect(app.spaceX.requests.count == asked)
            #expect(
                app.events.published.map(\.kind) == [
                    "screen-changed", "connectivity", "screen-changed", "connectivity",
                ]
            )
            #expect(
                app.events.published[1].json
                    == #"{"upstream":"spacex","reachable":false,"offline":true,"at":"2026-01-05T10:00:00Z"}"#
            )
            let changed = ServerEvent.screenChanged(
                app: "ships",
                screen: "ships.list",
                revision: 2,
                audience: .app("ships")
            )
            #expect(app.events.published[2] == changed)
            #expect(
                app.events.published[3].json
                    == #"{"upstream":"spacex","reachable":true,"offline":false,"at":"2026-01-05T10:00:05Z"}"#
            )
        }
    }

    @Test("SHIP-09 a client's own refresh finds the upstream back: that response has no banner")
    func ownRefresh() async throws {
        try await ShipsHarness.run { app, token in
            _ = try await app.get("/v1/ships", as: token)
            app.spaceX.become(.unreachable(.refused))
            _ = try await app.get("/v1/ships?refresh=1", as: token)
            app.spaceX.become(.ships(ShipFixtures.fleet))
            let response = try await app.get("/v1/ships?refresh=1", as: token)
            #expect(response["meta.banner"] == .null)
            #expect(response["meta.source"] == "upstream")
            await app.events.published("connectivity", containing: #""reachable":true"#)
        }
    }

    @Test(
        "TRUST-06 SHIP-13 an upstream that responds with errors gives stale ships without the banner, whatever status",
        arguments: [500, 502, 503, 429, 400, 401, 403, 404, 407, 410, 418, 451]
    )
    func failing(status: Int) async throws {
        try await ShipsHarness.run { app, token in
            _ = try await app.get("/v1/ships", as: token)
            app.spaceX.become(.response(status))
            let detail = status >= 500 || status == 429 ? "stale-if-error" : "bad-response"
            app.clock.advance(by: .seconds(6))
            let response = try await app.get("/v1/ships", as: token)
            #expect(response.cacheStatus == "larder; fwd=stale; fwd-status=\(status); detail=\(detail)")
            #expect(response["data.items.1.name"] == "bob")
            #expect(response["meta.stale"] == true)
            #expect(response["meta.offline"] == false)
            #expect(response["meta.banner.code"] == "stale")
            let details = try await app.get("/v1/ships/b0b?refresh=1", as: token)
            #expect(details.status == 200 && details["data.name"] == "bob" && details["meta.stale"] == true)
        }
    }

    @Test(
        "a response that is no list of ships replaces nothing",
        arguments: [
            "", "<html>captive portal</html>", "{}", #"{"docs":[]}"#, "[1,2,3]", #"[{"id":"a1"}]"#,
            #"[{"id":"b0b","name":"bob"#,
        ]
    )
    func garbage(body: String) async throws {
        try await ShipsHarness.run { app, token in
            let good = try await app.get("/v1/ships", as: token)
            app.spaceX.become(.response(200, [:], body))
            let response = try await app.get("/v1/ships?refresh=1", as: token)
            #expect(response["data.items"] == good["data.items"])
            #expect(response["data.revision"] == 1)
            #expect(response["meta.stale"] == true)
            #expect(response["meta.offline"] == false)
            #expect(response.cacheStatus == "larder; fwd=request; fwd-status=200; detail=bad-response")
        }
    }

    @Test("after the patience the stored ships are shown as stale while the request continues")
    func patience() async throws {
        try await ShipsHarness.run { app, token in
            _ = try await app.get("/v1/ships", as: token)
            app.spaceX.become(.ships([ShipFixtures.alma]))
            app.spaceX.upstream.hold()
            app.clock.advance(by: .seconds(6))
            async let waiting = app.get("/v1/ships", as: token)
            await app.spaceX.upstream.requestIsHeld()
            await app.clock.sleepers(of: .seconds(2))
            app.clock.advance(by: .seconds(2))
            let stale = try await waiting
            #expect(stale["meta.stale"] == true)
            #expect(stale["meta.offline"] == false)
            #expect(stale["meta.banner.code"] == "stale")
            #expect(stale["meta.freshness_text"] == "Received 05.01.2026 10:00 UTC: newer data has not arrived yet.")
            #expect(stale.all("upstream_present", in: "data.items") == [true, true, true, true])
            app.spaceX.upstream.release()
            await app.events.published("screen-changed", containing: #""revision":2"#)
            #expect(
                try await app.get("/v1/ships", as: token).all("upstream_present", in: "data.items") == [
                    true, false, false, false,
                ]
            )
            #expect(app.spaceX.requests.count == 2)
        }
    }

    @Test("requests at the same time share one request to the upstream")
    func collapsed() async throws {
        try await ShipsHarness.run { app, token in
            app.spaceX.upstream.hold()
            let responses = try await withThrowingTaskGroup(of: Exchanged.self) { group in
                for _ in 0..<5 { group.addTask { try await app.get("/v1/ships", as: token) } }
                await app.spaceX.upstream.requestIsHeld()
                app.spaceX.upstream.release()
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(responses.allSatisfy { $0.all("id", in: "data.items").count == 4 })
            #expect(app.spaceX.requests.count == 1)
        }
    }

    @Test("TRUST-06 an empty list where there were ships changes nothing stored", arguments: ["[]", " [ ]\n"])
    func empty(body: String) async throws {
        try await ShipsHarness.run { app, token in
            _ = try await app.get("/v1/ships", as: token)
            app.spaceX.become(.response(200, [.contentType: "application/json"], body))
            app.clock.advance(by: .seconds(60))
            let list = try await app.get("/v1/ships", as: token)
            #expect(list.cacheStatus == "larder; fwd=stale; fwd-status=200; detail=bad-response")
            #expect(list["meta.stale"] == true && list["data.revision"] == 1)
            #expect(list.all("upstream_present", in: "data.items") == [true, true, true, true])
        }
    }

    @Test("TRUST-06 an empty list does not replace the bundled ships that were shown on a first start")
    func emptyAfterSnapshot() async throws {
        try await ShipsHarness.run { app, token in
            app.spaceX.become(.response(500))
            let bundled = try await app.get("/v1/ships", as: token)
            #expect(bundled["meta.source"] == "bundled" && bundled["meta.page.total"] == 3)
            app.spaceX.become(.response(200, [.contentType: "application/json"], "[]"))
            let list = try await app.get("/v1/ships?refresh=1", as: token)
            #expect(list["data.items"] == bundled["data.items"] && list["meta.stale"] == true)
            #expect(list["meta.source"] == "bundled" && list["data.revision"] == bundled["data.revision"])
        }
    }

    @Test("TRUST-19 a list of more ships than are merged in a quarter of a second is refused, and nothing is merged")
    func tooLong() async throws {
        try await ShipsHarness.run { app, token in
            _ = try await app.get("/v1/ships", as: token)
            let ships = (0...ListLimit.elements).map { ShipFixtures.record("s\($0)", "Ship \($0)") }
            app.spaceX.become(.ships(ships))
            let list = try await app.get("/v1/ships?refresh=1", as: token)
            #expect(list["meta.page.total"] == 4 && list["meta.stale"] == true)
            app.spaceX.become(.ships(Array(ships.dropLast())))
            #expect(try await app.get("/v1/ships?refresh=1&limit=1", as: token)["meta.page.total"] == 10_004)
        }
    }
}

@Suite("What ships cost the database")
struct ShipStatementTests {
    /// Expects the cost of a repeated request, with the API known to be away.
    private func expect(_ cost: StatementLog.Count, of target: String) async throws {
        try await ShipsHarness.run { app, token in
            _ = try await app.get("/v1/ships", as: token)
            app.spaceX.become(.unreachable(.refused))
            _ = try await app.get("/v1/ships?refresh=1", as: token)
            _ = try await app.get(target, as: token)
            let ran = try await app.statements.count {
                let response = try await app.get(target, as: token)
                #expect(response["meta.offline"] == true)
            }
            #expect(ran == cost)
        }
    }

    @Test("the list, with its age and its changes, is one transaction of four statements")
    func list() async throws {
        try await expect(.init(transactions: 1, statements: 4), of: "/v1/ships")
    }

    @Test("details are one transaction of two statements")
    func details() async throws {
        try await expect(.init(transactions: 1, statements: 2), of: "/v1/ships/b0b")
    }
}

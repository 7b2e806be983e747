import AppInterface
import Database
import Foundation
import HTTPTypes
import Screens
import SharedStore
import TestKit
import Testing
import Upstream

@testable import Ships

/// The app with ships that servers share.
@Suite("Ships that several servers share", .timeLimit(.minutes(10)))
struct SharedShipsMergeTests {
    private static func names(_ app: ShipsHarness, _ token: String) async throws -> [JSONFields.Value] {
        try await app.get("/v1/ships", as: token).all("name", in: "data.items")
    }

    @Test("SHIP-05 Without an upstream the first server imports the snapshot; the list of the API replaces it for all")
    func snapshot() async throws {
        let access = try await SharedStoreAccess.temporary(SharedShips.migrations)
        try await ShipsHarness.run(ScriptedSpaceX(.unreachable(.nameResolution)), shared: SharedShips(access)) { one in
            let token = try await one.logIn()
            #expect(try await Self.names(one, token) == ["Alma", "Carl", "Snapshot Only"])
            try await ShipsHarness.run(shared: SharedShips(access.otherServer())) { two in
                let other = try await two.logIn()
                #expect(try await Self.names(two, other) == ["Alma", "bob", "Carl", "DORA"])
            }
            let shown = try await one.get("/v1/ships", as: token)
            #expect(shown["meta.offline"] == true)
            #expect(try await Self.names(one, token) == ["Alma", "bob", "Carl", "DORA"])
        }
    }

    @Test("A confirmed response is taken over if the store has other ships, also one that was stored long before")
    func confirmed() async throws {
        let first = try await SharedStoreAccess.temporary(SharedShips.migrations)
        let directory = try DataDirectory.temporary()
        let clock = ManualClock()
        try await ShipsHarness.run(clock: clock, directory: directory, shared: SharedShips(first)) { app in
            let token = try await app.logIn()
            #expect(try await Self.names(app, token).count == 4)
        }
        // The store was lost, the cache was not: nothing is asked of the API.
        let second = try await SharedStoreAccess.temporary(SharedShips.migrations)
        let shared = SharedShips(second)
        try await ShipsHarness.run(
            ScriptedSpaceX(.unreachable(.nameResolution)),
            clock: clock,
            directory: directory,
            shared: shared
        ) { app in
            let token = try await app.logIn()
            #expect(try await Self.names(app, token) == ["Alma", "bob", "Carl", "DORA"])
            // Another server has taken over another list, and the API now confirms that of this one.
            _ = try await SharedShips(second.otherServer()).merge([], listedAt: clock.now) { _ in }
            let vanished = try await app.get("/v1/ships", as: token)
            #expect(vanished.all("upstream_present", in: "data.items") == [false, false, false, false])
            app.spaceX.become(.ships(ShipFixtures.fleet))
            clock.advance(by: .seconds(6))
            let shown = try await app.get("/v1/ships?refresh=1", as: token)
            #expect(shown.all("upstream_present", in: "data.items") == [true, true, true, true])
            #expect(shown["meta.offline"] == false)
        }
    }

    @Test("TRUST-19 A list with which there would be more ships than are kept is not used: the ships go on, as stale")
    func tooMany() async throws {
        let access = try await SharedStoreAccess.temporary(SharedShips.migrations)
        let shared = SharedShips(access)
        let clock = ManualClock()
        try await ShipsHarness.run(clock: clock, shared: shared) { app in
            let token = try await app.logIn()
            #expect(try await Self.names(app, token).count == 4)
            // Of a list before, all of which have vanished since.
            let insert = """
                INSERT INTO ship (id, name, sort_key, roles, active, listed, from_snapshot, added_revision,
                    changed_revision)
                SELECT 'x' || number, 'x', 'x', '[]', true, false, false, 1, 1 FROM generate_series(1, 19996) AS number
                """
            _ = try await access.database.write { try $0.execute(insert) }
            app.spaceX.become(.ships(ShipFixtures.fleet + [ShipFixtures.record("new", "One more")]))
            clock.advance(by: .seconds(6))
            let shown = try await app.get("/v1/ships?limit=2", as: token)
            #expect(shown.all("name", in: "data.items") == ["Alma", "bob"])
            #expect(shown["meta.stale"] == true && shown["meta.offline"] == false)
            app.spaceX.become(.ships(ShipFixtures.fleet))
            let confirmed = try await app.get("/v1/ships?limit=2&refresh=1", as: token)
            #expect(confirmed["meta.stale"] == false)
        }
    }

    @Test("SHIP-07 Deleted on one server, a ship is gone on the other; its restoration has a later revision")
    func deleted() async throws {
        let access = try await SharedStoreAccess.temporary(SharedShips.migrations)
        try await ShipsHarness.run(shared: SharedShips(access)) { one in
            try await ShipsHarness.run(shared: SharedShips(access.otherServer())) { two in
                let (token, other) = (try await one.logIn(), try await two.logIn())
                _ = try await Self.names(one, token)
                #expect(try await one.ask(.delete, "/v1/ships/b0b", as: token, body: "").status == 200)
                #expect(try await Self.names(two, other) == ["Alma", "Carl", "DORA"])
                try await two.get("/v1/ships/b0b", as: other).expectProblem("ship-deleted", 404)
                let changes = try await two.get("/v1/ships?since_revision=1", as: other)
                #expect(changes["data.changes.removed.0"] == "b0b")
                #expect(try await two.ask(.post, "/v1/ships/restore", as: other, body: "{}")["data.revision"] == 3)
                #expect(try await Self.names(one, token) == ["Alma", "bob", "Carl", "DORA"])
            }
        }
    }
}

import Cluster
import Foundation
import GRDB
import HTTPTypes
import Screens
import Storage
import TestKit
import Testing
import Upstream

@testable import Ships

/// The app on servers whose files follow one journal.
@Suite("Ships of several servers", .timeLimit(.minutes(10)))
struct ShipsOfServersTests {
    private static func names(_ app: ShipsHarness, _ token: String) async throws -> [JSON] {
        try await app.get("/v1/ships", as: token).all("name", in: "data.items")
    }

    @Test("SHIP-05 Without an upstream the first server imports the snapshot; the list of the API replaces it for all")
    func snapshot() async throws {
        let access = try await ClusterAccess.temporary()
        try await ShipsHarness.run(ScriptedSpaceX(.unreachable(.nameResolution)), shared: access) { one in
            let token = try await one.logIn()
            #expect(try await Self.names(one, token) == ["Alma", "Carl", "Snapshot Only"])
            try await ShipsHarness.run(shared: access.otherServer()) { two in
                let other = try await two.logIn()
                #expect(try await Self.names(two, other) == ["Alma", "bob", "Carl", "DORA"])
            }
            let shown = try await one.get("/v1/ships", as: token)
            #expect(shown["meta.offline"] == true)
            #expect(try await Self.names(one, token) == ["Alma", "bob", "Carl", "DORA"])
        }
    }

    @Test("A confirmed response is taken over if the journal has other ships, also one that was stored long before")
    func confirmed() async throws {
        let first = try await ClusterAccess.temporary()
        let directory = try DataDirectory.temporary()
        let clock = ManualClock()
        try await ShipsHarness.run(clock: clock, directory: directory, shared: first) { app in
            let token = try await app.logIn()
            #expect(try await Self.names(app, token).count == 4)
            // The journal is lost, the cache is not.
            try await app.database.write { db in
                for table in ["ship", "session", "journal_position", "journal_scope"] {
                    try db.execute(sql: "DELETE FROM \(table)")
                }
                try db.execute(sql: "UPDATE ship_revision SET last = 0, content = 0, present = 0, listed_at = 0")
            }
        }
        let second = try await ClusterAccess.temporary()
        try await ShipsHarness.run(
            ScriptedSpaceX(.unreachable(.nameResolution)),
            clock: clock,
            directory: directory,
            shared: second
        ) { app in
            let token = try await app.logIn()
            #expect(try await Self.names(app, token) == ["Alma", "bob", "Carl", "DORA"])
            // Another server has taken over another list, and the API now confirms that of this one.
            try await second.shipNode().merge([], at: clock.now)
            let vanished = try await app.get("/v1/ships", as: token)
            #expect(vanished.all("upstream_present", in: "data.items") == [false, false, false, false])
            app.spaceX.become(.ships(ShipFixtures.fleet))
            clock.advance(by: .seconds(6))
            let shown = try await app.get("/v1/ships?refresh=1", as: token)
            #expect(shown.all("upstream_present", in: "data.items") == [true, true, true, true])
            #expect(shown["meta.offline"] == false)
        }
    }

    @Test(
        "SCALE-22 A list that was just fetched is shown, whatever another server's clock was",
        arguments: [-3600.0, 3600]
    )
    func clocks(ahead: Double) async throws {
        let access = try await ClusterAccess.temporary()
        let (clock, other) = (ManualClock(), try access.shipNode())
        try await ShipsHarness.run(clock: clock, shared: access) { app in
            let token = try await app.logIn()
            #expect(try await Self.names(app, token).count == 4)
            for _ in 0..<2 {
                try await other.merge([], at: clock.now.addingTimeInterval(ahead))
                clock.advance(by: .seconds(6))
                let shown = try await app.get("/v1/ships?refresh=1", as: token)
                #expect(shown.all("upstream_present", in: "data.items") == [true, true, true, true])
                #expect(shown["meta.stale"] == false)
            }
        }
    }

    @Test("TRUST-19 A list with which there would be more ships than are kept is not used: the ships go on, as stale")
    func tooMany() async throws {
        let access = try await ClusterAccess.temporary()
        let clock = ManualClock()
        try await ShipsHarness.run(clock: clock, shared: access) { app in
            let token = try await app.logIn()
            #expect(try await Self.names(app, token).count == 4)
            // Of a list before, all of which have vanished since.
            let insert = """
                WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers LIMIT 19996)
                INSERT INTO ship (id, name, sort_key, roles, active, listed, from_snapshot, added_revision,
                    changed_revision)
                SELECT 'x' || number, 'x', 'x', '[]', 1, 0, 0, 1, 1 FROM numbers
                """
            let other = try access.shipNode()
            try await other.store.users.write(scope: ShipStore.scope) { try $0.execute(sql: insert) }
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
        let access = try await ClusterAccess.temporary()
        try await ShipsHarness.run(shared: access) { one in
            try await ShipsHarness.run(shared: access.otherServer()) { two in
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

    @Test("SCALE-07 A server that was away sees what others have changed meanwhile, with its first response")
    func away() async throws {
        let access = try await ClusterAccess.temporary()
        let directory = try DataDirectory.temporary()
        try await ShipsHarness.run(directory: directory, shared: access) { one in
            let token = try await one.logIn()
            #expect(try await Self.names(one, token).count == 4)
        }
        try await ShipsHarness.run(shared: access.otherServer()) { two in
            let token = try await two.logIn()
            #expect(try await two.ask(.delete, "/v1/ships/a1", as: token, body: "").status == 200)
        }
        try await ShipsHarness.run(directory: directory, shared: access.otherServer()) { one in
            let token = try await one.logIn()
            #expect(try await Self.names(one, token) == ["bob", "Carl", "DORA"])
        }
    }

    @Test("SCALE-23 While PostgreSQL is away ships are shown, stale with a text, and not changed; then all goes on")
    func storeAway() async throws {
        let postgres = try await RunningPostgres.start()
        let access = try await ClusterAccess.temporary(on: postgres)
        try await ShipsHarness.run(shared: access) { one in
            try await ShipsHarness.run(shared: access.otherServer()) { two in
                let (token, other) = (try await one.logIn(), try await two.logIn())
                #expect(try await Self.names(two, other).count == 4)
                #expect(try await one.ask(.delete, "/v1/ships/b0b", as: token, body: "").status == 200)
                let before = try await one.get("/v1/ships", as: token)
                #expect(before["meta.stale"] == false && before["meta.banner"] == .null)
                try postgres.stop("immediate")
                let requests = one.spaceX.requests.count
                for target in ["/v1/ships", "/v1/ships?refresh=1", "/v1/ships/a1"] {
                    try await one.get(target, as: token).expectStaleStore(target)
                }
                #expect(try await Self.names(one, token) == ["Alma", "Carl", "DORA"])
                // Nothing is asked for that could not be kept.
                #expect(one.spaceX.requests.count == requests)
                try await one.ask(.delete, "/v1/ships/a1", as: token, body: "").expectStoreUnavailable()
                // The other server shows a deletion that it had not read yet once the store is reachable.
                #expect(try await two.get("/v1/ships", as: other)["meta.stale"] == true)
                try postgres.restart()
                try await BoundedWait.poll(for: "the store") {
                    try await two.get("/v1/ships", as: other)["meta.stale"] == false
                }
                #expect(try await Self.names(two, other) == ["Alma", "Carl", "DORA"])
                #expect(try await two.ask(.delete, "/v1/ships/a1", as: other, body: "").status == 200)
                try await BoundedWait.poll(for: "the change") {
                    try await Self.names(one, token) == ["Carl", "DORA"]
                }
            }
        }
    }

    @Test("A guest's deletions are removed with the expired session, on all servers")
    func guests() async throws {
        let access = try await ClusterAccess.temporary()
        let other = try access.shipNode()
        try await ShipsHarness.run(shared: access) { app in
            let token = try await app.enterAsGuest()
            _ = try await Self.names(app, token)
            #expect(try await app.ask(.delete, "/v1/ships/a1", as: token, body: "").status == 200)
            _ = try await other.store.users.catchUp()
            #expect(try other.store.accountsWithHiddenShips().count == 1)
            app.clock.advance(by: .seconds(401 * 86_400))
            try await app.sessions.endUnused()
            _ = try await other.store.users.catchUp()
            #expect(try other.store.accountsWithHiddenShips() == [])
        }
    }
}

import Foundation
import TestKit
import Testing

/// Two processes that serve notes from one PostgreSQL.
@Suite(.timeLimit(.minutes(10))) struct SharedNotesTests {
    private static func node(_ server: RunningPostgres, _ schema: String, _ settings: [String] = []) async throws
        -> RunningLarder
    {
        try await .sharing(server, schema, apps: "notes", ["--notes-scrypt-logarithm", "10"] + settings)
    }

    @Test("SCALE-22 C5 A process whose clock is 400 days ahead purges no trash; it waits for a store that starts later")
    func wrongClock() async throws {
        let server = try await RunningPostgres.start()
        let schema = try server.schema()
        let one = try await Self.node(server, schema)
        let bob = try await one.client.writer()
        let note = try #require(try await bob.post("/v1/notes", #"{"body":"kept"}"#).json.data.id.string)
        #expect(try await bob.delete("/v1/notes/\(note)").status == 200)
        #expect(await one.stop() == 0)
        try server.stop()
        let (data, ahead) = (try TemporaryFolder(), Date().addingTimeInterval(400 * 86_400).formatted(.iso8601))
        let two = RunningProcess([
            "serve", "--http-port", "0", "--data-directory", data.path, "--node-apps", "notes", "--sandbox",
            "--store-url", "\(server.address())&options=-csearch_path%3D\(schema)", "--clock-start", ahead,
        ])
        try await two.logged("waiting for the store")
        try server.restart()
        _ = try await two.line(after: "listening on ")
        try await two.logged("the clock differs from the store's")
        two.signal(SIGTERM)
        #expect(await two.ended() == 0)
        let three = try await Self.node(server, schema)
        let trash = try await bob.moved(to: three).get("/v1/notes/trash").json.data.items.elements
        #expect(trash.map(\.id.string) == [note])
        #expect(await three.stop() == 0)
    }

    @Test("SCALE-08 A change whose commit loses its store, which cannot be asked, is 502 outcome-unknown; all goes on")
    func unknownOutcome() async throws {
        let servers = try await SharedServers("notes")
        let larder = try await servers.start()
        let bob = try await larder.client.writer()
        try await servers.sql(
            """
            CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(600); RETURN NULL; END';
            CREATE CONSTRAINT TRIGGER hold AFTER INSERT ON journal DEFERRABLE INITIALLY DEFERRED
                FOR EACH ROW EXECUTE FUNCTION hold()
            """
        )
        async let cut = bob.post("/v1/notes", #"{"body":"made or not"}"#)
        try await BoundedWait.poll(for: "the commit") {
            let held = """
                SELECT count(*) FROM pg_stat_activity
                WHERE datname = current_database() AND wait_event = 'PgSleep' AND query = 'COMMIT'
                """
            return try await servers.sql(held) == "1"
        }
        try await servers.allowConnections(false)
        try await servers.endConnections()
        let response = try await cut
        #expect(response.status == 502 && response["Retry-After"] == nil)
        let problem = try response.json
        #expect(problem.code.string == "outcome-unknown" && problem.retryable.bool == false)
        try await servers.allowConnections(true)
        try await servers.sql("DROP TRIGGER hold ON journal")
        await BoundedWait.poll(for: "the store") {
            (try? await bob.post("/v1/notes", #"{"body":"later"}"#).status) == 201
        }
        let notes = try await bob.get("/v1/notes").json.data.items.elements
        #expect(notes.map(\.first_line.string) == ["later"])
        #expect(await larder.stop() == 0)
    }

    @Test("ONE-09 SCALE-05 A change whose server is killed is repeated at another one, which has the first response")
    func repeatedElsewhere() async throws {
        let server = try await RunningPostgres.shared.value
        let schema = try server.schema()
        let (one, two) = (try await Self.node(server, schema), try await Self.node(server, schema))
        let bob = try await one.client.writer()
        let fields = ["Idempotency-Key": "\"one\""]
        let first = try await bob.send("POST", "/v1/notes", fields, body: #"{"body":"one"}"#)
        #expect(first.status == 201)
        async let lost = bob.send("POST", "/v1/notes", ["Idempotency-Key": "\"two\""], body: #"{"body":"two"}"#)
        await one.kill9()
        _ = try? await lost
        let elsewhere = bob.moved(to: two)
        let again = try await elsewhere.send("POST", "/v1/notes", fields, body: #"{"body":"one"}"#)
        #expect(again.status == 201 && again.body == first.body && again["Idempotency-Replayed"] == "true")
        let second = try await elsewhere.send(
            "POST",
            "/v1/notes",
            ["Idempotency-Key": "\"two\""],
            body: #"{"body":"two"}"#
        )
        #expect(second.status == 201)
        #expect(try await elsewhere.get("/v1/notes").json.meta.page.total.number == 2)
        #expect(await two.stop() == 0)
    }

    @Test("SCALE-03 A session and its notes are known on the other process at once; after a logout they are not")
    func sessions() async throws {
        let server = try await RunningPostgres.shared.value
        let schema = try server.schema()
        let (one, two) = (try await Self.node(server, schema), try await Self.node(server, schema))
        let bob = try await one.client.writer("bob")
        let elsewhere = bob.moved(to: two)
        #expect(try await elsewhere.get("/v1/notes").json.meta.page.total.number == 0)
        let created = try await bob.post("/v1/notes", #"{"body":"Straße 12.50"}"#)
        #expect(created.status == 201)
        await BoundedWait.poll(for: "the note on the other process") {
            (try? await elsewhere.get("/v1/notes").json.meta.page.total.number == 1) == true
        }
        #expect(try await elsewhere.get("/v1/notes?q=strasse").json.data.items.elements.count == 1)
        #expect(
            try await elsewhere.get("/v1/notes/people?limit=3").json.data.items
                == bob.get("/v1/notes/people?limit=3").json.data.items
        )
        // SCALE-05: a name is registered once, at whichever process.
        #expect(try await two.client.post("/v1/notes/session", Client.account("BOB")).status == 409)
        let again = try await two.client.writer("bob", "login")
        #expect(try await again.moved(to: one).get("/v1/notes").status == 200)
        #expect(try await bob.delete("/v1/notes/session").status == 200)
        await BoundedWait.poll(for: "the end of the session on the other process") {
            (try? await elsewhere.get("/v1/notes").status == 401) == true
        }
        #expect(try await again.get("/v1/notes").status == 200)
        for larder in [one, two] { #expect(await larder.stop() == 0) }
    }
}

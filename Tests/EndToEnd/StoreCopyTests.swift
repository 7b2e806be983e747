import Foundation
import TestKit
import Testing

/// `larder store copy` between a data directory and PostgreSQL, with the real programs.
@Suite(.timeLimit(.minutes(15))) struct StoreCopyTests {
    private static func serve(_ data: TemporaryFolder, _ sandbox: RunningSandbox, store: String? = nil) async throws
        -> RunningLarder
    {
        try await .start(
            data: data,
            upstream: sandbox.spacex,
            ["--node-apps", "notes,pdf,shop,ships", "--notes-scrypt-logarithm", "10"]
                + sandbox.settings("catalogue", "people")
                + (store.map { ["--store-url", $0, "--store-connections", "4", "--store-timeout-ms", "20000"] } ?? [])
        )
    }

    private static func copy(_ source: String, _ target: String) -> RunningProcess {
        RunningProcess(["store", "copy", "--from", source, "--to", target])
    }

    /// Runs `larder store copy`, and returns its output.
    private static func copied(_ source: String, _ target: String) async throws -> String {
        let process = copy(source, target)
        let status = await process.ended()
        try #require(status == 0, "\(process.log)")
        return process.output
    }

    /// Returns why a copy was refused.
    private static func refusal(_ source: String, _ target: String) async -> String {
        let process = copy(source, target)
        let status = await process.ended()
        #expect(status == 1)
        return process.log
    }

    /// Users with data in all apps.
    private struct Users {
        var bob: Client
        var eve: Client
        var sailor: Client
        var documents: [String] = []

        /// Creates the users and their data.
        init(on larder: RunningLarder) async throws {
            bob = try await larder.client.writer("Bob")
            eve = try await larder.client.writer("Ёжик")
            sailor = try await larder.guest()
            var notes: [String] = []
            let bodies = ["Straße 12.50 👩‍👧", "e\u{301}te\u{301} 北京大学", "Papierkorb", "Привет"]
            for (number, body) in bodies.enumerated() {
                let place = #"{"lat":\#(50 + number),"lon":13.4}"#
                let made = try await bob.post("/v1/notes", #"{"body":"\#(body)","location":\#(place)}"#)
                notes.append(try #require(try made.json.data.href.string, "\(made.text)"))
            }
            #expect(try await bob.delete(notes[2]).status == 200)
            #expect(try await bob.get("/v1/notes/people?limit=3").status == 200)
            #expect(try await eve.post("/v1/notes", #"{"body":"Ёж"}"#).status == 201)
            let ship = try #require(try await sailor.get("/v1/ships").json.data.items[0].id.string)
            #expect(try await sailor.delete("/v1/ships/\(ship)").status == 200)
            for id in [3, 5, 7] {
                #expect(try await larder.client.post("/v1/shop/list/items", #"{"product_id":\#(id)}"#).status == 201)
            }
            let items = "/v1/shop/list/items"
            #expect(try await larder.client.send("PATCH", "\(items)/5", body: #"{"quantity":7}"#).status == 200)
            #expect(try await larder.client.get("/v1/shop/search?q=mug").status == 200)
            for name in ["Paß один", "Weg", nil] {
                let href = try await larder.client.document(of: [DocumentTests.photo, DocumentTests.photo])
                documents.append(href)
                guard let name else { continue }
                #expect(try await larder.client.post("\(href)/save", #"{"name":"\#(name)"}"#).status == 200)
            }
            #expect(try await larder.client.delete(documents[1]).status == 200)
        }

        /// Returns the users' data from screens, by path.
        func seen(on larder: RunningLarder) async throws -> [String: JSON] {
            let own = [
                "pdf/documents", "pdf/documents?q=pass", "pdf/trash", "shop/history", "shop/search?saved=1", "usage",
                "shop/list",
            ]
            let notes = ["notes", "notes?q=strasse", "notes?q=ete", "notes/trash", "notes/map", "notes/people?limit=5"]
            let asked: [(Client, [String])] = [
                (bob.moved(to: larder), notes), (eve.moved(to: larder), ["notes?limit=9"]),
                (sailor.moved(to: larder), ["ships", "ships?since_revision=1"]), (larder.client, own),
                (larder.client, [documents[0], documents[2]].map { String($0.dropFirst("/v1/".count)) }),
            ]
            var seen: [String: JSON] = [:]
            for (client, paths) in asked {
                for path in paths {
                    let response = try await client.get("/v1/\(path)")
                    #expect(response.status == 200, "\(path): \(response.text)")
                    seen[path] = Self.lasting(try response.json.data)
                }
            }
            return seen
        }

        /// Removes the members that depend on the time, such as "1 minute ago".
        private static func lasting(_ json: JSON) -> JSON {
            switch json {
            case .object(let members):
                .object(
                    members.filter { !$0.key.hasSuffix("_text") && !["sources", "fetched_at"].contains($0.key) }
                        .mapValues(lasting)
                )
            case .array(let items): .array(items.map(lasting))
            default: json
            }
        }

        /// The bytes of the files of documents.
        func files(on larder: RunningLarder) async throws -> [Data] {
            var files: [Data] = []
            for document in [documents[0], documents[2]] {
                let response = try await larder.client.get("\(document)/file")
                #expect(response.status == 200 && response.body.starts(with: Data("%PDF-".utf8)))
                files.append(response.body)
            }
            return files
        }
    }

    @Test("SCALE-18 What users made is the same there and back; a copy is refused beside a server, and onto other rows")
    func thereAndBack() async throws {
        let sandbox = try await RunningSandbox.start()
        let url = try await RunningPostgres.shared.value.database()
        let (first, second) = (try TemporaryFolder(), try TemporaryFolder())

        let before = try await Self.serve(first, sandbox)
        let users = try await Users(on: before)
        let (screens, files) = (try await users.seen(on: before), try await users.files(on: before))
        let opened = try await before.client.send(
            "POST",
            "/v1/ships/session",
            ["Larder-Session": "cookie", "Origin": before.client.base],
            body: #"{"mode":"guest"}"#
        )
        let cookie = ["Cookie": String(try #require(opened["Set-Cookie"]).prefix { $0 != ";" })]
        #expect(await Self.refusal(first.path, url).contains("is in use by another process"))
        #expect(await before.stop() == 0)
        let output = try await Self.copied(first.path, url)
        #expect(output.contains("note: 4 rows\n") && output.contains("not copied: paired devices, what is cached"))
        #expect(await Self.refusal(first.path, url).contains("The target is not empty"))

        let there = try await Self.serve(TemporaryFolder(), sandbox, store: url)
        let screensThere = try await users.seen(on: there)
        for (path, screen) in screens { #expect(screensThere[path] == screen, "\(path)") }
        #expect(try await users.files(on: there) == files)
        #expect(try await there.client.get("/v1/ships/session", cookie).status == 200)
        #expect(await Self.refusal(url, second.path).contains("Servers use the store"))
        #expect(await there.stop() == 0)

        #expect(try await Self.copied(url, second.path).contains("pdf_document: 3 rows\n"))
        #expect(await Self.refusal(url, second.path).contains("The target is not empty"))
        let back = try await Self.serve(second, sandbox)
        let screensBack = try await users.seen(on: back)
        for (path, screen) in screens { #expect(screensBack[path] == screen, "\(path)") }
        #expect(try await users.files(on: back) == files)
        #expect(try await back.client.get("/v1/ships/session", cookie).status == 200)
        // Numbers go on where they were.
        let next = try await users.bob.moved(to: back).post("/v1/notes", #"{"body":"next"}"#)
        #expect(try next.json.data.id.string == "n6")
        #expect(await back.stop() == 0)
    }

    @Test("SCALE-24 A backup beside servers with store.url has all users' data; a restored server or new store has it")
    func backup() async throws {
        let sandbox = try await RunningSandbox.start()
        let postgres = try await RunningPostgres.shared.value
        let url = try postgres.database()
        let folder = try TemporaryFolder()
        let target = folder.path + "/backup"
        let (one, two) = (try TemporaryFolder(), try TemporaryFolder())

        let first = try await Self.serve(one, sandbox, store: url)
        let second = try await Self.serve(two, sandbox, store: url)
        let users = try await Users(on: first)
        let (screens, files) = (try await users.seen(on: second), try await users.files(on: second))
        let settings = ["--node-apps", "notes,pdf,shop,ships", "--store-url", url, "--data-directory", two.path]
        let backup = RunningProcess(["backup", target] + settings)
        #expect(await backup.ended() == 0, "\(backup.log)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["backup"])
        // Later writes are not in it.
        #expect(try await users.bob.moved(to: second).post("/v1/notes", #"{"body":"later"}"#).status == 201)
        #expect(await first.stop() == 0)
        #expect(await second.stop() == 0)

        let restored = try TemporaryFolder()
        let restore = RunningProcess(["restore", target, "--data-directory", restored.path])
        #expect(await restore.ended() == 0, "\(restore.log)")
        let new = try postgres.database()
        _ = try await Self.copied(restored.path, new)
        for store in [nil, new] {
            let server = try await Self.serve(store == nil ? restored : TemporaryFolder(), sandbox, store: store)
            let seen = try await users.seen(on: server)
            for (path, screen) in screens { #expect(seen[path] == screen, "\(path) \(store ?? "")") }
            #expect(try await users.files(on: server) == files)
            #expect(await server.stop() == 0)
        }
    }

    private static let isAsleep = "wait_event = 'PgSleep'"

    /// Kills a copy, and ends what PostgreSQL still does for it.
    private static func kill(_ copy: RunningProcess, _ url: String) async throws {
        copy.signal(SIGKILL)
        _ = await copy.ended()
        let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE \(isAsleep)"
        try await RunningPostgres.sql(end, at: url)
    }

    private static func expectEmpty(_ url: String) async throws {
        let counts = ["journal", "journal_snapshot", "content"].map { "(SELECT count(*) FROM \($0))" }
        #expect(try await RunningPostgres.sql("SELECT \(counts.joined(separator: ", "))", at: url) == "0|0|0")
    }

    /// Interrupts copies into a store at their first file, then lets one end.
    private static func interruptCopies(_ source: TemporaryFolder, _ url: String, _ postgres: RunningPostgres)
        async throws
    {
        try await RunningPostgres.sql(
            """
            CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(600); RETURN new; END';
            CREATE TRIGGER held BEFORE INSERT ON content FOR EACH ROW EXECUTE FUNCTION wait()
            """,
            at: url
        )
        let killed = copy(source.path, url)
        try await wait(for: isAsleep, url)
        try await kill(killed, url)
        try await expectEmpty(url)

        let cut = copy(source.path, url)
        try await wait(for: isAsleep, url)
        try postgres.stop("immediate")
        #expect(await cut.ended() == 1)
        #expect(cut.log.contains("Nothing was copied."))
        try postgres.restart()
        try await expectEmpty(url)
        try await RunningPostgres.sql("DROP TRIGGER held ON content", at: url)
        _ = try await copied(source.path, url)
    }

    @Test("SCALE-18 A copy that is killed, or loses PostgreSQL, has copied nothing, and can be run again")
    func interrupted() async throws {
        let sandbox = try await RunningSandbox.start()
        let postgres = try await RunningPostgres.start()
        let url = try postgres.database()
        let (source, target) = (try TemporaryFolder(), try TemporaryFolder())
        let before = try await Self.serve(source, sandbox)
        let users = try await Users(on: before)
        let files = try await users.files(on: before)
        #expect(await before.stop() == 0)
        // Its tables.
        let first = try await Self.serve(TemporaryFolder(), sandbox, store: url)
        #expect(await first.stop() == 0)
        try await Self.interruptCopies(source, url, postgres)

        // The way back waits for the first file, with other rows behind it.
        let holder = Task {
            _ = try? await RunningPostgres.sql("BEGIN; LOCK TABLE content_part; SELECT pg_sleep(600)", at: url)
        }
        try await Self.wait(for: Self.isAsleep, url)
        let killedBack = Self.copy(url, target.path)
        try await Self.wait(for: "wait_event_type = 'Lock' AND application_name = 'larder-copy'", url)
        try await Self.kill(killedBack, url)
        _ = await holder.value
        _ = try await Self.copied(url, target.path)
        let back = try await Self.serve(target, sandbox)
        #expect(try await users.files(on: back) == files)
        #expect(await back.stop() == 0)
    }

    private static func wait(for state: String, _ url: String) async throws {
        try await BoundedWait.poll(for: "a connection with \(state)") {
            let statement = "SELECT count(*) > 0 FROM pg_stat_activity WHERE \(state)"
            return try await RunningPostgres.sql(statement, at: url) == "t"
        }
    }
}

import Foundation
import TestKit
import Testing

/// Two processes with one PostgreSQL: kept responses, events, counters and conflicts span both.
@Suite(.timeLimit(.minutes(10))) struct SharedNodesTests {
    private static func events(of client: Client, after identity: String? = nil) async throws -> EventListener {
        let token = try #require(client.token)
        let url = client.base + "/v1/events?app=notes"
        return try await EventListener.open(url, ["Authorization": "Bearer \(token)"], lastEventID: identity)
    }

    private static func write(_ count: Int, _ client: Client) async throws {
        for _ in 0..<count { #expect(try await client.post("/v1/notes", #"{"body":"note"}"#).status == 201) }
    }

    @Test("SCALE-09 While only its listener is cut off, a process gives no kept notes; it hears again afterwards")
    func listener() async throws {
        let servers = try await SharedServers("notes")
        let (one, two) = (try await servers.start(), try await servers.start())
        let ann = try await one.client.writer("ann")
        let elsewhere = ann.moved(to: two)
        let heard = try await Self.events(of: elsewhere)
        try await Self.write(1, ann)
        _ = try await two.cached(elsewhere, "/v1/notes")
        // The connections that are open go on; the listeners cannot connect again.
        try await servers.allowConnections(false)
        #expect(try await servers.endListeners() == 2)
        for larder in [one, two] {
            await BoundedWait.poll(for: "the end of the listener") {
                (try? await larder.client.get("/metrics").text.contains("larder_store_hearing 0")) == true
            }
        }
        try await Self.write(1, ann)
        let before = try await two.cachedResponses()
        for _ in 0..<5 { #expect(try await elsewhere.get("/v1/notes").json.meta.page.total.int == 2) }
        #expect(try await two.cachedResponses() == before)
        try await servers.allowConnections(true)
        let reset = try await heard.next("reset")
        #expect(reset != nil)
        for larder in [one, two] {
            await BoundedWait.poll(for: "another listener") {
                (try? await larder.client.get("/metrics").text.contains("larder_store_hearing 1")) == true
            }
        }
        _ = try await two.cached(elsewhere, "/v1/notes")
        try await Self.write(1, ann)
        let change = try await heard.next("screen-changed")
        #expect(change?.data.screen.string == "notes.list")
        #expect(try await elsewhere.get("/v1/notes").json.meta.page.total.int == 3)
        for larder in [one, two] { #expect(await larder.stop() == 0) }
    }

    @Test("SCALE-23 A process that alone does not reach the store is not ready for its proxy; its screens go on")
    func alone() async throws {
        let servers = try await SharedServers("notes")
        let role = try await servers.makeRole()
        let (one, two) = (try await servers.start(), try await servers.start(as: role))
        let asking = "/health/ready?store=1"
        for larder in [one, two] { #expect(try await larder.client.get(asking).status == 200) }
        let ann = try await two.client.writer("ann")
        try await Self.write(1, ann)
        try await servers.allow(role, false)
        await BoundedWait.poll(for: "a process that is not ready") {
            (try? await two.client.get(asking).status) == 503
        }
        let refused = try await two.client.get(asking)
        #expect(try refused.json.code.string == "store-unavailable" && refused["Retry-After"] != nil)
        #expect(try await two.client.get("/health/ready").status == 200)
        #expect(try await one.client.get(asking).status == 200)
        let stale = try await ann.get("/v1/notes").json
        #expect(stale.meta.stale.bool == true && stale.meta.page.total.int == 1)
        #expect(try await ann.moved(to: one).get("/v1/notes").json.meta.stale.bool == false)
        for _ in 0..<20 { #expect(try await ann.post("/v1/notes", #"{"body":"note"}"#).status == 503) }
        #expect(!two.process.log.contains("status=503"), "requests that fail for want of the store have one line")
        try await servers.allow(role, true)
        await BoundedWait.poll(for: "a process that is ready again") {
            (try? await two.client.get(asking).status) == 200
        }
        try await Self.write(1, ann)
        let metrics = try await two.client.get("/metrics").text
        #expect(metrics.contains("larder_store_operation_duration_seconds_count "))
        for larder in [one, two] { #expect(await larder.stop() == 0) }
    }

    @Test("C5 A process that starts while its store is away shows what it has, stale, to no session; then all goes on")
    func startedAlone() async throws {
        let servers = try await SharedServers("notes,shop")
        let (one, two) = (try await servers.start(), try await servers.start())
        let ann = try await one.client.writer("ann")
        let adding = "/v1/shop/list/items"
        #expect(try await one.client.post(adding, #"{"product_id":1}"#).status == 201)
        #expect(await one.stop() == 0)
        #expect(try await ann.moved(to: two).delete("/v1/notes/session").status == 200)
        #expect(try await two.client.post(adding, #"{"product_id":2}"#).status == 201)
        try await servers.allowConnections(false)
        try await servers.endConnections()

        let again = try await servers.start(on: one.data)
        try await again.process.logged("waiting for the store")
        #expect(try await again.client.get("/health/ready").status == 200)
        #expect(try await again.client.get("/health/ready?store=1").status == 503)
        let list = try await again.client.get("/v1/shop/list").json
        #expect(list.meta.stale.bool == true && list.meta.banner.code.string == "store-unavailable")
        #expect(list.data.items.elements.map(\.product_id.int) == [1])
        let refused = try await ann.moved(to: again).get("/v1/notes")
        #expect(refused.status == 503 && refused["Retry-After"] != nil)
        #expect(try refused.json.code.string == "store-unavailable")
        // Her password may have been changed meanwhile.
        let login = Client.account("ann", "login", password: "wrong")
        #expect(try await again.client.post("/v1/notes/session", login).status == 503)
        #expect(try await again.client.post(adding, #"{"product_id":3}"#).status == 503)

        try await servers.allowConnections(true)
        await BoundedWait.poll(for: "the store") {
            (try? await again.client.get("/v1/shop/list").json.meta.stale.bool) == false
        }
        let items = try await again.client.get("/v1/shop/list").json.data.items.elements
        #expect(Set(items.compactMap(\.product_id.int)) == [1, 2])
        #expect(try await ann.moved(to: again).get("/v1/notes").status == 401)
        #expect(try await again.client.post(adding, #"{"product_id":3}"#).status == 201)
        for larder in [again, two] { #expect(await larder.stop() == 0) }
    }

    @Test("C5 SCALE-28 A process whose database or user its store does not have is refused at the start, by name")
    func notAdmitted() async throws {
        let server = try await RunningPostgres.shared.value
        let data = try TemporaryFolder()
        for (address, name) in [
            (server.address("none"), "database \"none\" does not exist"),
            (server.address().replacing("larder@", with: "nobody@"), "role \"nobody\" does not exist"),
        ] {
            let process = RunningProcess([
                "serve", "--http-port", "0", "--data-directory", data.path, "--node-apps", "notes", "--sandbox",
                "--store-url", address,
            ])
            #expect(await process.ended() == 1)
            #expect(process.log.contains(name), "\(process.log)")
        }
    }

    @Test("C5 A process that has started without its store ends by name if that does not fit once it responds")
    func startedWrong() async throws {
        let servers = try await SharedServers("notes")
        let one = try await servers.start()
        _ = try await one.client.writer("ann")
        #expect(await one.stop() == 0)
        try await servers.sql("UPDATE journal SET number = number + 1000000000000")
        try await servers.allowConnections(false)
        try await servers.endConnections()
        let again = try await servers.start(on: one.data)
        try await servers.allowConnections(true)
        #expect(await again.process.ended() == 78)
        #expect(again.process.log.contains("restored from another PostgreSQL"))
    }

    @Test("SCALE-10 A change is heard at the other process within a second, by its account only; who moves gets reset")
    func audiences() async throws {
        let servers = try await SharedServers("notes")
        let (one, two) = (try await servers.start(), try await servers.start())
        let ann = try await one.client.writer("ann")
        let tom = try await two.client.writer("tom")
        let (toAnn, toTom) = (try await Self.events(of: ann.moved(to: two)), try await Self.events(of: tom))
        // The fastest of some: this machine may be busy.
        var times: [Duration] = []
        for _ in 0..<5 {
            let begin = ContinuousClock.now
            try await Self.write(1, ann)
            while let event = try await toAnn.next("screen-changed"), event.data.screen.string != "notes.map" {}
            times.append(begin.duration(to: .now))
        }
        let fastest = try #require(times.min())
        #expect(fastest < .seconds(1), "\(times)")
        try await Self.write(1, tom.moved(to: one))
        let first = try await toTom.next("screen-changed")
        #expect(first?.data.revision.int == 1, "the notes of ann have later revisions")
        let moved = try await Self.events(of: ann, after: toAnn.identity)
        let answer = try await moved.next()
        #expect(answer?.kind == "reset")
        for larder in [one, two] { #expect(await larder.stop() == 0) }
    }

    @Test("SCALE-12 Ten wrong passwords over two processes: the eleventh is 429 on both")
    func passwords() async throws {
        let servers = try await SharedServers("notes")
        let (one, two) = (try await servers.start(), try await servers.start())
        _ = try await one.client.writer("max")
        let wrong = Client.account("max", "login", password: "wrong password")
        for larder in [one, two, one, two, one, two, one, two, one, two] {
            #expect(try await larder.client.post("/v1/notes/session", wrong).status == 401)
        }
        for larder in [one, two] {
            #expect(try await larder.client.post("/v1/notes/session", wrong).status == 429)
            #expect(await larder.stop() == 0)
        }
    }

    /// The statuses of ten changes at a time, in turn at two processes.
    private static func changes(_ clients: [Client], _ path: String, _ tag: String?, _ field: String) async throws
        -> [Int]
    {
        try await withThrowingTaskGroup(of: Int.self, returning: [Int].self) { group in
            for number in 0..<10 {
                let fields = tag.map { ["If-Match": $0] } ?? [:]
                let body = #"{"\#(field)":"change \#(number)"}"#
                group.addTask { try await clients[number % 2].send("PATCH", path, fields, body: body).status }
            }
            var statuses: [Int] = []
            for try await status in group { statuses.append(status) }
            return statuses.sorted()
        }
    }

    @Test("SCALE-15 Of ten changes of one version on two processes one is made; without If-Match all are made")
    func versions() async throws {
        let servers = try await SharedServers("notes,pdf")
        let (one, two) = (try await servers.start(), try await servers.start())
        let ann = try await one.client.writer("ann")
        let clients = [ann, ann.moved(to: two)]
        let id = try await ann.post("/v1/notes", #"{"body":"first"}"#).json.data.id
        let note = "/v1/notes/\(id.string ?? id.int.map { String($0) } ?? "")"
        let document = try await one.client.document(of: [DocumentTests.photo])
        #expect(try await one.client.post("\(document)/save", "{}").status == 200)
        for (path, field) in [(note, "body"), (document, "name")] {
            let weak = try #require(try await ann.get(path)["ETag"])
            let tag = weak.hasPrefix("W/") ? String(weak.dropFirst(2)) : weak
            let decided = try await Self.changes(clients, path, tag, field)
            #expect(decided == [200] + Array(repeating: 412, count: 9), "\(path)")
            let made = try await Self.changes(clients, path, nil, field)
            #expect(made == Array(repeating: 200, count: 10), "\(path)")
        }
        for larder in [one, two] { #expect(await larder.stop() == 0) }
    }

    @Test("NOTE-11 The operator resets a password beside running processes; all sessions end on all of them")
    func reset() async throws {
        let servers = try await SharedServers("notes")
        let (one, two) = (try await servers.start(), try await servers.start())
        let bob = try await one.client.writer("bob", password: "correct horse")
        let elsewhere = bob.moved(to: two)
        #expect(try await elsewhere.get("/v1/notes").status == 200)
        let folder = try TemporaryFolder()
        let reset = { (user: String, url: String) in
            let process = RunningProcess(
                [
                    "account", "reset-password", "--user", user, "--data-directory", folder.path, "--node-apps",
                    "notes", "--store-url", url, "--notes-scrypt-logarithm", "10",
                ],
                input: "battery staple\n"
            )
            return (status: await process.ended(), text: process.output + process.log)
        }
        #expect(await reset("eve", servers.url).status == 1)
        let away = await reset("bob", "postgresql://larder@/none?host=\(folder.path)")
        #expect(away.status == 1 && away.text.contains("larder: "), "\(away.text)")
        #expect(try await elsewhere.get("/v1/notes").status == 200)
        let done = await reset("BOB", servers.url)
        #expect(done.status == 0 && !done.text.contains("battery"), "\(done.text)")
        for client in [bob, elsewhere] {
            await BoundedWait.poll(for: "the end of the session") {
                (try? await client.get("/v1/notes").status == 401) == true
            }
        }
        for (larder, password) in [(one, "correct horse"), (two, "battery staple")] {
            let login = Client.account("bob", "login", password: password)
            let status = try await larder.client.post("/v1/notes/session", login).status
            #expect(status == (password == "correct horse" ? 401 : 201))
            #expect(await larder.stop() == 0)
        }
    }
}

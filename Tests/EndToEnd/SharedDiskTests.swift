import Foundation
import GRDB
import TestKit
import Testing

/// Processes that serve the Disk from one PostgreSQL, with one simulated Yandex Disk behind them.
@Suite(.timeLimit(.minutes(10))) struct SharedDiskTests {
    private typealias Nodes = SharedDiskNodes

    @Test("SCALE-03 A login, a change and a logout at one process hold at the other, also of kept responses")
    func sessions() async throws {
        let nodes = try await Nodes()
        let (one, two) = (try await nodes.start(), try await nodes.start())
        let member = try await one.client.diskUser()
        let elsewhere = member.moved(to: two)
        let session = try await elsewhere.get("/v1/disk/session")
        #expect(session.status == 200, "\(session.text)")
        let before = try await two.cached(elsewhere, "/v1/disk/files").json
        let made = try await member.post("/v1/disk/folders", #"{"path":"/From one"}"#)
        #expect(made.status == 201, "\(made.text)")
        #expect(!before.data.items.elements.contains { $0.name.string == "From one" })
        await BoundedWait.poll(for: "the folder at the other process") {
            let after = try? await elsewhere.get("/v1/disk/files").json.data.items.elements
            return after?.contains { $0.name.string == "From one" } == true
        }
        #expect(try await elsewhere.get("/v1/disk/profile").status == 200)

        #expect(try await member.delete("/v1/disk/session?confirm=true").status < 300)
        await BoundedWait.poll(for: "the logout at the other process") {
            (try? await elsewhere.get("/v1/disk/files").status) == 401
        }
        #expect(try await elsewhere.get("/v1/disk/session").status == 401)
        for larder in [one, two] { #expect(await larder.stop() == 0) }
    }

    /// Rows of accounts in a data directory.
    private static func rows(in data: TemporaryFolder) throws -> Int {
        var configuration = Configuration()
        configuration.readonly = true
        let queue = try DatabaseQueue(
            path: data.url.appending(path: "larder.sqlite").path,
            configuration: configuration
        )
        let tables = [
            "disk_account", "disk_cache", "disk_login", "user_secret", "disk_item", "disk_offline",
            "disk_offline_check", "disk_offline_entry", "disk_download",
        ]
        return try queue.read { db in
            try tables.reduce(0) { try $0 + (Int.fetchOne(db, sql: "SELECT count(*) FROM \($1)") ?? 0) }
        }
    }

    @Test("SCALE-06 After a logout at one process nothing is left at others, nor at one that was down")
    func logout() async throws {
        let nodes = try await Nodes()
        let data = try (0..<3).map { _ in try TemporaryFolder() }
        let (one, two) = (try await nodes.start(data[0]), try await nodes.start(data[1]))
        let down = try await nodes.start(data[2])
        let member = try await one.client.diskUser()
        let file = #"{"path":"disk:/keep/a.txt","text":"kept"}"#
        #expect(try await nodes.sandbox.control.put("/yandex_disk/files", file).status < 300)
        for larder in [one, two, down] {
            let client = member.moved(to: larder)
            #expect(try await client.get("/v1/disk/files").status == 200)
            #expect(try await client.get("/v1/disk/recent").status == 200)
        }
        #expect(try await member.put("/v1/disk/offline", #"{"path":"/keep"}"#).status == 201)
        await down.kill9()
        #expect(try Self.rows(in: data[2]) > 2)

        #expect(try await member.moved(to: two).delete("/v1/disk/session?confirm=true").status < 300)
        await BoundedWait.poll(for: "the rows at the other process to go") {
            (try? Self.rows(in: data[0])) == 0
        }
        #expect(try Self.rows(in: data[1]) == 0)
        let up = try await nodes.start(data[2])
        #expect(try Self.rows(in: data[2]) == 0, "wiped before it listens")
        #expect(try await member.moved(to: up).get("/v1/disk/files").status == 401)
        for larder in [one, two, up] { #expect(await larder.stop() == 0) }
    }

    /// Logs in by a code, so that the account has a token that can be refreshed.
    private static func memberByCode(_ larder: RunningLarder) async throws -> Client {
        var member = larder.client
        let begun = try await member.post("/v1/disk/session/authorization", "{}").json.data
        let page = try await Client(base: try #require(begun.authorize_url.string)).get("").text
        let code = page.split(separator: "<code id=\"code\">").last?.split(separator: "<").first ?? ""
        let login = #"{"mode":"oauth_code","code":"\#(code)","state":"\#(begun.state.string ?? "")"}"#
        let response = try await member.post("/v1/disk/session", login)
        #expect(response.status == 201, "\(response.text)")
        member.token = try response.json.data.token.string
        return member
    }

    @Test("SCALE-16 A refresh token is used once by two processes, however many requests need a new token")
    func refresh() async throws {
        let nodes = try await Nodes()
        let (one, two) = (try await nodes.start(), try await nodes.start())
        let consent = #"{"consent":"allow","account":"anna","lifetime_s":30}"#
        #expect(try await nodes.sandbox.control.put("/yandex_oauth/consent", consent).status < 300)
        let member = try await Self.memberByCode(one)
        let clients = [member, member.moved(to: two)]
        // A token that ends within a minute is refreshed before each request.
        for _ in 0..<5 {
            try await withThrowingTaskGroup(of: ReceivedResponse.self) { group in
                for number in 0..<8 {
                    group.addTask { try await clients[number % 2].get("/v1/disk/files?refresh=1") }
                }
                for try await response in group { #expect(response.status == 200, "\(response.text)") }
            }
        }
        #expect(try await nodes.sandbox.count("upstream=yandex_oauth&method=POST&status=400") == 0)
        #expect(try await nodes.sandbox.count("upstream=yandex_oauth&method=POST") > 2)
        for larder in [one, two] { #expect(await larder.stop() == 0) }
    }

    @Test("SCALE-06 A download whose process is killed is shown by another one, which ends it")
    func downloads() async throws {
        let nodes = try await Nodes()
        let (one, two) = (try await nodes.start(), try await nodes.start())
        let member = try await one.client.diskUser()
        let elsewhere = member.moved(to: two)
        let path = try #require(try await member.get("/v1/disk/recent?limit=1").json.data.items[0].path.string)
        try await nodes.sandbox.fault("hold", of: "yandex_downloader")
        let job = try await member.post("/v1/disk/downloads", #"{"path":"\#(path)"}"#)
        let href = try #require(job["Location"], "\(job.text)")
        try await nodes.sandbox.arrived(1, at: "yandex_downloader")
        let shown = try await elsewhere.get(href)
        #expect(shown.status == 202, "\(shown.text)")
        await one.kill9()
        try await nodes.sandbox.fault("online", of: "yandex_downloader")
        try await nodes.sandbox.release("yandex_downloader")
        // The lease of the killed process runs out first.
        try await BoundedWait.poll(for: "the other process to end the download") {
            try await elsewhere.get(href).status == 200
        }
        let ended = try await elsewhere.get(href).json.data
        #expect(ended.status.string == "done")
        let content = try #require(ended.content_url.string)
        #expect(try await elsewhere.get(content)["Cache-Status"] == "larder; hit")
        #expect(await two.stop() == 0)
    }

    @Test("SCALE-03 A mark of one process is another's, which keeps the file itself; unmarking removes it on both")
    func marks() async throws {
        let nodes = try await Nodes()
        let (one, two) = (try await nodes.start(), try await nodes.start())
        let file = #"{"path":"disk:/keep/a.txt","text":"kept"}"#
        #expect(try await nodes.sandbox.control.put("/yandex_disk/files", file).status < 300)
        let member = try await one.client.diskUser()
        let elsewhere = member.moved(to: two)
        #expect(try await elsewhere.get("/v1/disk/offline").json.data.items.elements.isEmpty)
        #expect(try await member.put("/v1/disk/offline", #"{"path":"/keep"}"#).status == 201)
        for client in [member, elsewhere] {
            try await BoundedWait.poll(for: "the file to be kept") {
                let items = try await client.get("/v1/disk/offline").json.data.items.elements
                return items.contains { $0.path.string == "disk:/keep" && $0.state.string == "kept" }
            }
        }
        #expect(try await elsewhere.delete("/v1/disk/offline?path=/keep").status < 300)
        #expect(try await member.get("/v1/disk/offline").json.data.items.elements.isEmpty)
        for larder in [one, two] { #expect(await larder.stop() == 0) }
    }

    @Test("SCALE-23 While PostgreSQL is away the Disk is shown, stale with a text, and not changed; then all goes on")
    func storeAway() async throws {
        let nodes = try await Nodes()
        let larder = try await nodes.start()
        let member = try await larder.client.diskUser()
        let file = #"{"path":"disk:/keep/a.txt","text":"kept"}"#
        #expect(try await nodes.sandbox.control.put("/yandex_disk/files", file).status < 300)
        #expect(try await member.put("/v1/disk/offline", #"{"path":"/keep"}"#).status == 201)
        let screens = ["files", "recent", "published", "trash", "profile", "search?q=a", "offline", "outbox"]
        for screen in screens { #expect(try await member.get("/v1/disk/\(screen)").json.meta.stale.bool == false) }
        try await nodes.servers.allowConnections(false)
        try await nodes.servers.endConnections()
        try await BoundedWait.poll(for: "the rows to be out of date") {
            try await member.get("/v1/disk/offline").json.meta.stale.bool == true
        }
        for screen in screens + ["file?path=/keep"] {
            let shown = try await member.get("/v1/disk/\(screen)")
            let meta = try shown.json.meta
            #expect(shown.status == 200 && meta.stale.bool == true, "\(screen): \(shown.text)")
            #expect(meta.banner.code.string == "store-unavailable", "\(screen)")
        }
        #expect(try await member.get("/v1/disk/offline").json.data.items.elements.count == 1)
        let refused = try await member.delete("/v1/disk/offline?path=/keep")
        #expect(refused.status == 503 && refused.text.contains("store-unavailable"), "\(refused.text)")
        try await nodes.servers.allowConnections(true)
        try await BoundedWait.poll(for: "the store") {
            try await member.get("/v1/disk/offline").json.meta.stale.bool == false
        }
        #expect(try await member.delete("/v1/disk/offline?path=/keep").status < 300)
        #expect(await larder.stop() == 0)
    }

    @Test("ONE-09 SCALE-07 A write of the Disk with a key, sent or waiting, is made once, by whichever process")
    func repeatedWrites() async throws {
        let nodes = try await Nodes()
        let (one, two) = (try await nodes.start(), try await nodes.start())
        let member = try await one.client.diskUser()
        let elsewhere = member.moved(to: two)
        for client in [member, elsewhere] { #expect(try await client.get("/v1/disk/files").status == 200) }
        func make(_ path: String, _ key: String, _ client: Client) async throws -> ReceivedResponse {
            let fields = ["Idempotency-Key": "\"\(key)\"", "Prefer": "respond-async"]
            return try await client.send("POST", "/v1/disk/folders", fields, body: #"{"path":"\#(path)"}"#)
        }
        let sent = try await make("/Sent", "sent", member)
        #expect(sent.status == 201, "\(sent.text)")
        let reused = try await make("/Other", "sent", elsewhere)
        #expect(reused.status == 422 && reused.text.contains("idempotency-key-reused"), "\(reused.text)")
        // At the same time at both: one makes it, the other one has its response, or is to ask again.
        async let first = make("/Both", "both", member)
        async let second = make("/Both", "both", elsewhere)
        let both = try await [first, second]
        #expect(both.contains { $0.status == 201 } && both.allSatisfy { [201, 409].contains($0.status) })

        try await nodes.sandbox.fault("offline", of: "yandex_disk")
        for client in [member, elsewhere] { _ = try await client.get("/v1/disk/files?refresh=1") }
        let left = try await make("/Left", "left", elsewhere)
        #expect(left.status == 202, "\(left.text)")
        await two.kill9()
        let three = try await nodes.start()
        for (path, key, response) in [("/Sent", "sent", sent), ("/Left", "left", left)] {
            for client in [member, member.moved(to: three)] {
                let again = try await make(path, key, client)
                #expect(again.status == response.status && again.body == response.body, "\(again.text)")
                #expect(again["Idempotency-Replayed"] == "true")
            }
        }
        #expect(try await member.get("/v1/disk/outbox").json.data.items.elements.count == 1)
        try await nodes.sandbox.fault("online", of: "yandex_disk")
        try await member.outboxDrained()
        #expect(try await nodes.sandbox.count("upstream=yandex_disk&method=PUT&status=201") == 3, "each once")
        for larder in [one, three] { #expect(await larder.stop() == 0) }
    }

    @Test("A process with another key than the others does not start, nor one without a key")
    func keys() async throws {
        let nodes = try await Nodes()
        let one = try await nodes.start()
        let other = try TemporaryFolder()
        let key = try other.writePrivately("other.key", Data(repeating: 8, count: 32))
        let exposed = other.url.appending(path: "exposed.key")
        try Data(repeating: 7, count: 32).write(to: exposed)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: exposed.path)
        for (key, reason) in [
            (key, "store.key_file"), (nil, "store.key_file"), ("/missing", "/missing"), (exposed.path, "Every user"),
        ] {
            let refused = RunningProcess(
                [
                    "serve", "--http-port", "0", "--data-directory", try TemporaryFolder().path, "--node-apps", "disk",
                    "--store-url", nodes.servers.url,
                ] + (key.map { ["--store-key-file", $0] } ?? [])
            )
            #expect(await refused.ended() != 0)
            #expect(refused.log.contains(reason), "\(refused.log)")
        }
        #expect(await one.stop() == 0)
    }
}

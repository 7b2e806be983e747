import Foundation
import TestKit
import Testing

/// The outbox of two processes of one PostgreSQL, with one simulated Yandex Disk behind them.
@Suite(.timeLimit(.minutes(60))) struct SharedDiskOutboxTests {
    /// Number of kills; more by `OUTBOX_NODE_KILLS`.
    static let kills = ProcessInfo.processInfo.environment["OUTBOX_NODE_KILLS"].flatMap { Int($0) } ?? 3

    private let nodes: SharedDiskNodes
    private var sandbox: RunningSandbox { nodes.sandbox }

    init() async throws { nodes = try await SharedDiskNodes() }

    private func start(_ data: TemporaryFolder? = nil) async throws -> RunningLarder {
        try await nodes.start(data, ["--upstreams-yandex-disk-probe-interval-ms", "100"])
    }

    /// Logs in at one process, and reads at both the lists that writes need.
    private func member(_ larders: [RunningLarder]) async throws -> Client {
        let member = try await larders[0].client.diskUser()
        for larder in larders { #expect(try await member.moved(to: larder).get("/v1/disk/files").status == 200) }
        return member
    }

    private func paths(_ client: Client) async throws -> [String] {
        try await client.get("/v1/disk/outbox").json.data.items.elements.compactMap { $0.path.string }
    }

    @Test("OUT-02 SCALE-07 What one process was sending when it was killed is looked at by another, and sent once")
    func takeover() async throws {
        let larders = [try await start(), try await start()]
        let member = try await member(larders)
        let clients = larders.map { member.moved(to: $0) }
        try await sandbox.fault("offline", of: "yandex_disk")
        try await clients[0].leaveFolder("/first")
        let bytes = String(repeating: "0123456789abcdef", count: 100_000)
        let target = "/v1/disk/file/content?path=/waits.txt"
        let upload = try await clients[0].send("PUT", target, ["Prefer": "respond-async"], body: bytes)
        #expect(upload.status == 202, "\(upload.text)")
        let href = try #require(upload["Location"])
        try await clients[1].leaveFolder("/last")
        for client in clients {
            #expect(try await paths(client) == ["disk:/first", "disk:/waits.txt", "disk:/last"])
            #expect(try await client.get(target).text == bytes, "each process has the bytes")
        }
        // The upload is carried out, and the process that sends it never hears of that.
        let hold = #"{"match":{"method":"PUT"},"faults":["hold"]}"#
        #expect(try await sandbox.control.post("/upstreams/yandex_uploader/rules", hold).status < 300)
        try await sandbox.fault("online", of: "yandex_disk")
        try await sandbox.held(at: "yandex_uploader")
        var sender = 0
        try await BoundedWait.poll(for: "one process to show the progress of the upload") {
            for (number, client) in clients.enumerated() {
                let progress = try await client.get(href).json.data.progress.number
                if progress ?? 0 > 0 {
                    sender = number
                    return true
                }
            }
            return false
        }
        await larders[sender].kill9()
        try await sandbox.release("yandex_uploader")
        #expect(try await sandbox.control.send("DELETE", "/upstreams/yandex_uploader/rules").status < 300)
        let other = clients[1 - sender]
        try await other.outboxDrained()
        #expect(try await other.get(href).json.data.state.string == "done")
        #expect(try await sandbox.created() == ["disk:/first", "disk:/last"], "each once, in order")
        #expect(try await sandbox.count("upstream=yandex_uploader&method=PUT&status=201") == 1)
        #expect(try await other.get(target + "&refresh=1").text == bytes)
        #expect(await larders[1 - sender].stop() == 0)
    }

    @Test("OUT-02 SCALE-07 What was answered 202 by either process survives kill -9 of any, and is sent once, in order")
    func kills() async throws {
        let data = [try TemporaryFolder(), try TemporaryFolder()]
        var larders = [try await start(data[0]), try await start(data[1])]
        let member = try await member(larders)
        var left: [String] = []
        for kill in 0..<Self.kills {
            try await sandbox.fault("offline", of: "yandex_disk")
            for number in 0..<4 {
                let path = "/kill \(kill) \(number)"
                try await member.moved(to: larders[Int.random(in: 0...1)]).leaveFolder(path)
                left.append("disk:" + path)
            }
            let before = try await sandbox.created().count
            try await sandbox.fault("online", of: "yandex_disk")
            let sent = before + Int.random(in: 1...3)
            try await BoundedWait.poll(for: "writes to be sent") { try await sandbox.created().count >= sent }
            let killed = Int.random(in: 0...1)
            await larders[killed].kill9()
            larders[killed] = try await start(data[killed])
        }
        try await member.moved(to: larders[0]).outboxDrained()
        try await member.moved(to: larders[1]).outboxDrained()
        #expect(try await sandbox.created() == left, "each once, in order")
        for larder in larders { #expect(await larder.stop() == 0) }
    }

    @Test("OUT-07 What is carried out while the store is away is not sent again", arguments: [false, true])
    func storeAway(isShort: Bool) async throws {
        let larder = try await start()
        let member = try await member([larder])
        try await sandbox.fault("offline", of: "yandex_disk")
        for name in ["one", "two", "three"] { try await member.leaveFolder("/\(name)") }
        let hold = #"{"match":{"method":"PUT"},"faults":["hold"]}"#
        #expect(try await sandbox.control.post("/upstreams/yandex_disk/rules", hold).status < 300)
        try await sandbox.fault("online", of: "yandex_disk")
        try await sandbox.held(at: "yandex_disk")
        try await nodes.servers.allowConnections(false)
        try await nodes.servers.endConnections()
        #expect(try await sandbox.control.send("DELETE", "/upstreams/yandex_disk/rules").status < 300)
        try await sandbox.release("yandex_disk")
        if !isShort {
            try await BoundedWait.poll(for: "the write to be carried out") { try await sandbox.created().count == 1 }
            try await BoundedWait.poll(for: "the outbox to be out of date") {
                try await member.get("/v1/disk/outbox").json.meta.stale.bool == true
            }
        }
        try await nodes.servers.allowConnections(true)
        try await member.outboxDrained()
        #expect(try await sandbox.created() == ["disk:/one", "disk:/two", "disk:/three"], "each once, in order")
        #expect(try await sandbox.count("upstream=yandex_disk&method=PUT") == 3)
        #expect(await larder.stop() == 0)
    }

    @Test("SCALE-06 A logout asks with what waits at the other process, and removes it from the store with its bytes")
    func logout() async throws {
        let larders = [try await start(), try await start()]
        let member = try await member(larders)
        let elsewhere = member.moved(to: larders[1])
        try await sandbox.fault("offline", of: "yandex_disk")
        let target = "/v1/disk/file/content?path=/waits.txt"
        let upload = try await member.send("PUT", target, ["Prefer": "respond-async"], body: "bytes")
        #expect(upload.status == 202, "\(upload.text)")
        #expect(try await elsewhere.get("/v1/disk/outbox").json.meta.pending.int == 1)
        let question = try await elsewhere.delete("/v1/disk/session")
        #expect(question.status == 409 && question.text.contains("1"), "\(question.text)")
        #expect(try await elsewhere.delete("/v1/disk/session?confirm=true").status < 300)
        let kept = "SELECT count(*) FROM content WHERE unused IS DISTINCT FROM '-infinity'"
        #expect(try await nodes.servers.sql(kept) == "0")
        try await sandbox.fault("online", of: "yandex_disk")
        #expect(try await member.get("/v1/disk/outbox").status == 401)
        for larder in larders { #expect(await larder.stop() == 0) }
    }

    /// Sends a random write, or takes one back. Another of the three may have changed the same thing.
    private func change(_ client: Client, _ other: Client, _ random: inout SeededRandom) async throws {
        let (kind, number) = (Int.random(in: 0..<5, using: &random), Int.random(in: 0..<1000, using: &random))
        let items = try await other.get(kind == 4 ? "/v1/disk/outbox" : "/v1/disk/files?path=/some&limit=100")
            .json.data.items.elements
        let item = items.randomElement(using: &random)
        let path = (item?.path.string ?? "disk:/some/nothing").dropFirst("disk:".count)
        let target = path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? ""
        let name = "renamed \(number)\(path.hasSuffix(".txt") ? ".txt" : "")"
        let (method, address, body): (String, String, String?) =
            switch kind {
            case 0: ("POST", "/v1/disk/folders", #"{"path":"/some/new \#(number)"}"#)
            case 1: ("PUT", "/v1/disk/file/content?path=/some/\(number).txt", "a text")
            case 2: ("PATCH", "/v1/disk/file?path=\(target)", #"{"name":"\#(name)"}"#)
            case 3: ("DELETE", "/v1/disk/file?path=\(target)", nil)
            default: ("DELETE", item?.href.string ?? "/v1/disk/outbox/none", nil)
            }
        let response = try await client.send(method, address, ["Prefer": "respond-async"], body: body)
        #expect([200, 202, 404, 409, 423].contains(response.status), "\(method) \(address): \(response.text)")
    }

    @Test(
        "SCALE-29 After random writes, three at a time, the Disk's screens are the same on three servers",
        arguments: [1, 2]
    )
    func random(seed: UInt64) async throws {
        var larders: [RunningLarder] = []
        for _ in 0..<3 { larders.append(try await nodes.start(nil, ["--store-kept-ms", "0"])) }
        for number in 0..<10 {
            let file = #"{"path":"disk:/some/\#(number) old.txt","text":"kept"}"#
            #expect(try await sandbox.control.put("/yandex_disk/files", file).status < 300)
        }
        let member = try await member(larders)
        let clients = larders.map { member.moved(to: $0) }
        let screens = [
            "files?path=/some&limit=100", "files?path=/", "search?q=e&limit=100", "outbox?limit=100", "profile",
        ]
        for client in clients {
            for screen in screens { #expect(try await client.get("/v1/disk/\(screen)").status == 200) }
        }
        try await sandbox.fault("offline", of: "yandex_disk")
        for client in clients { _ = try await client.get("/v1/disk/files?refresh=1") }
        var random = SeededRandom(seed: seed)
        for _ in 0..<20 {
            let seeds = (0..<3).map { _ in UInt64.random(in: 0..<1 << 32, using: &random) }
            try await seeds.enumerated().concurrentMap { (number, seed) in
                var random = SeededRandom(seed: seed)
                try await change(clients[number], clients[(number + 1) % 3], &random)
            }
        }
        #expect(try await paths(clients[0]).count > 5)
        for screen in screens {
            // Texts of times change each minute.
            try await BoundedWait.poll(for: "the same \(screen)") {
                var seen: [JSON] = []
                for client in clients { seen.append(try await client.get("/v1/disk/\(screen)").json.data) }
                return seen.allSatisfy { $0 == seen[0] }
            }
        }
        for larder in larders { #expect(await larder.stop() == 0) }
    }
}

import Foundation
import TestKit
import Testing

/// The outbox of the Disk app in the real executable, with the simulated Yandex Disk behind it.
@Suite(.timeLimit(.minutes(30))) struct DiskOutboxTests {
    /// Number of kills; 200 by `script/check-outbox`.
    static let kills = ProcessInfo.processInfo.environment["OUTBOX_KILLS"].flatMap { Int($0) } ?? 4

    private func start(_ data: TemporaryFolder, _ sandbox: RunningSandbox) async throws -> RunningLarder {
        try await .start(data: data, sandbox.disk + ["--upstreams-yandex-disk-probe-interval-ms", "100"])
    }

    /// Logs in, and reads the lists that writes need.
    private func member(_ larder: RunningLarder) async throws -> Client {
        let member = try await larder.client.diskUser()
        #expect(try await member.get("/v1/disk/files").status == 200)
        return member
    }

    /// A write of each kind, and the request of the simulated API that it becomes.
    struct Verb: CustomTestStringConvertible {
        let testDescription: String
        let method: String
        let target: String
        var body: String?
        var upstream = "yandex_disk"
        let sent: String
        var path = ""
    }

    static let verbs = [
        Verb(
            testDescription: "folder",
            method: "POST",
            target: "/v1/disk/folders",
            body: #"{"path":"/lost/new"}"#,
            sent: "PUT"
        ),
        Verb(
            testDescription: "upload",
            method: "PUT",
            target: "/v1/disk/file/content?path=/lost/new.txt",
            body: "bytes",
            upstream: "yandex_uploader",
            sent: "PUT"
        ),
        Verb(
            testDescription: "rename",
            method: "PATCH",
            target: "/v1/disk/file?path=/lost/a.txt",
            body: #"{"name":"b.txt"}"#,
            sent: "POST",
            path: "/resources/move"
        ),
        Verb(
            testDescription: "move",
            method: "POST",
            target: "/v1/disk/files/move",
            body: #"{"from":"/lost/a.txt","to":"/moved.txt"}"#,
            sent: "POST",
            path: "/resources/move"
        ),
        Verb(testDescription: "delete", method: "DELETE", target: "/v1/disk/file?path=/lost/a.txt", sent: "DELETE"),
        Verb(
            testDescription: "publish",
            method: "POST",
            target: "/v1/disk/links",
            body: #"{"path":"/lost/a.txt"}"#,
            sent: "PUT",
            path: "/resources/publish"
        ),
        Verb(
            testDescription: "unpublish",
            method: "DELETE",
            target: "/v1/disk/published?path=/lost/public.txt",
            sent: "PUT",
            path: "/resources/unpublish"
        ),
    ]

    @Test(
        "OUT-07 a connection that is cut after the request and before the response repeats nothing, for every verb",
        arguments: verbs,
        [false, true]
    )
    func lost(verb: Verb, isAwayAfterwards: Bool) async throws {
        let (data, sandbox) = (try TemporaryFolder(), try await RunningSandbox.start())
        let larder = try await start(data, sandbox)
        for name in ["a", "public"] {
            let file = #"{"path":"disk:/lost/\#(name).txt","text":"text"}"#
            #expect(try await sandbox.control.put("/yandex_disk/files", file).status < 300)
        }
        let member = try await member(larder)
        #expect(try await member.post("/v1/disk/links", #"{"path":"/lost/public.txt"}"#).status < 300)
        #expect(try await member.get("/v1/disk/files?path=/lost").status == 200)
        try await sandbox.fault("offline", of: "yandex_disk")
        _ = try await member.get("/v1/disk/files?refresh=1")
        let fields = ["Prefer": "respond-async"]
        let left = try await member.send(verb.method, verb.target, fields, body: verb.body)
        #expect(left.status == 202, "\(left.text)")
        let before = try await count(sandbox, verb)
        let path = verb.path.isEmpty ? "" : #","path":"\#(verb.path)""#
        let fault = isAwayAfterwards ? #"["hold","lost"]"# : #""lost""#
        let rule = #"{"match":{"method":"\#(verb.sent)"\#(path)},"faults":[\#(fault)]}"#
        #expect(try await sandbox.control.post("/upstreams/\(verb.upstream)/rules", rule).status < 300)
        try await sandbox.fault("online", of: "yandex_disk")
        if isAwayAfterwards { try await awayAfterwards(verb, sandbox, member, left.json.data.href.string ?? "") }
        try await member.outboxDrained()
        #expect(try await count(sandbox, verb) == before + 1, "\(verb.testDescription) was sent once")
        let operation = try await member.get(left.json.data.href.string ?? "").json.data
        #expect(operation.state.string == "done" && operation.problem.string == nil)
        #expect(await larder.stop() == 0)
    }

    private func count(_ sandbox: RunningSandbox, _ verb: Verb) async throws -> Int {
        let path = verb.path.isEmpty ? "" : "&path=/\(verb.upstream)\(verb.path)"
        return try await sandbox.count("upstream=\(verb.upstream)&method=\(verb.sent)\(path)")
    }

    /// Lets the request be carried out while nothing can be looked at afterwards.
    private func awayAfterwards(_ verb: Verb, _ sandbox: RunningSandbox, _ member: Client, _ href: String) async throws
    {
        try await sandbox.held(at: verb.upstream)
        let away = #"{"match":{},"fault":"offline"}"#
        #expect(try await sandbox.control.post("/upstreams/yandex_disk/rules", away).status < 300)
        try await sandbox.release(verb.upstream)
        try await BoundedWait.poll(for: "the write to wait") {
            try await member.get(href).json.data.state.string == "waiting"
        }
        #expect(try await sandbox.control.send("DELETE", "/upstreams/yandex_disk/rules").status < 300)
        _ = try await member.post(href + "/retry", "{}")
    }

    @Test("OUT-02 what was answered 202 survives kill -9 while queued and sent, and is carried out once, in order")
    func kills() async throws {
        let (data, sandbox) = (try TemporaryFolder(), try await RunningSandbox.start())
        var larder = try await start(data, sandbox)
        var member = try await member(larder)
        var left: [String] = []
        for kill in 0..<Self.kills {
            try await sandbox.fault("offline", of: "yandex_disk")
            for number in 0..<3 {
                let path = "/kill \(kill) \(number)"
                try await member.leaveFolder(path)
                left.append(path)
            }
            if kill % 2 == 1 {
                let before = try await sandbox.count("upstream=yandex_disk&method=PUT")
                try await sandbox.fault("online", of: "yandex_disk")
                try await BoundedWait.poll(for: "a write to be sent") {
                    try await sandbox.count("upstream=yandex_disk&method=PUT") > before
                }
            }
            await larder.kill9()
            larder = try await start(data, sandbox)
            member = member.moved(to: larder)
        }
        try await sandbox.fault("online", of: "yandex_disk")
        try await member.outboxDrained()
        #expect(try await sandbox.created() == left.map { "disk:" + $0 }, "each once, in order")
    }

    @Test("DISK-40 an upload whose server is killed while Yandex Disk computes is found by its operation, not resent")
    func killedWhileProcessing() async throws {
        let (data, sandbox) = (try TemporaryFolder(), try await RunningSandbox.start())
        var larder = try await start(data, sandbox)
        var member = try await member(larder)
        try await sandbox.fault("slow(2000)", of: "yandex_uploader")
        try await sandbox.fault("offline", of: "yandex_disk")
        _ = try await member.get("/v1/disk/files?refresh=1")
        let target = "/v1/disk/file/content?path=/killed.bin"
        let left = try await member.send("PUT", target, ["Prefer": "respond-async"], body: "bytes")
        #expect(left.status == 202, "\(left.text)")
        try await sandbox.fault("online", of: "yandex_disk")
        let uploads = "upstream=yandex_uploader&method=PUT"
        try await BoundedWait.poll(for: "the upload") { try await sandbox.count(uploads) == 1 }
        await larder.kill9()
        larder = try await start(data, sandbox)
        member = member.moved(to: larder)
        try await member.outboxDrained()
        #expect(try await sandbox.count(uploads) == 1, "it was sent once")
        let content = try await member.get("/v1/disk/file/content?path=/killed.bin")
        #expect(content.text == "bytes")
        #expect(await larder.stop() == 0)
    }
}

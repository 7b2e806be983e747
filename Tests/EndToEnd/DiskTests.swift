import Foundation
import Synchronization
import TestKit
import Testing

/// The Disk app in the real executable, with the simulated Yandex Disk behind it.
@Suite(.timeLimit(.minutes(10))) struct DiskTests {
    private func start(_ data: TemporaryFolder, _ sandbox: RunningSandbox, _ settings: [String] = []) async throws
        -> RunningLarder
    {
        try await .start(data: data, sandbox.disk + settings)
    }

    @Test("DISK-13 DISK-24 rows and contents outlive kill -9 and the upstream; the token is in no file in clear")
    func survival() async throws {
        let (data, sandbox) = (try TemporaryFolder(), try await RunningSandbox.start())
        let first = try await start(data, sandbox)
        let member = try await first.client.diskUser("sandbox-token")
        let recent = try await member.get("/v1/disk/recent?limit=5").json
        #expect(recent.data.items.elements.count == 5)
        let file = try #require(recent.data.items[0].href.string)
        let content = try #require(try await member.get(file).json.data.content_url.string)
        let bytes = try await member.get(content)
        #expect(bytes.status == 200 && !bytes.body.isEmpty)
        let part = try await member.get(content, ["Range": "bytes=0-0"])
        #expect(part.status == 206 && part.body == bytes.body.prefix(1))
        let preview = try #require(
            try await member.get("/v1/disk/recent?limit=1&media_type=image").json.data.items[0].preview_url.string
        )
        let picture = try await member.get(preview)
        #expect(picture["Cache-Status"] == "larder; fwd=uri-miss; stored")
        await first.kill9()
        await sandbox.kill9()

        let second = try await start(data, sandbox)
        let again = member.moved(to: second)
        let offline = try await again.get("/v1/disk/recent?limit=5&refresh=1")
        #expect(try offline.json.meta.offline.bool == true)
        #expect(
            try offline.json.data.items.elements.map(\.path.string) == recent.data.items.elements.map(\.path.string)
        )
        #expect(try await again.get(content).body == bytes.body)
        #expect(try await again.get(preview).body == picture.body)
        #expect(try await again.delete(file).status == 503)
        #expect(await second.stop() == 0)
        for name in try FileManager.default.subpathsOfDirectory(atPath: data.path) {
            let stored = FileManager.default.contents(atPath: data.path + "/" + name) ?? Data()
            #expect(stored.firstRange(of: Data("sandbox-token".utf8)) == nil, "\(name)")
        }
    }

    @Test("DISK-23 a download that ran at a kill -9 is continued by the next start")
    func downloadResumes() async throws {
        let (data, sandbox) = (try TemporaryFolder(), try await RunningSandbox.start())
        let first = try await start(data, sandbox)
        let member = try await first.client.diskUser()
        let path = try #require(try await member.get("/v1/disk/recent?limit=1").json.data.items[0].path.string)
        try await sandbox.fault("hold", of: "yandex_downloader")
        let job = try await member.post("/v1/disk/downloads", #"{"path":"\#(path)"}"#)
        #expect(job.status == 202)
        let href = try #require(job["Location"])
        try await sandbox.arrived(1, at: "yandex_downloader")
        await first.kill9()
        try await sandbox.fault("online", of: "yandex_downloader")
        try await sandbox.release("yandex_downloader")

        let second = try await start(data, sandbox)
        let again = member.moved(to: second)
        var response = try await again.get(href)
        while response.status == 202 { response = try await again.get(href) }
        #expect(try response.json.data.status.string == "done")
        #expect(
            try await again.get(try #require(response.json.data.content_url.string))["Cache-Status"] == "larder; hit"
        )
    }

    @Test("DISK-33 DISK-34 another session gets an upload byte for byte; a logout offline removes all, its token too")
    func uploadAndLogout() async throws {
        let (data, sandbox) = (try TemporaryFolder(), try await RunningSandbox.start())
        let larder = try await start(data, sandbox)
        let (member, other) = (try await larder.client.diskUser(), try await larder.client.diskUser("sandbox-token-2"))
        let text = String(repeating: "Ж+%", count: 50_000)
        let put = try await member.put("/v1/disk/file/content?path=/end%2Bto%20end.txt", text)
        #expect(put.status == 201)
        #expect(try await member.get("/v1/disk/file/content?path=/end%2Bto%20end.txt").text == text)
        #expect(try await other.get("/v1/disk/file?path=/end%2Bto%20end.txt").status == 404)
        #expect(try await other.get("/v1/disk/files").status == 200)
        try await sandbox.fault("offline", of: "yandex_disk")
        #expect(try await member.delete("/v1/disk/session").status == 409)
        #expect(try await member.delete("/v1/disk/session?confirm=true").status == 200)
        #expect(try await member.get("/v1/disk/files").status == 401)
        #expect(try await other.get("/v1/disk/files?refresh=1").json.meta.offline.bool == true)
    }
}

/// Offline files of the Disk app in the real executable, with the simulated Yandex Disk behind it.
@Suite(.timeLimit(.minutes(10))) struct DiskOfflineTests {
    private static let text = String(repeating: "0123456789", count: 30_000)

    private func start(_ data: TemporaryFolder, _ sandbox: RunningSandbox) async throws -> RunningLarder {
        try await .start(data: data, sandbox.disk + ["--disk-offline-budget-mb", "1", "--cache-budget-mb", "1"])
    }

    private func put(_ sandbox: RunningSandbox, _ path: String, _ text: String) async throws {
        _ = try await sandbox.control.put("/yandex_disk/files", #"{"path":"disk:\#(path)","text":"\#(text)"}"#)
    }

    /// Returns a row of the screen of offline files once it meets a condition.
    private func row(
        _ member: Client,
        _ path: String,
        _ what: String,
        _ condition: (JSON) -> Bool
    ) async throws {
        try await BoundedWait.poll(for: "\(path) to be \(what)") {
            let items = try await member.get("/v1/disk/offline").json.data.items.elements
            return items.contains { $0.path.string == "disk:\(path)" && condition($0) }
        }
    }

    private func blobs(_ data: TemporaryFolder) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: data.path + "/blobs").filter {
            $0.hasSuffix(".part") || ($0.count == 16 && $0.allSatisfy(\.isHexDigit))
        }
    }

    @Test("DISK-39 a fetch that a kill -9 interrupts continues at the next start, leaves no file, is served offline")
    func survival() async throws {
        let (data, sandbox) = (try TemporaryFolder(), try await RunningSandbox.start())
        try await put(sandbox, "/keep/large.txt", Self.text)
        try await put(sandbox, "/keep/below/small.txt", "small")
        try await put(sandbox, "/huge.txt", String(repeating: "x", count: 900_000))
        let first = try await start(data, sandbox)
        var member = try await first.client.diskUser()
        try await sandbox.fault("pause(100000)", of: "yandex_downloader")
        #expect(try await member.put("/v1/disk/offline", #"{"path":"/keep"}"#).status == 201)
        // Both are under way together, and a kill between the end of a file and its row would leave the file.
        try await BoundedWait.poll(for: "the small file to be kept, and the large one fetched in part") {
            let data = try await member.get("/v1/disk/offline").json.data
            return data.bytes.int == 5 && data.items[0].bytes_done.int ?? 0 > 5
        }
        await first.kill9()
        #expect(try blobs(data).contains { $0.hasSuffix(".part") })
        try await sandbox.fault("online", of: "yandex_downloader")

        let second = try await start(data, sandbox)
        member = member.moved(to: second)
        try await row(member, "/keep", "kept") { $0.state.string == "kept" }
        #expect(try await member.put("/v1/disk/offline", #"{"path":"/huge.txt"}"#).status == 201)
        try await row(member, "/huge.txt", "too large") {
            $0.state.string == "too_large" && $0.reason.string == "too-large" && $0.bytes_done.int == 0
        }
        #expect(try blobs(data).count == 2, "one file of each content, and nothing else")
        await second.kill9()
        await sandbox.kill9()

        let third = try await start(data, sandbox)
        member = member.moved(to: third)
        #expect(try await member.get("/v1/disk/file/content?path=/keep/large.txt").text == Self.text)
        let part = try await member.get("/v1/disk/file/content?path=/keep/large.txt", ["Range": "bytes=10-12"])
        #expect(part.status == 206 && part.text == "012")
        let list = try await member.get("/v1/disk/files?path=/keep/below&sort=-size").json
        #expect(list.meta.offline.bool == true && list.data.items[0].name.string == "small.txt")
        #expect(try await member.get("/v1/disk/offline").json.data.bytes.int == 300_005)
        #expect(try await member.delete("/v1/disk/session?confirm=true").status == 200)
        #expect(try blobs(data) == [])
        #expect(await third.stop() == 0)
    }
}

extension Client {
    /// Returns the client with another token.
    fileprivate func authorized(by token: String?) -> Client {
        var client = self
        client.token = token
        return client
    }
}

/// Many clients of one Disk account at once, against the real executable and the simulated Yandex Disk.
@Suite(.timeLimit(.minutes(10))) struct DiskLoadTests {
    /// Responses with an unexpected status.
    private final class Faults: Sendable {
        private let texts = Mutex<[String]>([])
        func check(_ what: String, _ response: ReceivedResponse, _ status: Int) {
            if response.status != status {
                texts.withLock { $0.append("\(what): \(response.status) \(response.text.prefix(200))") }
            }
        }
        var all: [String] { texts.withLock { $0 } }
        private let writing = Mutex(true)
        var isWriting: Bool { writing.withLock { $0 } }
        func endWriting() { writing.withLock { $0 = false } }
    }

    private func write(_ member: Client, writer: Int, _ faults: Faults) async throws {
        for round in 0..<4 {
            let (name, renamed) = ("w\(writer)-\(round).txt", "m\(writer)-\(round).txt")
            faults.check(
                "upload",
                try await member.put("/v1/disk/file/content?path=/load/\(name)", "text \(name)"),
                201
            )
            faults.check(
                "folder",
                try await member.post("/v1/disk/folders", #"{"path":"/load/d\#(writer)-\#(round)"}"#),
                201
            )
            let rename = try await member.send(
                "PATCH",
                "/v1/disk/file?path=/load/\(name)",
                [:],
                body: #"{"name":"\#(renamed)"}"#
            )
            faults.check("rename", rename, 200)
            faults.check("own read", try await member.get("/v1/disk/file?path=/load/\(renamed)"), 200)
            guard round.isMultiple(of: 2) else { continue }
            faults.check("delete", try await member.delete("/v1/disk/file?path=/load/\(renamed)"), 200)
            faults.check("read of what is gone", try await member.get("/v1/disk/file?path=/load/\(renamed)"), 404)
        }
    }

    @Test("TRUST-04 16 writers and 16 readers on one account: no 5xx, every write is there once, every read succeeds")
    func load() async throws {
        let sandbox = try await RunningSandbox.start()
        let larder = try await RunningLarder.start(sandbox.settings("yandex_disk"))
        let member = try await larder.client.diskUser()
        #expect(try await member.post("/v1/disk/folders", #"{"path":"/load"}"#).status == 201)
        let (client, faults) = (member, Faults())
        let screens = [
            "files?path=/load&limit=100", "recent?limit=50", "file?path=/load", "search?q=m", "files", "published",
        ]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for reader in 0..<16 {
                group.addTask {
                    var next = reader
                    while faults.isWriting {
                        let screen = screens[next % screens.count]
                        next += 1
                        faults.check(screen, try await client.get("/v1/disk/\(screen)"), 200)
                    }
                }
            }
            try await withThrowingTaskGroup(of: Void.self) { writers in
                for writer in 0..<16 { writers.addTask { try await write(client, writer: writer, faults) } }
                defer { faults.endWriting() }
                try await writers.waitForAll()
            }
            try await group.waitForAll()
        }
        #expect(faults.all == [])
        let expected = (0..<16).flatMap { writer in
            (0..<4).map { "d\(writer)-\($0)" } + [1, 3].map { "m\(writer)-\($0).txt" }
        }
        let listed = try await member.get("/v1/disk/files?path=/load&limit=100").json.data.items.elements.compactMap(
            \.name.string
        )
        #expect(listed.sorted() == expected.sorted())
        let journal = try await sandbox.control.get("/journal").json.entries.elements
        let writes = journal.filter { $0.method.string != "GET" }.compactMap(\.path.string)
        #expect(writes.count > 200 && Set(writes).count == writes.count, "nothing was sent twice")
    }
}

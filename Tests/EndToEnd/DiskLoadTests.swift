import Foundation
import Synchronization
import TestKit
import Testing

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

    @Test(
        "TRUST-04 16 writers and 16 readers on one account: no 5xx, every write is there once, every read succeeds"
    )
    func load() async throws {
        let (data, sandbox) = (try TemporaryFolder(), try await RunningSandbox.start())
        let larder = try await RunningLarder.start(
            data: data,
            ["--upstreams-yandex-disk-url", sandbox.base + "/yandex_disk"]
        )
        var member = larder.client
        member.token = try await member.post(
            "/v1/disk/session",
            #"{"mode":"oauth_token","access_token":"sandbox-token"}"#
        ).json.data.token.string
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

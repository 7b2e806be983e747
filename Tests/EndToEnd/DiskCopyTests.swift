import Foundation
import TestKit
import Testing

/// `larder store copy` of the Disk, with the real programs and one simulated Yandex Disk.
@Suite(.timeLimit(.minutes(10))) struct DiskCopyTests {
    /// The key of the shared store.
    private let key: TemporaryFolder
    private var keyFile: String { key.url.appending(path: "store.key").path }

    init() throws {
        key = try TemporaryFolder()
        for (name, byte) in [("store.key", UInt8(7)), ("other.key", 8)] {
            try key.writePrivately(name, Data(repeating: byte, count: 32))
        }
    }

    private func serve(_ data: TemporaryFolder, _ sandbox: RunningSandbox, store: String? = nil) async throws
        -> RunningLarder
    {
        try await RunningLarder.start(
            data: data,
            ["--node-apps", "disk", "--upstreams-yandex-disk-probe-interval-ms", "100"]
                + sandbox.disk
                + (store.map {
                    [
                        "--store-url", $0, "--store-connections", "4", "--store-timeout-ms", "20000",
                        "--store-key-file", keyFile,
                    ]
                } ?? [])
        )
    }

    /// Runs `larder store copy`, and returns its status and output.
    private func copy(_ source: String, _ target: String, key: String?) async -> (status: Int32?, text: String) {
        let options = key.map { ["--store-key-file", $0] } ?? []
        let process = RunningProcess(["store", "copy", "--from", source, "--to", target] + options)
        let status = await process.ended()
        return (status, process.output + process.log)
    }

    private static func member(_ larder: RunningLarder, _ token: String) async throws -> Client {
        let member = try await larder.client.diskUser(token)
        #expect(try await member.get("/v1/disk/files").status == 200)
        return member
    }

    private static let bytes = String(repeating: "0123456789", count: 150_000)
    private static let upload = "/v1/disk/file/content?path=/waiting.txt"

    /// Gives an account data that only Larder has: marks, a download, waiting writes. Returns the path of the download.
    private static func makeWork(_ member: Client, _ sandbox: RunningSandbox) async throws -> String {
        #expect(try await member.put("/v1/disk/onboarding", #"{"seen":true}"#).status == 200)
        #expect(try await member.put("/v1/disk/offline", #"{"path":"/keep"}"#).status == 201)
        let job = try await member.post("/v1/disk/downloads", #"{"path":"/keep/a.txt"}"#)
        let href = try #require(job["Location"], "\(job.text)")
        try await BoundedWait.poll(for: "the download") { try await member.get(href).status == 200 }
        try await sandbox.fault("offline", of: "yandex_disk")
        _ = try await member.get("/v1/disk/files?refresh=1")
        let fields = ["Prefer": "respond-async"]
        #expect(try await member.send("PUT", upload, fields, body: bytes).status == 202)
        let folder = #"{"path":"/Waiting"}"#
        #expect(try await member.send("POST", "/v1/disk/folders", fields, body: folder).status == 202)
        return href
    }

    /// Returns the account's data from screens that do not need the API.
    private static func seen(_ member: Client, _ download: String) async throws -> [JSON] {
        let outbox = try await member.get("/v1/disk/outbox").json.data.items.elements
        let marks = try await member.get("/v1/disk/offline").json.data.items.elements
        let onboarding = try await member.get("/v1/disk/onboarding").json.data
        let session = try await member.get("/v1/disk/session").json.data
        return outbox.flatMap { [$0.href, $0.kind, $0.path, $0.size, $0.queued_at] } + marks.map(\.path)
            + [try await member.get(download).json.data.status, onboarding.seen, session.linked_at]
    }

    @Test("SCALE-18 The Disk's accounts, tokens, marks, downloads and waiting writes are the same there and back")
    func thereAndBack() async throws {
        let sandbox = try await RunningSandbox.start()
        let url = try await RunningPostgres.shared.value.database()
        let (first, second) = (try TemporaryFolder(), try TemporaryFolder())
        _ = try await sandbox.control.put("/yandex_disk/files", #"{"path":"disk:/keep/a.txt","text":"kept"}"#)
        let before = try await serve(first, sandbox)
        let member = try await Self.member(before, "sandbox-token")
        let other = try await Self.member(before, "sandbox-token-2")
        let download = try await Self.makeWork(member, sandbox)
        let seen = try await Self.seen(member, download)
        #expect(seen.count > 10)
        #expect(await before.stop() == 0)

        let keyless = await copy(first.path, url, key: nil)
        #expect(keyless.status == 1 && keyless.text.contains("no key of the shared store"), "\(keyless.text)")
        let there = await copy(first.path, url, key: keyFile)
        try #require(there.status == 0, "\(there.text)")
        #expect(there.text.contains("user_secret: 2 rows\n") && there.text.contains("disk_outbox: 2 rows\n"))
        let wrong = key.url.appending(path: "other.key").path
        let refused = await copy(url, second.path, key: wrong)
        #expect(refused.status == 1 && refused.text.contains("is not the one that has sealed"), "\(refused.text)")
        let node = try await serve(TemporaryFolder(), sandbox, store: url)
        #expect(try await Self.seen(member.moved(to: node), download) == seen)
        #expect(await node.stop() == 0)

        let back = await copy(url, second.path, key: keyFile)
        try #require(back.status == 0, "\(back.text)")
        let again = try await serve(second, sandbox)
        let returned = member.moved(to: again)
        #expect(try await Self.seen(returned, download) == seen)
        try await sandbox.fault("online", of: "yandex_disk")
        try await returned.outboxDrained()
        #expect(try await returned.get(Self.upload).text == Self.bytes)
        #expect(try await sandbox.count("upstream=yandex_uploader&method=PUT") == 1)
        #expect(try await other.moved(to: again).get("/v1/disk/profile").status == 200)
        try await BoundedWait.poll(for: "the marked file to be kept") {
            try await returned.get("/v1/disk/offline").json.data.items[0].state.string == "kept"
        }
        #expect(await again.stop() == 0)
    }
}

import Foundation
import TestKit
import Testing

/// Offline files of the Disk app in the real executable, with the simulated Yandex Disk behind it.
@Suite(.timeLimit(.minutes(10))) struct DiskOfflineTests {
    private static let text = String(repeating: "0123456789", count: 30_000)

    private func start(_ data: TemporaryFolder, _ sandbox: RunningSandbox) async throws -> RunningLarder {
        try await RunningLarder.start(
            data: data,
            [
                "--upstreams-yandex-disk-url", sandbox.base + "/yandex_disk", "--upstreams-yandex-oauth-url",
                sandbox.base + "/yandex_oauth", "--disk-offline-budget-mb", "1", "--cache-budget-mb", "1",
            ]
        )
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
        var member = first.client
        member.token = try await member.post(
            "/v1/disk/session",
            #"{"mode":"oauth_token","access_token":"sandbox-token"}"#
        ).json.data.token.string
        _ = try await sandbox.control.put("/upstreams/yandex_downloader/fault", #"{"fault":"pause(100000)"}"#)
        #expect(try await member.put("/v1/disk/offline", #"{"path":"/keep"}"#).status == 201)
        // Both are under way together, and a kill between the end of a file and its row would leave the file.
        try await BoundedWait.poll(for: "the small file to be kept, and the large one fetched in part") {
            let data = try await member.get("/v1/disk/offline").json.data
            return data.bytes.int == 5 && data.items[0].bytes_done.int ?? 0 > 5
        }
        await first.kill9()
        #expect(try blobs(data).contains { $0.hasSuffix(".part") })
        _ = try await sandbox.control.put("/upstreams/yandex_downloader/fault", #"{"fault":"online"}"#)

        let second = try await start(data, sandbox)
        member = second.client.authorized(by: member.token)
        try await row(member, "/keep", "kept") { $0.state.string == "kept" }
        #expect(try await member.put("/v1/disk/offline", #"{"path":"/huge.txt"}"#).status == 201)
        try await row(member, "/huge.txt", "too large") {
            $0.state.string == "too_large" && $0.reason.string == "too-large" && $0.bytes_done.int == 0
        }
        #expect(try blobs(data).count == 2, "one file of each content, and nothing else")
        await second.kill9()
        await sandbox.kill9()

        let third = try await start(data, sandbox)
        member = third.client.authorized(by: member.token)
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

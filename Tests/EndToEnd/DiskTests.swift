import Foundation
import TestKit
import Testing

/// The Disk app in the real executable, with the simulated Yandex Disk behind it.
@Suite(.timeLimit(.minutes(10))) struct DiskTests {
    private func start(_ data: TemporaryFolder, _ sandbox: RunningSandbox, _ settings: [String] = []) async throws
        -> RunningLarder
    {
        try await RunningLarder.start(
            data: data,
            [
                "--upstreams-yandex-disk-url", sandbox.base + "/yandex_disk", "--upstreams-yandex-oauth-url",
                sandbox.base + "/yandex_oauth",
            ] + settings
        )
    }

    private func logIn(_ larder: RunningLarder, _ token: String = "sandbox-token") async throws -> Client {
        var client = larder.client
        client.token = try await client.post("/v1/disk/session", #"{"mode":"oauth_token","access_token":"\#(token)"}"#)
            .json.data.token.string
        return client
    }

    @Test("DISK-13 DISK-24 rows and contents outlive kill -9 and the upstream; the token is in no file in clear")
    func survival() async throws {
        let (data, sandbox) = (try TemporaryFolder(), try await RunningSandbox.start())
        let first = try await start(data, sandbox)
        let member = try await logIn(first)
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
        var again = second.client
        again.token = member.token
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
        let member = try await logIn(first)
        let path = try #require(try await member.get("/v1/disk/recent?limit=1").json.data.items[0].path.string)
        _ = try await sandbox.control.put("/upstreams/yandex_downloader/fault", #"{"fault":"hold"}"#)
        let job = try await member.post("/v1/disk/downloads", #"{"path":"\#(path)"}"#)
        #expect(job.status == 202)
        let href = try #require(job["Location"])
        _ = try await sandbox.control.get("/journal/wait?upstream=yandex_downloader&count=1&timeout_ms=60000")
        await first.kill9()
        _ = try await sandbox.control.put("/upstreams/yandex_downloader/fault", #"{"fault":"online"}"#)
        _ = try await sandbox.control.post("/upstreams/yandex_downloader/release", "{}")

        let second = try await start(data, sandbox)
        var again = second.client
        again.token = member.token
        var response = try await again.get(href)
        while response.status == 202 { response = try await again.get(href) }
        #expect(try response.json.data.status.string == "done")
        #expect(
            try await again.get(try #require(response.json.data.content_url.string))["Cache-Status"] == "larder; hit"
        )
    }

    @Test(
        "DISK-33 DISK-34 another session gets an upload byte for byte; a logout offline removes all, the old token too"
    )
    func uploadAndLogout() async throws {
        let (data, sandbox) = (try TemporaryFolder(), try await RunningSandbox.start())
        let larder = try await start(data, sandbox)
        let (member, other) = (try await logIn(larder), try await logIn(larder, "sandbox-token-2"))
        let text = String(repeating: "Ж+%", count: 50_000)
        let put = try await member.put("/v1/disk/file/content?path=/end%2Bto%20end.txt", text)
        #expect(put.status == 201)
        #expect(try await member.get("/v1/disk/file/content?path=/end%2Bto%20end.txt").text == text)
        #expect(try await other.get("/v1/disk/file?path=/end%2Bto%20end.txt").status == 404)
        #expect(try await other.get("/v1/disk/files").status == 200)
        _ = try await sandbox.control.put("/upstreams/yandex_disk/fault", #"{"fault":"offline"}"#)
        #expect(try await member.delete("/v1/disk/session").status == 409)
        #expect(try await member.delete("/v1/disk/session?confirm=true").status == 200)
        #expect(try await member.get("/v1/disk/files").status == 401)
        #expect(try await other.get("/v1/disk/files?refresh=1").json.meta.offline.bool == true)
    }
}

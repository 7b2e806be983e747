import Foundation
import TestKit
import Testing

/// The cache's budget and `larder cache`, with the real executable.
@Suite(.timeLimit(.minutes(10))) struct CacheTests {
    private func cache(_ arguments: [String], of data: TemporaryFolder) async -> (
        status: Int32, output: String, errors: String
    ) {
        let process = RunningProcess(["cache"] + arguments + ["--data-directory", data.path])
        let status = await process.ended()
        return (status, process.output, process.log)
    }

    @Test("SRV-04 a small budget holds under many pictures; ships, their date and the session stay, also after kill -9")
    func smallBudget() async throws {
        let (data, sandbox) = (try TemporaryFolder(), try await RunningSandbox.start())
        let larder = try await RunningLarder.start(
            data: data,
            upstream: sandbox.spacex,
            ["--cache-budget-mb", "1", "--freshness-ships-s", "3600"]
        )
        let guest = try await larder.guest()
        let list = try await guest.get("/v1/ships").json
        let ids = list.data.items.elements.compactMap(\.id.string)
        var stored: [String] = []
        for id in ids {
            let picture = try await guest.get("/v1/ships/\(id)/image")
            #expect(picture.status == 200)
            if picture["Cache-Status"]?.hasSuffix("stored") == true { stored.append(id) }
        }
        try #require(stored.count > 17, "64 kB each: more than the budget")
        try await larder.process.logged("evicted what was used least recently")
        // Each round is a request; eviction follows the last store on its own.
        var bytes = Int.max
        for _ in 0..<2000 where bytes > 1 << 20 {
            let lines = try await guest.get("/metrics").text.split(separator: "\n")
            let line = lines.first { $0.hasPrefix(#"larder_cache_bytes{upstream="spacex"}"#) }
            bytes = line?.split(separator: " ").last.flatMap { Double($0) }.map { Int($0) } ?? bytes
        }
        #expect(bytes <= 1 << 20)
        #expect(try await guest.get("/metrics").text.contains("larder_cache_evictions_total"))
        let first = try #require(stored.first)
        let again = try await guest.get("/v1/ships/\(first)/image")
        #expect(
            again["Cache-Status"] == "larder; fwd=uri-miss; stored",
            "the least recently used went first, and is fetched again"
        )
        await larder.kill9()
        await sandbox.kill9()

        let second = try await RunningLarder.start(data: data, upstream: sandbox.spacex, ["--cache-budget-mb", "1"])
        let survivor = guest.moved(to: second)
        let response = try await survivor.get("/v1/ships?refresh=1")
        #expect(response.status == 200, "\(response.text) \(second.process.log)")
        let offline = try response.json
        #expect(offline.data.items.elements.count == ids.count)
        #expect(offline.meta.fetched_at.string == list.meta.fetched_at.string)
        #expect(offline.meta.offline.bool == true)
        #expect(await second.stop() == 0)
    }

    @Test("larder cache lists and measures beside a running server, hides queries, and names the process if it refuses")
    func besideServer() async throws {
        let (data, sandbox) = (try TemporaryFolder(), try await RunningSandbox.start())
        let larder = try await RunningLarder.start(data: data, upstream: sandbox.spacex)
        let guest = try await larder.guest()
        let id = try #require(try await guest.get("/v1/ships").json.data.items[0].id.string)
        _ = try await sandbox.control.put(
            "/spacex/ships/\(id)",
            #"{"image":"\#(sandbox.spacex)/images/made.png?key=hush"}"#
        )
        _ = try await guest.get("/v1/ships?refresh=1")
        #expect(try await guest.get("/v1/ships/\(id)/image")["Cache-Status"]?.hasSuffix("stored") == true)

        let list = await cache(["list"], of: data)
        #expect(list.status == 0, "\(list.errors)")
        #expect(list.output.hasPrefix("UPSTREAM"))
        #expect(list.output.contains("/spacex/v4/ships\n"))
        #expect(list.output.contains("/spacex/images/made.png?…\n"))
        #expect(!list.output.contains("hush"))
        #expect(await cache([], of: data).output.contains("/spacex/v4/ships\n"), "list is what larder cache does")
        #expect(await cache(["list", "--queries"], of: data).output.contains("made.png?key=hush\n"))
        #expect(await cache(["list", "--sort", "size"], of: data).status == 0)
        #expect(await cache(["list", "--sort", "taste"], of: data).status == 64)
        let size = await cache(["size"], of: data)
        #expect(
            size.output.contains("spacex") && size.output.contains("in 2 responses")
                && size.output.contains("of 512.0 MiB"),
            "\(size)"
        )

        let preview = await cache(["purge", "--upstream", "spacex", "--dry-run"], of: data)
        #expect(
            preview.output.contains("would remove 1 response of spacex")
                && preview.output.contains("kept 1 response that rows were made of")
        )
        let purge = await cache(["purge", "--all"], of: data)
        #expect(purge.status == 1)
        #expect(
            purge.errors.contains(larder.process.pid.map { "(pid \($0))" } ?? "no pid")
                && purge.errors.contains("Stop it to purge")
        )
        #expect(await cache(["list"], of: data).output.contains("made.png"))
    }

    @Test("larder cache purge removes what is named and nothing else, and says what")
    func purge() async throws {
        let (data, sandbox) = (try TemporaryFolder(), try await RunningSandbox.start())
        let larder = try await RunningLarder.start(data: data, upstream: sandbox.spacex)
        let guest = try await larder.guest()
        for item in try await guest.get("/v1/ships?limit=3").json.data.items.elements {
            _ = try await guest.get("/v1/ships/\(item.id.string ?? "")/image")
        }
        #expect(await larder.stop() == 0)
        #expect(await cache(["purge", "--older-than", "1w"], of: data).output == "removed nothing\n")
        #expect(await cache(["purge", "--prefix", "/elsewhere/"], of: data).output == "removed nothing\n")
        #expect(await cache(["purge", "--upstream", "disk"], of: data).output == "removed nothing\n")
        let removed = await cache(["purge", "--prefix", "/spacex/images/"], of: data)
        #expect(removed.status == 0 && removed.output.hasPrefix("removed "), "\(removed)")
        let left = await cache(["list"], of: data).output
        #expect(!left.contains("/images/") && left.contains("/v4/ships"))

        let second = try await RunningLarder.start(data: data, upstream: sandbox.spacex)
        let again = guest.moved(to: second)
        #expect(try await again.get("/v1/ships").json.data.items.elements.count == 30, "rows and sessions stay")
    }

    @Test("A purge needs to know what to remove; a missing directory is not created")
    func arguments() async throws {
        let data = try TemporaryFolder()
        #expect(await cache(["purge"], of: data).status == 64)
        #expect(await cache(["purge", "--all", "--upstream", "x"], of: data).status == 64)
        #expect(await cache(["purge", "--older-than", "soon"], of: data).status == 64)
        #expect(await cache(["purge", "--prefix", "v4"], of: data).status == 64)
        #expect(await cache(["list", "--cache-budget-mb", "none"], of: data).status == 78)
        for command in [["list"], ["size"], ["purge", "--all"]] {
            #expect(await cache(command, of: data).output.hasPrefix("nothing is cached"))
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: data.path).isEmpty)
        let help = RunningProcess(["cache", "purge", "--help"])
        #expect(await help.ended() == 0)
        #expect(help.output.contains("larder cache purge --prefix /v4/ --older-than 7d"))
    }
}

import Foundation
import TestKit
import Testing

/// Events and cached responses of one profile or session, in the real executable.
@Suite(.timeLimit(.minutes(10))) struct EventTests {
    private static func start() async throws -> (RunningLarder, RunningSandbox) {
        let sandbox = try await RunningSandbox.start()
        let settings = [
            "--freshness-shop-s", "3600", "--freshness-ships-s", "3600", "--upstreams-spacex-probe-interval-ms",
            "3600000",
        ]
        let catalogue = sandbox.settings("catalogue")
        return (try await .start(upstream: sandbox.spacex, catalogue + settings), sandbox)
    }

    private static func profile(_ name: String) -> [String: String] { ["Larder-Profile": name] }

    @Test("TRUST-21 SRV-11 a change of one profile's list is sent to it only, and ends no cached screen of others")
    func profiles() async throws {
        let (larder, sandbox) = try await Self.start()
        let (client, url) = (larder.client, larder.client.base + "/v1/events")
        let guest = try await larder.guest()
        _ = try await guest.get("/v1/ships")
        #expect(try await client.send("GET", "/v1/shop/products/53", Self.profile("anna")).status == 200)
        let anna = try await EventListener.open(url, Self.profile("anna"))
        let bert = try await EventListener.open(url + "?profile=bert")
        let local = try await EventListener.open(url)
        let cached = [
            ("/v1/shop/list", Self.profile("bert")), ("/v1/shop/history", Self.profile("bert")), ("/v1/shop/list", [:]),
            ("/v1/shop/products/53", Self.profile("bert")), ("/v1/shop/categories", [:]), ("/v1", [:]),
        ]
        for (path, headers) in cached { _ = try await larder.cached(client, path, headers) }
        let mine = try await larder.cached(client, "/v1/shop/list", Self.profile("anna"))

        let body = #"{"product_id":53}"#
        #expect(try await client.send("POST", "/v1/shop/list/items", Self.profile("anna"), body: body).status == 201)
        for (path, headers) in cached {
            let hits = try await larder.cachedResponses()
            #expect(try await client.send("GET", path, headers).status == 200)
            #expect(try await larder.cachedResponses() == hits + 1, "\(path) \(headers)")
        }
        let changed = try await client.send("GET", "/v1/shop/list", Self.profile("anna"))
        #expect(try changed.body != mine.body && changed.json.data.items.elements.count == 1)

        // All receive the next event; `bert` and `local` have received none before.
        try await sandbox.fault("offline")
        _ = try await guest.get("/v1/ships?refresh=1")
        let heard = try #require(try await anna.next())
        #expect(heard.kind == "screen-changed" && heard.data.screen.string == "shop.list")
        for listener in [anna, bert, local] { #expect(try await listener.next()?.kind == "connectivity") }
    }

    @Test("SRV-11 TRUST-21 the stream of a session ends with it, the streams of others go on")
    func logout() async throws {
        let (larder, sandbox) = try await Self.start()
        let url = larder.client.base + "/v1/events?app=ships"
        let (leaving, staying) = (try await larder.guest(), try await larder.guest())
        let tokens = try [leaving, staying].map { ["Authorization": "Bearer \(try #require($0.token))"] }
        _ = try await staying.get("/v1/ships")
        let first = try await EventListener.open(url, tokens[0])
        let second = try await EventListener.open(url, tokens[1])
        #expect(try await leaving.delete("/v1/ships/session").status == 200)
        let last = try #require(try await first.next())
        #expect(last.kind == "session-ended" && last.data.app.string == "ships")
        #expect(try await first.next() == nil)
        #expect(try await larder.client.send("GET", "/v1/events", tokens[0]).status == 401)
        try await sandbox.fault("offline")
        _ = try await staying.get("/v1/ships?refresh=1")
        #expect(try await second.next()?.kind == "connectivity")
    }

    @Test("SCALE-13 fields that differ by client leave one cached screen; a token and a profile do not")
    func fields() async throws {
        let (larder, sandbox) = try await Self.start()
        defer { withExtendedLifetime(sandbox) {} }
        let guest = try await larder.guest()
        // On a busy machine the ships arrive after the patience, and invalidate the responses cached before.
        try await BoundedWait.poll(for: "the ships of the upstream") {
            try await guest.get("/v1/ships?refresh=1").json.meta.source.string == "upstream"
        }
        _ = try await larder.cached(guest, "/v1/ships")
        let before = try await larder.cachedResponses()
        for number in 0..<200 {
            let fields = [
                "X-Forwarded-For": "198.51.100.\(number)", "User-Agent": "client/\(number)", "Via": "1.1 \(number)",
                "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e\(4000 + number)-00f067aa0ba902b7-01",
            ]
            #expect(try await guest.send("GET", "/v1/ships", fields).status == 200)
        }
        #expect(try await larder.cachedResponses() == before + 200)
        #expect(try await larder.client.send("GET", "/v1/ships", ["X-Forwarded-For": "198.51.100.1"]).status == 401)
        #expect(try await larder.cachedResponses() == before + 200)
    }
}

/// The progress of commands that take long.
@Suite(.timeLimit(.minutes(10))) struct ProgressTests {
    /// A data directory with a document, a file and a stored response.
    private func directory() async throws -> TemporaryFolder {
        let (data, sandbox) = (try TemporaryFolder(), try await RunningSandbox.start())
        let larder = try await RunningLarder.start(data: data, upstream: sandbox.spacex)
        #expect(try await larder.guest().get("/v1/ships").status == 200)
        let document = try await larder.client.document(of: [DocumentTests.photo])
        #expect(try await larder.client.post("\(document)/save", "{}").status == 200)
        #expect(await larder.stop() == 0)
        return data
    }

    @Test("SRV-16 Doctor, backup, restore and purge show their steps on a terminal, and nothing in a pipe")
    func commands() async throws {
        let (data, folder) = (try await directory(), try TemporaryFolder())
        // Nothing listens at this port: the upstreams respond at once that they are away.
        let away = ["spacex", "catalogue", "people", "yandex-disk", "yandex-oauth"].flatMap {
            ["--upstreams-\($0)-url", "http://127.0.0.1:9"]
        }
        let commands: [(arguments: [String], steps: [String])] = [
            (
                ["doctor", "--deep"] + away,
                ["checking the database", "reading files", "trying programs", "asking spacex"]
            ),
            (["backup", folder.path + "/BACKUP"], ["copying files", "copying the database", "reading the copies"]),
            (["restore", folder.path + "/backup-true", "--data-directory", folder.path + "/NEW"], ["copying files"]),
            (["cache", "purge", "--all"], ["removing responses", "returning free pages"]),
        ]
        for (arguments, steps) in commands {
            for isOnTerminal in [true, false] {
                var arguments = arguments.map {
                    $0.replacing("BACKUP", with: "backup-\(isOnTerminal)").replacing("NEW", with: "new-\(isOnTerminal)")
                }
                if !arguments.contains("--data-directory") { arguments += ["--data-directory", data.path] }
                let process = RunningProcess(
                    arguments,
                    environment: ["TERM": "xterm"],
                    terminal: isOnTerminal ? try PseudoTerminal() : nil
                )
                let status = await process.ended()
                #expect(status == 0 || arguments[0] == "doctor" && status == 2, "\(arguments): \(process.log)")
                for step in steps {
                    #expect(process.log.contains(step) == isOnTerminal, "\(arguments): \(process.log)")
                }
                #expect(!process.output.contains("\r") && (isOnTerminal || process.log.isEmpty), "\(process.log)")
                // The line is removed at the end.
                #expect(!isOnTerminal || process.log.hasSuffix("\r\u{1B}[K"), "\(process.log)")
            }
        }
    }
}

/// The screens of upstreams, read again and again by the real executable.
@Suite(.timeLimit(.minutes(10))) struct PollingTests {
    @Test("TRUST-08 Each upstream screen polled 20 times with its last ETag, fetched and kept in turns: 19 x 304")
    func unchanged() async throws {
        let sandbox = try await RunningSandbox.start()
        let upstreams = sandbox.settings("yandex_disk", "catalogue", "people", "geocoder")
        let settings = upstreams + ["--notes-scrypt-logarithm", "10"]
        let larder = try await RunningLarder.start(upstream: sandbox.spacex, settings)
        let ships = try await larder.guest()
        let (disk, notes) = (try await larder.client.diskUser(), try await larder.client.writer())
        let ship = try #require(try await ships.get("/v1/ships").json.data.items[0].href.string)
        let file = try #require(
            try await disk.get("/v1/disk/recent").json.data.items.elements.compactMap(\.href.string).first
        )
        let screens: [(Client, [String])] = [
            (ships, ["/v1/ships", "/v1/ships?limit=5", ship]),
            (
                disk,
                [
                    "/v1/disk/profile", "/v1/disk/files", "/v1/disk/files?limit=3", "/v1/disk/recent",
                    "/v1/disk/published", "/v1/disk/trash", "/v1/disk/search?q=a", file,
                ]
            ),
            (larder.client, ["/v1/shop/search?limit=10", "/v1/shop/categories", "/v1/shop/products/5"]),
            (notes, ["/v1/notes/people", "/v1/notes/places?q=par"]),
        ]
        for (client, paths) in screens {
            for path in paths { try await poll(path, by: client) }
        }
        #expect(await larder.stop() == 0)
    }

    private func poll(_ path: String, by client: Client) async throws {
        var tag: String?
        var statuses: [Int] = []
        var body = ""
        for number in 0..<20 {
            var headers: [String: String] = [:]
            if let tag { headers["If-None-Match"] = tag }
            if number.isMultiple(of: 2) { headers["Cache-Control"] = "no-cache" }
            let response = try await client.get(path, headers)
            statuses.append(response.status)
            if response.status == 200, number > 0 { #expect(response.text == body, "\(path)") }
            if response.status == 200 { body = response.text }
            tag = response["ETag"] ?? tag
        }
        #expect(statuses == [200] + Array(repeating: 304, count: 19), "\(path): \(statuses)")
    }
}

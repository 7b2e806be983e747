import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import TestKit
import Testing

/// Paired devices of the real executable (docs/decisions/0141). A request with `Via` is not local: a proxy sent it.
@Suite(.timeLimit(.minutes(5))) struct PairingTests {
    private static let elsewhere = ["Via": "1.1 test"]
    private static let settings = ["--http-access", "pairing"]

    /// Pairs a device; gives the fields that it sends from then on, and its identity.
    private func pair(_ client: Client, code: String? = nil) async throws -> (fields: [String: String], id: String) {
        var code = code
        if code == nil { code = try await client.post("/v1/pairing/code", "{}").json.data.code.string }
        let body = #"{"code":"\#(try #require(code))","name":"Phone"}"#
        let paired = try await client.send("POST", "/v1/pairing", Self.elsewhere, body: body)
        #expect(paired.status == 201, "\(paired.text)")
        let token = try #require(try paired.json.data.token.string)
        let id = try #require(try paired.json.data.device.id.string)
        return (Self.elsewhere.merging(["Larder-Device": token]) { $1 }, id)
    }

    private func code(in line: String) throws -> String {
        try #require(line.firstMatch(of: /[0-9A-Z]{4}-[0-9A-Z]{4}/).map { String($0.output) }, "\(line)")
    }

    @Test("SRV-17 the first start prints a code; kept responses are for paired devices only, and end with them")
    func kept() async throws {
        let data = try TemporaryFolder()
        let larder = try await RunningLarder.start(data: data, Self.settings)
        let client = larder.client
        let line = try await larder.process.line(after: "pair a device ")
        for path in ["/v1", "/metrics", "/v1/events", "/", "/v1/none"] {
            #expect(try await client.send("GET", path, Self.elsewhere).problemCode == "pairing-required", "\(path)")
        }
        let page = try await client.send("GET", "/ships", Self.elsewhere.merging(["Accept": "text/html"]) { $1 })
        #expect(page.status == 401 && page.text.contains("pair.js"))
        let script = try #require(page.text.firstMatch(of: #//web/[0-9a-f]+/pair\.js/#)).output
        #expect(try await client.send("GET", String(script), Self.elsewhere).status == 200)
        let main = script.replacing("pair.js", with: "main.js")
        #expect(try await client.send("GET", String(main), Self.elsewhere).status == 401)

        let (phone, id) = try await pair(client, code: try code(in: line))
        let (tablet, _) = try await pair(client)
        for device in [phone, tablet] { _ = try await larder.cached(client, "/v1", device) }
        let hits = try await larder.cachedResponses()
        #expect(try await client.send("GET", "/v1", Self.elsewhere).status == 401)
        let other = Self.elsewhere.merging(["Larder-Device": "x"]) { $1 }
        #expect(try await client.send("GET", "/v1", other).status == 401)
        #expect(try await client.delete("/v1/devices/\(id)").status == 204)
        #expect(try await client.send("GET", "/v1", phone).problemCode == "pairing-required")
        #expect(try await larder.cachedResponses() == hits)
        #expect(try await client.send("GET", "/v1", tablet).status == 200)
        #expect(try await larder.cachedResponses() == hits + 1)

        #expect(await larder.stop() == 0)
        let again = try await RunningLarder.start(data: data, Self.settings)
        #expect(try await again.client.send("GET", "/v1", tablet).status == 200)
        #expect(try await again.client.send("GET", "/v1", phone).status == 401)
        #expect(!again.process.output.contains("pair a device"))
    }

    @Test("SRV-17 larder pair makes a code for a server that runs, with its profile")
    func command() async throws {
        let larder = try await RunningLarder.start(Self.settings)
        let pairing = RunningProcess(
            ["pair", "--profile", "anna", "--data-directory", larder.data.path] + Self.settings
        )
        #expect(await pairing.ended() == 0)
        let (phone, _) = try await pair(larder.client, code: try code(in: pairing.output))
        let list = try await larder.client.send("GET", "/v1/shop/list?profile=bert", phone)
        #expect(list.problemCode == "profile-not-allowed")
        let unneeded = RunningProcess(["pair", "--data-directory", larder.data.path])
        #expect(await unneeded.ended() == 1)
        #expect(unneeded.log.contains("http.access is loopback"))
    }

    @Test(
        "SRV-17 who could be reached by others starts with a word on who gets in only",
        arguments: [
            (["--http-host", "0.0.0.0"], "http.access"), (["--http-host", "::"], "pairing"),
            (["--http-access", "pairing", "--http-public-url", "https://larder.test"], "http.trusted_proxies"),
            (["--http-operator-key", "too-short"], "32 characters"),
            (
                [
                    "--http-host", "0.0.0.0", "--http-access", "pairing", "--http-operator-key",
                    "0123456789abcdef0123456789abcdef",
                ], "clear text"
            ),
        ]
    )
    func refused(settings: [String], word: String) async throws {
        let data = try TemporaryFolder()
        let serving = RunningProcess(["serve", "--http-port", "0", "--data-directory", data.path] + settings)
        #expect(await serving.ended() == 78)
        #expect(serving.log.hasPrefix("larder: ") && serving.log.contains(word), "\(serving.log)")
    }

    @Test("SRV-17 larder devices lists and revokes, at once while the server runs, and without one")
    func devicesCommand() async throws {
        let data = try TemporaryFolder()
        let larder = try await RunningLarder.start(data: data, Self.settings)
        let (phone, tablet) = (try await pair(larder.client), try await pair(larder.client))
        func devices(_ arguments: [String]) async -> (status: Int32?, process: RunningProcess) {
            let command = RunningProcess(["devices"] + arguments + ["--data-directory", data.path])
            return (await command.ended(), command)
        }
        let listed = await devices([])
        #expect(listed.status == 0 && listed.process.output.contains(phone.id), "\(listed.process.output)")
        let ambiguous = await devices(["revoke", "Phone"])
        #expect(ambiguous.status == 1 && ambiguous.process.log.contains("2 devices have the name Phone"))

        let heard = try await EventListener.open(larder.client.base + "/v1/events", phone.fields)
        let others = try await EventListener.open(larder.client.base + "/v1/events", tablet.fields)
        let revoked = await devices(["revoke", phone.id])
        #expect(revoked.status == 0, "\(revoked.process.log)")
        do {
            while let event = try await heard.next() { Issue.record("heard \(event.kind)") }
        } catch {
            // Cut off rather than ended: either way nothing more arrives.
        }
        #expect(try await others.next("devices-changed") != nil)
        #expect(try await larder.client.send("GET", "/v1", phone.fields).status == 401)
        #expect(try await larder.client.send("GET", "/v1", tablet.fields).status == 200)

        #expect(await larder.stop() == 0)
        let stopped = await devices(["revoke", "Phone"])
        #expect(stopped.status == 0 && stopped.process.output.contains(tablet.id), "\(stopped.process.log)")
        let none = await devices(["revoke", tablet.id])
        #expect(none.status == 1 && none.process.log.contains("no device"))
        let empty = await devices(["list"])
        #expect(empty.process.output == "no device is paired\n")
    }

    @Test("SRV-17 the operator's key manages devices from elsewhere")
    func operatorKey() async throws {
        let key = "0123456789abcdef0123456789abcdef"
        let larder = try await RunningLarder.start(Self.settings + ["--http-operator-key", key])
        let fields = Self.elsewhere.merging(["Larder-Operator": key]) { $1 }
        let made = try await larder.client.send("POST", "/v1/pairing/code", fields, body: "{}")
        let (phone, id) = try await pair(larder.client, code: try made.json.data.code.string)
        #expect(try await larder.client.send("GET", "/metrics", fields).status == 200)
        #expect(try await larder.client.send("DELETE", "/v1/devices/\(id)", fields).status == 204)
        #expect(try await larder.client.send("GET", "/v1", phone).status == 401)
        #expect(!larder.process.log.contains(key))
    }

    @Test(
        "SRV-17 a device that is revoked loses its download and its event stream at once, another one goes on",
        arguments: [HTTPClient.Configuration.HTTPVersion.http1Only, .automatic]
    )
    func underWay(_ version: HTTPClient.Configuration.HTTPVersion) async throws {
        let upstream = try await RawServer { received in
            guard received.text.contains("\r\n\r\n") else { return nil }
            return .response(
                "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: 1000000\r\n\r\nbeginning"
            )
        }
        let authority = try TestAuthority()
        let larder = try await RunningLarder.start(
            Self.settings + authority.settings + ["--upstreams-files-url", upstream.url]
        )
        var configuration = HTTPClient.Configuration()
        configuration.tlsConfiguration = authority.client()
        configuration.httpVersion = version
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        do {
            try await expectCuts(Client(base: larder.client.base, http: http), http)
            try await http.shutdown()
        } catch {
            try await http.shutdown()
            throw error
        }
    }

    private func expectCuts(_ client: Client, _ http: HTTPClient) async throws {
        let (phone, tablet) = (try await pair(client), try await pair(client))
        let events = client.base + "/v1/events"
        let heard = try await EventListener.open(events, phone.fields, http: http)
        let others = try await EventListener.open(events, tablet.fields, http: http)
        var request = HTTPClientRequest(url: client.base + "/v1/upstreams/files/large")
        for (name, value) in phone.fields { request.headers.add(name: name, value: value) }
        let download = try await http.execute(request, timeout: Client.timeout)
        #expect(download.status == .ok)
        var bytes = download.body.makeAsyncIterator()
        var received = ""
        while received != "beginning", let piece = try await bytes.next() { received += String(buffer: piece) }
        #expect(received == "beginning")

        #expect(try await client.delete("/v1/devices/\(phone.id)").status == 204)
        do {
            while let piece = try await bytes.next() { received += String(buffer: piece) }
            Issue.record("the download ended as if it were whole: \(received)")
        } catch {
            #expect(received == "beginning")
        }
        do {
            while let event = try await heard.next() { Issue.record("heard \(event.kind)") }
        } catch {
            // Cut off rather than ended: either way nothing more arrives.
        }
        #expect(try await others.next("devices-changed") != nil)
        #expect(try await client.send("GET", "/v1", phone.fields).status == 401)
        #expect(try await client.send("GET", "/v1", tablet.fields).status == 200)
    }
}

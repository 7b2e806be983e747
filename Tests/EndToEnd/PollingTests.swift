import Foundation
import TestKit
import Testing

/// The screens of upstreams, read again and again by the real executable.
@Suite(.timeLimit(.minutes(10))) struct PollingTests {
    private func start(_ sandbox: RunningSandbox) async throws -> RunningLarder {
        try await .start(
            data: try TemporaryFolder(),
            upstream: sandbox.spacex,
            [
                "--upstreams-yandex-disk-url", sandbox.base + "/yandex_disk", "--upstreams-catalogue-url",
                sandbox.base + "/catalogue", "--upstreams-people-url", sandbox.base + "/people",
                "--upstreams-geocoder-url", sandbox.base + "/geocoder", "--notes-scrypt-logarithm", "10",
            ]
        )
    }

    @Test("TRUST-08 Each upstream screen polled 20 times with its last ETag, fetched and kept in turns: 19 x 304")
    func unchanged() async throws {
        let sandbox = try await RunningSandbox.start()
        let larder = try await start(sandbox)
        let ships = try await larder.guest()
        var disk = larder.client
        disk.token = try await disk.post("/v1/disk/session", #"{"mode":"oauth_token","access_token":"sandbox-token"}"#)
            .json.data.token.string
        var notes = larder.client
        let registration = #"{"mode":"register","username":"bob","password":"correct horse"}"#
        notes.token = try await notes.post("/v1/notes/session", registration).json.data.token.string
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

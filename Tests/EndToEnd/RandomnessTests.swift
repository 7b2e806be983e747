import Foundation
import TestKit
import Testing

/// Two runs that are to be equal (docs/harness.md).
@Suite(.timeLimit(.minutes(5))) struct RandomnessTests {
    /// Removes the values that differ between two equal runs: the machine's time, ports, and durations.
    private static func normalized(_ text: String, _ space: TestedSpace) -> String {
        text.replacing(space.client.base, with: "LARDER").replacing(space.sandbox.base, with: "SANDBOX")
            .replacing("127.0.0.1:\(space.client.port)", with: "LARDER")
            .replacing("127.0.0.1:\(space.sandbox.port)", with: "SANDBOX")
            .replacing(#/"duration_ms":[0-9.]+/#, with: "")
            // Of a body with links of the sandbox, which have its port.
            .replacing(#/"if-none-match":"(?:W/)?\\"[^"]*"/#, with: "")
    }

    private static func seen(_ response: ReceivedResponse, _ what: String, _ space: TestedSpace) -> String {
        let fields = response.headers.filter { $0.key != "date" }.sorted { $0.key < $1.key }.map { "\($0): \($1)" }
        return normalized("\(what) \(response.status) \(fields) \(response.text)", space)
    }

    /// A way through all apps in a space.
    private final class Walk {
        let space: TestedSpace
        private(set) var lines: [String] = []

        init(_ space: TestedSpace) { self.space = space }

        @discardableResult
        private func send(_ client: Client, _ method: String, _ path: String, _ body: String? = nil) async throws
            -> JSON
        {
            let response = try await client.send(method, path, ["X-Request-Id": "step-\(lines.count)"], body: body)
            lines.append(seen(response, "\(method) \(path)", space))
            return try response.json
        }

        private func session(_ app: String, _ body: String) async throws -> Client {
            var client = space.client
            client.token = try await send(client, "POST", "/v1/\(app)/session", body).data.token.string
            return client
        }

        /// Returns the guest who looks at ships.
        func visitApps() async throws -> Client {
            let guest = try await session("ships", #"{"mode":"guest"}"#)
            try await send(guest, "GET", "/v1/ships")
            try await send(guest, "GET", "/v1/ships?refresh=1")
            let member = try await session("notes", Client.account("bob"))
            try await send(member, "POST", "/v1/notes", #"{"body":"a","location":{"lat":1,"lon":1,"name":"P"}}"#)
            try await send(member, "GET", "/v1/notes")
            try await send(space.client, "GET", "/v1/shop/search")
            try await send(space.client, "POST", "/v1/shop/list/items", #"{"product_id":53,"quantity":2}"#)
            try await send(space.client, "GET", "/v1/shop/list")
            let document = try await space.client.document(of: [DocumentTests.photo])
            try await send(space.client, "GET", document)
            try await send(space.client, "POST", "\(document)/save", "{}")
            try await send(space.client, "GET", "/v1/pdf/documents")
            let owner = try await session("disk", #"{"mode":"oauth_token","access_token":"sandbox-token"}"#)
            let file = try await send(owner, "GET", "/v1/disk/recent?limit=5").data.items[0].href.string
            try await send(owner, "GET", try #require(file))
            try await send(space.client, "GET", "/v1/status")
            // The link of the simulated Disk itself.
            let path = "/yandex_disk/resources?path=disk:/&fields=_embedded.items.file"
            let links = try await space.sandbox.client.send("GET", path, ["Authorization": "OAuth sandbox-token"])
            lines.append(seen(links, "links", space))
            return guest
        }

        /// A recovery that a request notices, one that a probe notices, and two upstreams that are probed at one time.
        func outages(_ guest: Client) async throws {
            try await space.sandbox.fault("offline")
            try await send(guest, "GET", "/v1/ships?refresh=1")
            try await space.sandbox.fault("online")
            try await send(guest, "GET", "/v1/ships?refresh=1")
            try await send(guest, "GET", "/v1/ships")
            for upstream in ["spacex", "catalogue"] { try await space.sandbox.fault("offline", of: upstream) }
            try await send(guest, "GET", "/v1/ships?refresh=1")
            try await send(space.client, "GET", "/v1/shop/search?refresh=1")
            for upstream in ["spacex", "catalogue"] { try await space.sandbox.fault("online", of: upstream) }
            _ = try await space.harness.post("/clock/advance", #"{"s":301}"#)
            try await send(space.client, "GET", "/v1/status")
            try await send(space.client, "GET", "/v1/shop/search")
            try await space.sandbox.fault("offline")
            try await send(guest, "GET", "/v1/ships?refresh=1")
            for journal in [try await space.harness.get("/journal"), try await space.sandbox.control.get("/journal")] {
                lines += normalized(journal.text, space).split(separator: "{").map(String.init)
            }
        }

        /// Returns the events up to the last outage.
        func hear(_ events: EventListener) async throws -> [JSON] {
            var heard: [JSON] = []
            while heard.count(where: { $0.reachable.bool == false }) < 4 {
                let event = try #require(try await events.next())
                lines.append("event \(event.id) \(event.kind)")
                heard.append(event.data)
            }
            return heard
        }
    }

    /// Goes through all apps in a space.
    private static func run(_ order: String) async throws -> (lines: [String], events: [JSON]) {
        // A slow machine is to differ in nothing from a quick one.
        let patient = ["catalogue", "yandex-disk"].flatMap { name in
            ["total-timeout", "patience"].flatMap { ["--upstreams-\(name)-\($0)-ms", "600000"] }
        }
        let tested = try await TestedLarder.start(patient)
        let walk = Walk(try await tested.space(order))
        let events = try await EventListener.open(walk.space.client.base + "/v1/events")
        try await walk.outages(try await walk.visitApps())
        let heard = try await walk.hear(events)
        #expect(await tested.larder.stop() == 0)
        return (walk.lines, heard)
    }

    @Test("HARN-06 two processes with one seed, start and frozen time have the same bytes, links, journals and events")
    func equal() async throws {
        let order = #"{"seed":7,"now":"2030-01-05T10:00:00Z","frozen":true}"#
        let (one, two) = (try await Self.run(order), try await Self.run(order))
        #expect(one.lines.count == two.lines.count)
        for (first, second) in zip(one.lines, two.lines) { #expect(first == second) }
        #expect(one.events == two.events && one.events.count >= 4)
        #expect(one.lines.contains { $0.hasPrefix("links 200") && $0.contains("SANDBOX") })
        // Another seed has other tokens.
        let other = try await Self.run(order.replacing("7,", with: "8,"))
        #expect(other.lines[0] != one.lines[0])
    }
}

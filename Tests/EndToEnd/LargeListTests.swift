import Foundation
import TestKit
import Testing

/// A list of an upstream that is too long for one transaction, with the real executable.
@Suite(.timeLimit(.minutes(10))) struct LargeListTests {
    private static let count = 10_000
    /// Debug builds need seconds for so many.
    private static let settings = [
        "--upstreams-spacex-patience-ms", "60000", "--upstreams-spacex-total-timeout-ms", "60000",
    ]

    private static func response(_ path: String, _ type: String) -> String {
        guard path == "/v4/ships" else { return "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n" }
        let ships = (0..<count).map { #"{"id":"id\#($0)","name":"Ship \#($0)","type":"\#(type)"}"# }
        let body = "[" + ships.joined(separator: ",") + "]"
        return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    /// The types of all ships by id, from all pages; fails for one that is there twice.
    private func types(_ client: Client) async throws -> [String: String] {
        var types: [String: String] = [:]
        var next: String? = "/v1/ships?limit=500"
        while let target = next {
            let page = try await client.get(target).json
            for ship in page.data.items.elements {
                let id = try #require(ship.id.string)
                #expect(types.updateValue(ship.type.string ?? "", forKey: id) == nil, "\(id)")
            }
            next = page.links.next.string
        }
        return types
    }

    @Test("SHIP-07 SHIP-10 kill -9 while 10,000 ships are merged: each is as before or as the API has it, none is lost")
    func killed() async throws {
        let type = Watched("Tug")
        let upstream = try await RawServer(byPath: { path, _ in Self.response(path, type.value) })
        let data = try TemporaryFolder()
        let first = try await RunningLarder.start(data: data, upstream: upstream.url, Self.settings)
        var client = try await first.guest()
        let token = client.token
        let before = try await client.get("/v1/ships?limit=1").json
        #expect(before.meta.page.total.int == Self.count && before.meta.stale.bool == false)
        let revision = try #require(before.meta.revision.int)
        let events = try await EventListener.open(first.client.base + "/v1/events")
        type.update { $0 = "Barge" }
        let reading = Task { [client] in _ = try? await client.get("/v1/ships?refresh=1") }
        // The first part is written.
        _ = try #require(try await events.next("screen-changed"))
        await first.kill9()
        await reading.value

        // The upstream is unreachable: the stored ships are shown.
        let second = try await RunningLarder.start(data: data, upstream: "http://127.0.0.1:9")
        client = second.client
        client.token = token
        let between = try await client.get("/v1/ships?limit=500&since_revision=\(revision)&refresh=1").json
        #expect(between.meta.offline.bool == true && between.meta.page.total.int == Self.count)
        #expect(between.data.changes.updated.elements.count == 500 && between.data.changes.has_more.bool == true)
        #expect(between.data.changes.added.elements.isEmpty && between.data.changes.removed.elements.isEmpty)
        let halfway = try await types(client)
        let changed = Set(halfway.filter { $0.value == "Barge" }.keys)
        #expect(halfway.count == Self.count && changed.count >= 1000 && changed.count % 1000 == 0)
        print("ships that were merged before the kill: \(changed.count)")
        #expect(await second.stop() == 0)

        // The next response does the rest, and says so to those who have seen the state in between.
        let third = try await RunningLarder.start(data: data, upstream: upstream.url, Self.settings)
        client = third.client
        client.token = token
        let seen = try #require(between.meta.revision.int)
        let after = try await client.get("/v1/ships?limit=500&since_revision=\(seen)&refresh=1").json
        #expect(after.meta.stale.bool == false && after.meta.page.total.int == Self.count)
        let updated = Set(after.data.changes.updated.elements.compactMap(\.string))
        #expect(updated.count == min(500, Self.count - changed.count) && updated.isDisjoint(with: changed))
        #expect(Set(try await types(client).values) == ["Barge"])
        #expect(await third.stop() == 0)
    }
}

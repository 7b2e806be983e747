import TestKit
import Testing

extension ContractScenario {
    private static let reads = ["GET /v1/ships", "GET /v1/ships/{id}"]

    /// The upstream responds 4xx: a failure of an API that is no longer maintained. Instead the bundled or stored
    /// ships are shown.
    func upstreamRefuses() async throws {
        let member = try await session()
        for status in [401, 403, 404, 410, 413, 418] {
            try await larder.fault("error(\(status))")
            for operation in Self.reads {
                #expect(try await ask(operation, query: "?refresh=1", member).status == 200, "\(operation) \(status)")
            }
            try await ask("GET /v1/ships/{id}/image", query: "?refresh=1", member)
        }
    }

    /// The upstream fails, is unreachable and recovers: a stored copy is served, and says so.
    func upstreamFails() async throws {
        let member = try await session()
        try await ask("GET /v1/ships", member)
        try await ask("GET /v1/ships/{id}/image", member)
        let opening = try await larder.listen { _ in true }
        let place = try #require(ServerSentEvents(opening.text).lastID)
        for fault in ["online", "error(500)", "garbage", "truncated", "error(503)", "offline"] {
            try await larder.fault(fault)
            for operation in Self.reads {
                for query in ["", "?refresh=1"] {
                    #expect(try await ask(operation, query: query, member).status == 200, "\(operation) \(fault)")
                }
            }
            try await ask("GET /v1/status")
            try await ask("GET /v1/ships/{id}/image", query: "?refresh=1", member)
        }
        try await ask("GET /v1/ships", ["Cache-Control": "only-if-cached"].merging(member) { own, _ in own })
        try await larder.fault("online")
        try await ask("GET /v1/ships", query: "?refresh=1", member)
        let heard = try await larder.listen(["Last-Event-ID": place]) { $0.contains(#""reachable":true"#) }
        await note("GET /v1/events", "while the upstream went and came back", heard)
        try await larder.fault("error(429, 60)")
        for _ in 1...2 { try await ask("GET /v1/ships", member) }
        try await ask("GET /v1/status")
    }

    /// The upstream takes longer than clients are patient.
    func upstreamIsSilent() async throws {
        let member = try await session()
        try await larder.fault("hold")
        for operation in Self.reads { try await ask(operation, query: "?refresh=1", member) }
        try await larder.control("POST", "/upstreams/spacex/release")
    }

    /// A first start without an upstream shows the bundled snapshot.
    func offlineFromTheStart() async throws {
        try await larder.fault("offline")
        let member = try await session()
        let listing = try await ask("GET /v1/ships", query: "?limit=3", member)
        let first = try #require(try listing.json.at(pointer: "/data/items/0/id")?.string)
        try await ask("GET /v1/ships/{id}", ship: first, member)
        // Some of them have no picture at all: a placeholder. One that is not stored is 504.
        for index in 0..<3 {
            let ship = try #require(try listing.json.at(pointer: "/data/items/\(index)/id")?.string)
            try await ask(
                "GET /v1/ships/{id}/image",
                ship: ship,
                ["Cache-Control": "only-if-cached"].merging(member) { own, _ in own }
            )
        }
        try await ask("GET /v1/status")
    }

    /// An upstream that has no ship is not believed.
    func noShips() async throws {
        try await larder.control("PUT", "/spacex/ships", "[]")
        let listing = try await ask("GET /v1/ships", try await session())
        #expect(try listing.json.at(pointer: "/meta/source") == .string("bundled"))
    }
}

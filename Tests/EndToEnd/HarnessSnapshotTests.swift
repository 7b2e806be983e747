import Foundation
import TestKit
import Testing

/// Servers that return to a state that was saved (docs/harness.md, "Snapshots").
@Suite(.timeLimit(.minutes(3))) struct HarnessSnapshotTests {
    @Test("HARN-16 a restored snapshot has byte-equal screens, files, upstreams and clock, and the tokens of before")
    func restored() async throws {
        let tested = try await TestedLarder.start()
        try await tested.freeze()
        let (alice, guest) = (try await tested.member("alice"), try await tested.larder.guest())
        #expect(try await alice.post("/v1/notes", #"{"body":"kept"}"#).status == 201)
        #expect(try await tested.client.post("/v1/shop/list/items", #"{"product_id":53}"#).status == 201)
        let draft = try await tested.client.document(of: [DocumentTests.photo])
        #expect(try await tested.client.post("\(draft)/save", "{}").status == 200)
        let seen = { @Sendable in
            var seen: [Data] = []
            for path in ["/v1/notes", "/v1/notes/map"] { seen.append(try await alice.get(path).content) }
            seen.append(try await guest.get("/v1/ships").content)
            for path in ["/v1/shop/list", "/v1/pdf/documents", draft, "\(draft)/file"] {
                seen.append(try await tested.client.get(path).content)
            }
            return seen + [try await tested.harness.get("/clock").content]
        }
        let before = try await seen()
        #expect(try await tested.harness.send("PUT", "/snapshots/base").status == 201)
        #expect(try await tested.harness.send("PUT", "/snapshots/base").status == 200)

        for _ in 0..<2 {
            #expect(try await alice.post("/v1/notes", #"{"body":"gone"}"#).status == 201)
            #expect(try await tested.client.send("DELETE", "/v1/shop/list").status == 200)
            #expect(try await tested.client.send("DELETE", "\(draft)?permanently=1").status == 200)
            #expect(try await tested.sandbox.control.put("/spacex/ships", "[]").status == 200)
            try await tested.sandbox.fault("offline")
            try await tested.advance(3600)
            let later = try await tested.member("later")
            #expect(try await tested.harness.send("POST", "/snapshots/base/restore").status == 204)
            #expect(try await seen() == before)
            #expect(try await later.get("/v1/notes").status == 401)
            #expect(try await guest.get("/v1/ships?refresh=1").json.data.items.elements.isEmpty == false)
        }

        // A space begins with it, and changes nothing of it.
        let made = try await tested.harness.post("/spaces", #"{"from":"base"}"#)
        #expect(made.status == 201, "\(made.text)")
        var other = Client(base: try #require(try made.json.url.string))
        other.token = alice.token
        #expect(try await other.get("/v1/notes").text.contains("kept"))
        #expect(try await other.post("/v1/notes", #"{"body":"other"}"#).status == 201)
        #expect(try await other.get("\(draft)/file").content == before[6])
        #expect(try await seen() == before)
        #expect(await tested.larder.stop() == 0)
    }

    @Test("Snapshots are listed, removed, and refused by name; a reset leaves them, and the end of the process none")
    func listed() async throws {
        let data = try TemporaryFolder()
        let tested = try await TestedLarder.start(data: data)
        #expect(try await tested.harness.get("/snapshots").json.snapshots.elements.isEmpty)
        for name in ["a%20b", "..", "%2e%2e%2fa", ".a", "%00", String(repeating: "a", count: 65)] {
            #expect(try await tested.harness.send("PUT", "/snapshots/\(name)").status == 400, "\(name)")
        }
        for (method, path) in [("GET", "/no"), ("DELETE", "/no"), ("POST", "/no/restore")] {
            #expect(try await tested.harness.send(method, "/snapshots\(path)").status == 404, "\(method)")
        }
        for name in ["two", "one"] {
            #expect(try await tested.harness.send("PUT", "/snapshots/\(name)").status == 201)
        }
        try await tested.reset()
        let names = try await tested.harness.get("/snapshots").json.snapshots.elements.map(\.name.string)
        #expect(names == ["one", "two"])
        #expect(try await tested.harness.send("DELETE", "/snapshots/one").status == 204)
        #expect(try await tested.harness.send("POST", "/snapshots/one/restore").status == 404)
        #expect(try await tested.harness.send("POST", "/snapshots/two/restore").status == 204)
        #expect(await tested.larder.stop() == 0)
        #expect(!FileManager.default.fileExists(atPath: "\(data.path)/larder.snapshots"))
    }

    @Test("A snapshot that is replaced while others restore it and make spaces of it stays whole for them")
    func replacedMeanwhile() async throws {
        let tested = try await TestedLarder.start()
        #expect(try await tested.harness.send("PUT", "/snapshots/base").status == 201)
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<6 {
                group.addTask { try await tested.harness.send("PUT", "/snapshots/base").status }
                group.addTask { try await tested.harness.send("POST", "/snapshots/base/restore").status }
                group.addTask { try await tested.harness.post("/spaces", #"{"from":"base"}"#).status }
            }
            return try await group.reduce(into: [Int]()) { $0.append($1) }
        }
        #expect(Set(statuses) == [200, 201, 204])
        #expect(try await tested.client.get("/v1/ships/launch").status == 200)
        #expect(await tested.larder.stop() == 0)
    }
}

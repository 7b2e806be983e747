import Foundation
import TestKit
import Testing

/// Servers that begin with the data of a document (docs/harness.md, "Seeds").
@Suite(.timeLimit(.minutes(3))) struct HarnessSeedTests {
    private static let document = """
        {
          "accounts": [
            {"app": "notes", "name": "anna", "password": "correct horse", "token": "t-anna"},
            {"app": "ships", "token": "t-guest"}, {"app": "ships", "name": "a@b.example"},
            {"app": "disk", "access_token": "sandbox-token", "token": "t-disk"}
          ],
          "notes": [
            {"account": "anna", "body": "first", "created": "2026-01-05T10:00:00Z"},
            {"account": "ANNA", "body": "second", "location": {"lat": 48.1, "lon": 11.6, "name": "Munich"}}
          ],
          "ships": [{"name": "Seeded One"}, {"id": "70ca70ca70ca70ca70ca70ca", "name": "Seeded Two"}],
          "products": [{"id": 5, "title": "Seeded tea", "price": 3}],
          "list": [{"product_id": 5, "quantity": 2}, {"product_id": 5, "profile": "bob"}],
          "documents": [{"name": "Report", "text": "Hello"}],
          "disk": {"folders": [{"path": "disk:/Seeded"}], "files": [{"path": "disk:/Seeded/a.txt", "text": "abc"}]},
          "people": [{"id": 1, "first_name": "Ada", "last_name": "Lovelace"}]
        }
        """

    @Test("HARN-18 one document fills all apps and upstreams; its tokens open sessions")
    func filled() async throws {
        let tested = try await TestedLarder.start()
        let response = try await tested.harness.put("/seed", Self.document)
        #expect(response.status == 200, "\(response.text)")
        let stored = try response.json
        #expect(stored.stored.notes.int == 2 && stored.stored.disk.int == 2 && stored.stored.people.int == 1)
        #expect(stored.accounts.elements.map(\.token.string).prefix(2) == ["t-anna", "t-guest"])

        let notes = try await tested.client("t-anna").get("/v1/notes").text
        #expect(notes.contains("first") && notes.contains("second") && notes.contains("Munich"))
        let ships = try await tested.client("t-guest").get("/v1/ships").json.data.items.elements
        #expect(ships.compactMap(\.name.string).sorted() == ["Seeded One", "Seeded Two"])
        let user = try await tested.client(try #require(stored.accounts[2].token.string)).get("/v1/ships/session").text
        #expect(user.contains("a@b.example"))
        let list = try await tested.client.get("/v1/shop/list").text
        #expect(list.contains("Seeded tea") && list.contains(#""quantity":2"#))
        #expect(try await tested.client.get("/v1/shop/list?profile=bob").text.contains("Seeded tea"))
        #expect(try await tested.client.get("/v1/pdf/documents").text.contains("Report"))
        let folder = try await tested.client("t-disk").get("/v1/disk/files?path=disk:/Seeded")
        #expect(folder.text.contains("a.txt"), "\(folder.text)")
        #expect(try await tested.client("t-anna").get("/v1/notes/people").text.contains("Lovelace"))
        let login = Client.account("anna", "login")
        #expect(try await tested.client.post("/v1/notes/session", login).status == 201)
        #expect(await tested.larder.stop() == 0)
    }

    @Test("HARN-18 a document is stored as a whole or not at all, and its faults are named by JSON pointers")
    func refused() async throws {
        let tested = try await TestedLarder.start()
        let fine = #"{"accounts":[{"app":"notes","name":"anna","token":"t-anna"}],"ships":[{"name":"Only"}]"#
        for (rest, pointers) in [
            (#","notes":[{"account":"anna","body":"x"},{"account":"bob","body":"x"}]}"#, ["/notes/1/account"]),
            (#","notes":[{"body":""},{"account":"anna","body":7}]}"#, ["/notes/0/account", "/notes/1/body"]),
            (#","list":[{"product_id":987654}]}"#, ["/list/0/product_id"]),
            (#","documents":[{"name":"a","text":"b"},{"name":"a","file":"!"}]}"#, ["/documents/1/file"]),
            (#","list":[{"product_id":1,"colour":"red"}]}"#, ["/list/0/colour"]),
            (#","cars":[]}"#, ["/cars"]), (#","products":[7]}"#, ["/products/0"]), (#","notes":{}}"#, ["/notes"]),
            (#","disk":{"files":[{"path":"disk:/a","account":"zoe"}]}}"#, ["/disk/files/0/account"]),
        ] {
            let response = try await tested.harness.put("/seed", fine + rest)
            #expect(response.status == 422, "\(rest): \(response.text)")
            #expect(try response.json.errors.elements.map(\.pointer.string) == pointers, "\(rest): \(response.text)")
        }
        for token in ["", "a b", "ы"] {
            let body = #"{"accounts":[{"app":"ships","token":"\#(token)"}]}"#
            let pointers = try await tested.harness.put("/seed", body).json.errors.elements.map(\.pointer.string)
            #expect(pointers == ["/accounts/0/token"], "\(token)")
        }
        #expect(try await tested.harness.put("/seed", "[]").status == 400)
        #expect(try await tested.client("t-anna").get("/v1/notes").status == 401)
        #expect(try await tested.sandbox.client.get("/spacex/v4/ships").text.contains("Only") == false)
        #expect(try await tested.harness.put("/seed", fine + "}").status == 200)
        #expect(try await tested.client("t-anna").get("/v1/notes").status == 200)
        #expect(await tested.larder.stop() == 0)
    }

    @Test("HARN-18 the tokens of a document open nothing once the server runs without the harness")
    func tokens() async throws {
        let data = try TemporaryFolder()
        let account = #"{"accounts":[{"app":"ships","token":"t-guest"}]}"#
        let tested = try await TestedLarder.start(data: data)
        #expect(try await tested.harness.put("/seed", account).status == 200)
        #expect(await tested.larder.stop() == 0)
        let again = try await TestedLarder.start(data: data)
        #expect(try await again.client("t-guest").get("/v1/ships/session").status == 200)
        #expect(await again.larder.stop() == 0)
        let plain = try await RunningLarder.start(data: data)
        var client = plain.client
        client.token = "t-guest"
        #expect(try await client.get("/v1/ships/session").status == 401)
        #expect(await plain.stop() == 0)
    }

    @Test("HARN-18 of documents at once, half of them refused, the upstreams have the records of one that was stored")
    func atOnce() async throws {
        let tested = try await TestedLarder.start()
        let statuses = try await withThrowingTaskGroup { group in
            for number in 0..<16 {
                let note = number.isMultiple(of: 2) ? "" : #", "notes": [{"account": "nobody", "body": "x"}]"#
                group.addTask {
                    try await tested.harness.put("/seed", #"{"ships": [{"name": "S\#(number % 2)"}]\#(note)}"#).status
                }
            }
            return try await group.reduce(into: [Int: Int]()) { $0[$1, default: 0] += 1 }
        }
        #expect(statuses == [200: 8, 422: 8])
        let ships = try await tested.sandbox.client.get("/spacex/v4/ships").json
        #expect(ships.elements.map(\.name.string) == ["S0"])
        #expect(await tested.larder.stop() == 0)
    }
}

extension TestedLarder {
    func client(_ token: String) -> Client {
        var client = larder.client
        client.token = token
        return client
    }
}

/// Servers that return to a state that was saved (docs/harness.md, "Snapshots").
@Suite(.timeLimit(.minutes(3))) struct HarnessSnapshotTests {
    @Test("HARN-16 a restored snapshot has byte-equal screens, files, upstreams and clock, and the tokens of before")
    func restored() async throws {
        let tested = try await TestedLarder.start()
        try await tested.freeze()
        let (alice, guest) = (try await tested.client.writer("alice"), try await tested.larder.guest())
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
            let later = try await tested.client.writer("later")
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

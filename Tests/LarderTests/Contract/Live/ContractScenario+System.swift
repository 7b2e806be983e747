import TestKit
import Testing

@testable import Larder

extension ContractScenario {
    static let open = [
        "GET /v1", "GET /v1/status", "GET /v1/ships/launch", "GET /openapi.yaml", "GET /openapi.json",
        "GET /health/live", "GET /health/ready", "GET /metrics",
    ]

    /// Operations that need no session.
    func system() async throws {
        for operation in Self.open {
            for isHead in [false, true] { try await ask(operation, ["X-Request-Id": "contract-1"], isHead: isHead) }
            try await ask(operation, ["Accept-Encoding": "gzip"])
        }
        #expect(try await ask("GET /health/ready", query: "?store=1").status == 200)
        for operation in ["GET /openapi.yaml", "GET /openapi.json"] {
            for query in ["?app=ships", "?app=boats"] { try await ask(operation, query: query) }
        }
        for query in ["", "?profile=anna"] {
            for isHead in [false, true] { try await ask("GET /v1/export", query: query, isHead: isHead) }
        }
        #expect(try await ask("GET /v1/export", query: "?profile=a%20b").status == 400)
        #expect(try await ask("GET /v1/usage", query: "?profile=a%20b").status == 400)
    }

    /// The event stream: from now on, with missed events, and from an unknown identity.
    func events() async throws {
        let operation = "GET /v1/events"
        let member = try await session()
        let opening = try await larder.listen { _ in true }
        await note(operation, "from now on", opening)
        let place = try #require(ServerSentEvents(opening.text).lastID)
        try await ask("DELETE /v1/ships/{id}", member)
        let missed = try await larder.listen(["Last-Event-ID": place].merging(member) { own, _ in own }) {
            $0.contains("screen-changed")
        }
        await note(operation, "with what was missed", missed)
        await note(
            operation,
            "from an unknown place",
            try await larder.listen(query: "?last_event_id=nobody-1") { $0.contains("event: reset") }
        )
        try await ask(operation, isHead: true)
        for query in ["?last_event_id=a&last_event_id=b", "?app=none", "?profile=%20"] {
            try await ask(operation, query: query)
        }
        try await ask("POST /v1/ships/restore", member)
    }

    /// A GET that names the entity tag of the response before.
    func conditional() async throws {
        let member = try await session()
        for operation in Self.open.prefix(5) + [
            "GET /v1/ships/session", "GET /v1/ships", "GET /v1/ships/{id}", "GET /v1/ships/{id}/image",
        ] {
            try await ask(operation, member)
            let tag = try #require(try await ask(operation, member).headers["etag"], "\(operation)")
            for isHead in [false, true] {
                try await ask(
                    operation,
                    ["If-None-Match": "W/\"other\", \(tag)"].merging(member) { own, _ in own },
                    isHead: isHead
                )
            }
        }
    }
}

extension ContractScenario {
    /// A session of an app that a cookie carries, shown and, unless others need its account, ended.
    func sessionByCookie(_ app: String, _ login: String, isEnded: Bool = true) async throws {
        let (open, end) = ("POST /v1/\(app)/session", "DELETE /v1/\(app)/session")
        #expect(try await ask(open, ["Larder-Session": "bearer"], body: login).status == 400)
        let foreign = ["Larder-Session": "cookie", "Sec-Fetch-Site": "same-site"]
        #expect(try await ask(open, foreign, body: login).status == 403)
        let own = ["Larder-Session": "cookie", "Sec-Fetch-Site": "same-origin", "Content-Type": "application/json"]
        let opened = try await ask(open, own, body: login)
        let cookie = try #require(opened.headers["set-cookie"], "\(opened.text)")
        let page = ["Cookie": String(cookie.prefix { $0 != ";" }), "Sec-Fetch-Site": "same-origin"]
        #expect(try await ask("GET /v1/\(app)/session", page).status == 200)
        guard isEnded else { return }
        let ended = try await ask(end, page)
        #expect(ended.status == 200 && ended.headers["clear-site-data"] == #""cache""#)
        #expect(try await ask("GET /v1/\(app)/session", page).status == 401)
    }
}

extension ContractScenario {
    /// Requests the first row of a list, the next page by its link, and pages with refused cursors: one with an offset,
    /// a damaged one and an empty one.
    func askPages(_ operation: String, query: String = "?limit=1", _ headers: [String: String] = [:]) async throws {
        let first = try await ask(operation, query: query, headers)
        let link = try #require(try first.json.at(pointer: "/links/next")?.string, "\(operation): \(first.text)")
        let next = String(link.drop { $0 != "?" })
        #expect(next.contains("cursor="), "\(operation)")
        #expect(try await ask(operation, query: next, headers).status == 200, "\(operation)")
        for wrong in [next + "&offset=1", next.replacing("cursor=", with: "cursor=A"), "?cursor="] {
            #expect(try await ask(operation, query: wrong, headers).status == 400, "\(operation) \(wrong)")
        }
    }
}

extension ContractScenario {
    /// The pages and the files that they load.
    func pages() async throws {
        let document = try OpenAPIDocument.load()
        for operation in document.operations where operation.value["tags"] == .array([.string("web")]) {
            let response = try await ask(operation.key)
            try await ask(operation.key, isHead: true)
            try await ask(operation.key, ["Accept-Encoding": "gzip"])
            let tag = try #require(response.headers["etag"], "\(operation.key)")
            try await ask(operation.key, ["If-None-Match": tag])
        }
    }

    /// A front end of a folder without the files that it should have.
    func pagesWithoutFiles() async throws {
        let document = try OpenAPIDocument.load()
        for operation in document.operations where operation.value["tags"] == .array([.string("web")]) {
            try await ask(operation.key)
        }
    }
}

extension ContractScenario {
    /// Documents and a note that two servers with the same data show in turn.
    struct Kept: Sendable {
        var one: Drawn
        var other: Drawn
        var member: [String: String]
        var note: String
    }

    private static let usage = "GET /v1/usage"

    /// An account with a note, and a profile with documents, all of which is shown.
    func stored() async throws -> Kept {
        let (one, other) = try await savedPair()
        _ = try await draft([("a.pdf", MadeFile.pdf(pages: 1))])
        let member = try await notesSession("full")
        let note = try await ask("POST /v1/notes", member, body: #"{"body":"A note"}"#)
        for query in ["", "?profile=anna"] {
            for headers in [[:], member, ["Accept-Language": "ru"], ["Accept-Encoding": "gzip"]] {
                for isHead in [false, true] {
                    try await ask(Self.usage, query: query, headers, isHead: isHead)
                }
            }
        }
        let shown = try await ask(Self.usage, member)
        let apps = try #require(try shown.json.at(pointer: "/data/apps")?.array)
        #expect(apps.compactMap { $0["app"]?.string } == ["pdf", "notes"])
        #expect(apps.compactMap { $0["owner_name"]?.string } == ["local", "full"])
        // "A note" and the name of the place that is not known.
        #expect(apps.last?["used_bytes"] == .number(Double(1024 + "A note".utf8.count + "Unknown location".utf8.count)))
        #expect(apps.allSatisfy { $0["full"] == .bool(false) })
        let tag = try #require(shown.headers["etag"])
        #expect(try await ask(Self.usage, ["If-None-Match": tag].merging(member) { own, _ in own }).status == 304)
        return Kept(one: one, other: other, member: member, note: try note.json.at(pointer: "/data/id")?.string ?? "")
    }

    /// Writes that add bytes are refused, each with its own text; writes that add none succeed.
    func quotasUsedUp(_ kept: Kept) async throws {
        let create = "POST /v1/pdf/documents"
        let refused = [
            try await askPDF(create, Self.form, body: Self.form([("a.pdf", MadeFile.pdf(pages: 1))])),
            try await documentOfDisk("quota.pdf", MadeFile.pdf(pages: 1)),
            try await askPDF("\(create)/{id}/pages", of: kept.one, body: #"{"text":"Hello"}"#),
            try await askPDF("\(create)/{id}/extract", of: kept.one, body: #"{"pages":["\#(kept.one.page)"]}"#),
            try await askPDF("POST /v1/pdf/merge", body: #"{"first":"\#(kept.one.id)","second":"\#(kept.other.id)"}"#),
            try await ask("POST /v1/notes", kept.member, body: #"{"body":"Another"}"#),
            try await ask("PATCH /v1/notes/{id}", ship: kept.note, kept.member, body: #"{"body":"A longer note"}"#),
            try await ask(
                "POST /v1/notes/import",
                Self.form.merging(kept.member) { own, _ in own },
                body: Self.form([("a", "<gpx><wpt lat=\"1\" lon=\"2\"/></gpx>")])
            ),
        ]
        for response in refused {
            #expect(response.status == 507 && response.problemCode == "quota-exceeded", "\(response.text)")
        }
        let apps = try await ask(Self.usage, kept.member).json.at(pointer: "/data/apps")?.array ?? []
        #expect(apps.count == 2 && apps.allSatisfy { $0["full"] == .bool(true) })
        #expect(try await askPDF("PATCH /v1/pdf/documents/{id}", of: kept.one, body: #"{"name":"b"}"#).status == 200)
        #expect(try await ask("DELETE /v1/notes/{id}", ship: kept.note, kept.member).status == 200)
    }
}

extension ContractScenario {
    private static func operations() throws -> [Operation] { try OpenAPIDocument.load().operations }

    /// Problems of every request that are found before its route is called.
    func problemsOfEveryRequest() async throws {
        let host = "Host: 127.0.0.1:\(larder.port)\r\nConnection: close\r\n"
        let manyFields = (1...100).map { "X-Field-\($0): a\r\n" }.joined()
        for operation in try Self.operations() {
            try await ask(operation.key, ["Host": "evil.example"])
            try await askRaw(operation.key, query: "?%zz", lines: host)
            try await ask(operation.key, query: "?zz=1")
            if operation.path.hasPrefix("/v1/shop/") || operation.path.hasPrefix("/v1/pdf/") {
                try await ask(operation.key, query: "?profile=a%20b")
            }
            try await askRaw(operation.key, query: "?" + String(repeating: "a", count: 9000), lines: host)
            try await askRaw(operation.key, lines: host + manyFields)
            if operation.method != "GET" { try await ask(operation.key, ["Origin": "https://evil.example"]) }
            guard operation.value["security"] != nil else { continue }
            if operation.needsSession { try await ask(operation.key) }
            try await ask(operation.key, ["Authorization": "Basic Y2FwdGFpbjpzZWNyZXQ="])
            try await ask(operation.key, ["Authorization": "Bearer \(String(repeating: "A", count: 43))"])
        }
    }

    /// A client whose request does not arrive.
    func slowClients() async throws {
        for operation in try Self.operations() {
            try await askRaw(operation.key, lines: "Host: 127.0.0.1\r\n", isWhole: false)
        }
    }

    /// Bodies with which requests that need no session get as far as the database.
    static let bodiesWithoutSession = [
        "POST /v1/ships/session": #"{"mode":"guest"}"#,
        "POST /v1/disk/session": #"{"mode":"oauth_token","access_token":"sandbox-token"}"#,
        "PUT /v1/disk/onboarding": #"{"seen":true}"#,
        "POST /v1/notes/session": #"{"mode":"login","username":"a","password":"b"}"#,
    ]

    /// A server whose database went away.
    func brokenDatabase() async throws {
        let member = try await session()
        try await larder.application.close()
        for operation in try Self.operations()
        where operation.responses["500"] != nil && !operation.path.hasPrefix("/v1/pdf/") {
            try await ask(
                operation.key,
                member,
                body: Self.bodiesWithoutSession[operation.key] ?? Self.shopBodies[operation.key]
            )
        }
        for operation in Self.open { try await ask(operation) }
    }
}

import TestKit
import Testing

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

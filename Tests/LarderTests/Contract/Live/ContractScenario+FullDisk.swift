import TestKit
import Testing

extension ContractScenario {
    /// Writes of each app that need nothing but space, with the session that they need.
    private static let writes: [(operation: String, body: String?)] = [
        ("POST /v1/ships/session", #"{"mode":"guest"}"#), ("DELETE /v1/ships/{id}", nil),
        ("POST /v1/notes/session", #"{"mode":"register","username":"later","password":"secret"}"#),
        ("POST /v1/notes", #"{"body":"A note for which there is no space"}"#),
        ("PUT /v1/shop/filters", #"{"category_id":1}"#), ("POST /v1/shop/list/items", #"{"product_id":1}"#),
        ("PUT /v1/disk/onboarding", #"{"seen":true}"#),
        ("POST /v1/disk/session", #"{"mode":"oauth_token","access_token":"sandbox-token"}"#),
        ("PUT /v1/pdf/welcome", #"{"seen":true}"#),
    ]
    private static let reads = [
        "GET /v1/ships", "GET /v1/notes", "GET /v1/shop/list", "GET /v1/shop/search", "GET /v1/pdf/documents",
        "GET /v1/disk/files", "GET /v1/disk/launch",
    ]

    /// A server whose disk is full for a while: it refuses writes, serves reads, and works again without a restart.
    func fullDisk() async throws {
        let scope = try #require(larder.faults)
        let disk = try await diskSession()
        let (ships, notes) = (try await session(), try await notesSession("full"))
        func headers(_ operation: String) -> [String: String] {
            if operation.contains("/v1/ships") { return ships }
            if operation.contains("/v1/notes") { return notes }
            return operation.contains("/v1/disk") ? disk : [:]
        }
        for operation in Self.reads { try await ask(operation, headers(operation)) }
        let failure = await scope.failing(.fullDisk, at: 1) { () -> (any Error)? in
            do {
                for (operation, body) in Self.writes {
                    let response = try await ask(operation, headers(operation), body: body)
                    #expect(
                        response.status == 507 && response.problemCode == "storage-full",
                        "\(operation) \(response)"
                    )
                }
                for operation in Self.reads {
                    #expect(try await ask(operation, headers(operation)).status == 200, "\(operation)")
                }
                let stale = try await ask("GET /v1/ships", query: "?refresh=1", ships)
                #expect(stale.status == 200 && stale.headers["cache-status"]?.hasSuffix("detail=storage-full") == true)
                let ready = try await ask("GET /health/ready")
                #expect(ready.status == 503 && ready.text.contains(#"{"name":"storage","ok":false}"#))
                #expect(try await ask("GET /health/live").status == 200)
                return nil
            } catch {
                return error
            }
        }.value
        if let failure { throw failure }
        for (operation, body) in Self.writes {
            #expect(try await ask(operation, headers(operation), body: body).status < 300, "\(operation)")
        }
        #expect(try await ask("GET /health/ready").status == 200)
    }
}

import Foundation
import TestKit
import Testing

extension ContractScenario {
    /// An upload during which the connection to the uploader breaks, while the API is unreachable for the question
    /// whether the file was stored.
    func unknownOutcome(_ upload: @escaping @Sendable (ContractScenario) async throws -> Void) async throws {
        try await larder.control("DELETE", "/journal")
        try await larder.fault("hold", of: "yandex_uploader")
        async let response: Void = upload(self)
        try await larder.control("GET", "/journal/wait?upstream=yandex_uploader&count=1&timeout_ms=9000")
        try await larder.fault("offline", of: "yandex_disk")
        try await larder.fault("offline", of: "yandex_uploader")
        try await larder.control("POST", "/upstreams/yandex_uploader/release")
        try await response
        for upstream in ["yandex_uploader", "yandex_disk"] { try await larder.fault("online", of: upstream) }
        _ = try await diskSession()
    }

    /// A write that the API has received when the connection breaks, while the API is unreachable for the question
    /// whether it was done.
    private func unknownWrite(_ operation: String, query: String = "", body: String? = nil) async throws {
        let member = try await diskSession()
        try await larder.control("DELETE", "/journal")
        try await larder.fault("hold", of: "yandex_disk")
        async let response = ask(operation, query: query, member, body: body)
        // Each read before the write passes; the write is held.
        var method = "GET"
        var count = 0
        while method == "GET" {
            count += 1
            let wait = "/journal/wait?upstream=yandex_disk&count=\(count)&timeout_ms=60000"
            let entries = try await larder.control("GET", wait).json["entries"]?.array ?? []
            method = try #require(entries.last?["method"]?.string)
            if method != "GET" { try await larder.fault("offline", of: "yandex_disk") }
            try await larder.control("POST", "/upstreams/yandex_disk/release")
        }
        let outcome = try await response
        #expect(outcome.problemCode == "outcome-unknown", "\(operation): \(outcome.text)")
        try await larder.fault("online", of: "yandex_disk")
    }

    private static let refusedReads: [Request] =
        diskReads.map { ($0, "?refresh=1", nil) }
        + [
            ("GET /v1/disk/search", "?q=a&refresh=1", nil),
            ("GET /v1/disk/file", "?path=/contract/b.txt&refresh=1", nil),
            ("GET /v1/disk/file/content", "?path=/contract/b.txt&refresh=1", nil),
            ("GET /v1/disk/file/preview", "?path=/contract/b.txt&refresh=1", nil),
            ("GET /v1/disk/file/page", "?path=/contract/b.txt&refresh=1", nil),
            ("GET /v1/disk/file/pdf", "?path=/contract/office.docx&refresh=1", nil),
            ("POST /v1/disk/downloads", "", #"{"path":"/contract/b.txt"}"#),
            ("POST /v1/disk/trash/restore", "", #"{"path":"trash:/x"}"#),
            ("DELETE /v1/disk/trash/item", "?path=trash:/x", nil), ("DELETE /v1/disk/trash", "", nil),
        ]

    /// The upstream refuses, fails or is unreachable.
    func diskRefusals() async throws {
        try await refusalsWithNothingStored()
        try await larder.fault("online", of: "yandex_disk")
        let member = try await diskSession()
        // With something stored: flagged.
        for operation in Self.diskReads { try await ask(operation, member) }
        for fault in ["error(500)", "garbage", "offline"] {
            try await larder.fault(fault, of: "yandex_disk")
            try await ask(each: Self.refusedReads, member)
        }
        try await larder.fault("online", of: "yandex_disk")
        try await failingWrites(member)
        try await larder.fault("online", of: "yandex_disk")
        try await unknownWrites(member)
        try await failingUploads()
    }

    private func refusalsWithNothingStored() async throws {
        let all = Self.refusedReads + Self.diskWrites
        for fault in [
            "error(401)", "error(403)", "error(404)", "error(410)", "error(413)", "error(423)", "error(429)",
            "error(500)", "error(503)", "error(507)", "garbage", "offline",
        ] {
            try await larder.fault("online", of: "yandex_disk")
            var member = try await diskSession()
            _ = try await larder.send("DELETE", "/v1/disk/session?confirm=true", member)
            member = try await diskSession()
            for request in all {
                try await larder.fault(fault, of: "yandex_disk")
                try await ask(each: [request], member)
            }
        }
    }

    /// The file is known, and the upstream fails during the write: whether it was done is unknown.
    private func failingWrites(_ member: [String: String]) async throws {
        try await makeFile("/contract/a.txt", "text of a")
        for path in ["/contract/a.txt", "/contract/new.txt"] {
            try await makeFile(path, "text")
            try await ask("GET /v1/disk/file", query: "?path=\(path)&refresh=1", member)
        }
        for code in ["DiskUploadTrafficLimitExceeded", "LockedError"] {
            let failure = #"{"call":"PUT /resources","error":"\#(code)"}"#
            try await larder.control("POST", "/yandex_disk/failures", failure)
            try await ask("POST /v1/disk/folders", member, body: #"{"path":"/contract/locked"}"#)
        }
        let restoring: Request = ("POST /v1/disk/trash/restore", "", #"{"path":"trash:/x"}"#)
        // A status that the API does not have.
        try await larder.fault("error(418)", of: "yandex_disk")
        let writes: [Request] = [
            ("POST /v1/disk/folders", "", #"{"path":"/contract/folder"}"#), restoring,
            ("DELETE /v1/disk/file", "?path=/contract/a.txt", nil),
        ]
        try await ask(each: writes, member)
        try await larder.fault("error(500)", of: "yandex_disk")
        try await ask(each: Self.diskWrites + [restoring], member)
    }

    private func unknownWrites(_ member: [String: String]) async throws {
        try await unknownOutcome {
            _ = try await $0.ask("PUT /v1/disk/file/content", query: "?path=/contract/unknown.txt", member, body: "x")
        }
        try await unknownWrite("POST /v1/disk/folders", body: #"{"path":"/contract/unknown"}"#)
        try await unknownWrite("POST /v1/disk/links", body: #"{"path":"/contract/new.txt"}"#)
        let link = #"{"path":"/contract/a.txt"}"#
        _ = try await larder.send("POST", "/v1/disk/links", try await diskSession(), body: link)
        try await unknownWrite("DELETE /v1/disk/published", query: "?path=/contract/a.txt")
    }

    private func failingUploads() async throws {
        for (fault, path) in [
            ("error(413)", "x"), ("error(507)", "y"), ("error(412)", "z"), ("error(500)", "w"), ("garbage", "v"),
        ] {
            try await larder.fault(fault, of: "yandex_uploader")
            let query = "?path=/contract/\(path).txt"
            try await ask("PUT /v1/disk/file/content", query: query, try await diskSession(), body: "x")
        }
        try await larder.fault("online", of: "yandex_uploader")
    }
}

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

import TestKit
import Testing

extension ContractScenario {
    /// Reads of the app before anything was fetched.
    func nothingFetched() async throws {
        let member = try await session()
        let onlyStored = ["Cache-Control": "only-if-cached"].merging(member) { own, _ in own }
        try await ask("GET /v1/ships", onlyStored)
        try await ask("GET /v1/ships/{id}", onlyStored)
        try await ask("GET /v1/ships/{id}/image", member)
    }

    /// Login and logout, with logins that are refused.
    func sessions() async throws {
        let user = try await session(#"{"mode":"login","username":" Captain@example.com ","password":"secret"}"#)
        let guest = try await session()
        for member in [user, guest] {
            for isHead in [false, true] { try await ask("GET /v1/ships/session", member, isHead: isHead) }
            try await ask("DELETE /v1/ships/session", member)
            try await ask("GET /v1/ships/session", member)
        }
        try await sessionByCookie("ships", #"{"mode":"guest"}"#)
        let open = "POST /v1/ships/session"
        let unacceptable = [
            #"{}"#, #"{"mode":"root"}"#, #"{"mode":1}"#, #"{"mode":"login"}"#,
            #"{"mode":"login","username":"captain","password":""}"#,
            #"{"mode":"login","username":["a"],"password":"x"}"#, #"{"mode":"login","username":"a@b","password":"x"}"#,
        ]
        for body in unacceptable { #expect(try await ask(open, body: body).status == 422, "\(body)") }
        for body in [nil, "", "{", "[]", "null"] { #expect(try await ask(open, body: body).status == 400) }
        try await ask(open, ["Content-Type": "text/plain"], body: #"{"mode":"guest"}"#)
        try await ask(open, ["Content-Type": "application/json; charset=utf-8"], body: #"{"mode":"guest"}"#)
        try await ask(open, body: #"{"mode":"\#(String(repeating: "x", count: 70_000))"}"#)
    }

    /// List, details and picture while the upstream is there.
    func ships() async throws {
        // A ship of which only the name is known, one that is gone again, one without a picture.
        for (ship, members) in [
            ("a", #"{"name":"Nameonly"}"#),
            ("b", #"{"name":"Gone","mass_kg":1.5,"roles":["Tug","Support"],"year_built":1999}"#),
            ("c", #"{"name":"Lost","image":"http://192.0.2.1/a.png"}"#),
        ] {
            try await larder.control("PUT", "/spacex/ships/00000000000000000000000\(ship)", members)
        }
        let member = try await session()
        for query in [
            "", "", "?limit=2", "?limit=2&offset=2&refresh=0", "?offset=1000", "?since_revision=0",
            "?since_revision=9999", "?limit=500", "?q=barge", "?q=zzzz&limit=1", "?q=nameonli",
        ] {
            try await ask("GET /v1/ships", query: query, member)
        }
        try await askPages("GET /v1/ships", member)
        try await larder.control("DELETE", "/spacex/ships/00000000000000000000000b")
        try await ask("GET /v1/ships", query: "?refresh=1", member)
        try await ask(
            "GET /v1/ships",
            ["Cache-Control": "no-cache", "Accept-Encoding": "gzip"].merging(member) { own, _ in own }
        )
        for ship in [Self.ship, "00000000000000000000000a", "00000000000000000000000b", "00000000000000000000000c"] {
            for isHead in [false, true] {
                try await ask("GET /v1/ships/{id}", ship: ship, member, isHead: isHead)
                try await ask("GET /v1/ships/{id}/image", ship: ship, member, isHead: isHead)
            }
        }
        try await ask("GET /v1/ships", member, isHead: true)
        for query in ["?refresh=1", "?width=9", "?width=0"] {
            try await ask("GET /v1/ships/{id}/image", query: query, member)
        }
        for query in [
            "?limit=0", "?limit=501", "?limit=x", "?offset=-1", "?since_revision=-1", "?refresh=maybe",
            "?limit=1&limit=2",
        ] {
            #expect(try await ask("GET /v1/ships", query: query, member).status == 400, "\(query)")
        }
        try await ask("GET /v1/ships/{id}", query: "?refresh=maybe", member)
        try await ask("GET /v1/ships/{id}/image", query: "?refresh=maybe", member)
    }

    /// Deleting and bringing back.
    func changes() async throws {
        let member = try await session()
        for operation in ["GET /v1/ships/{id}", "GET /v1/ships/{id}/image", "DELETE /v1/ships/{id}"] {
            try await ask(operation, ship: "unknown", member)
            let lines = "Host: localhost\r\nConnection: close\r\nAuthorization: \(member["Authorization"] ?? "")\r\n"
            try await askRaw(operation, ship: "%FF", lines: lines)
        }
        let stale = ["If-Match": "\"0\""].merging(member) { own, _ in own }
        for operation in ["DELETE /v1/ships/{id}", "POST /v1/ships/restore", "DELETE /v1/ships/session"] {
            #expect(try await ask(operation, stale).status == 412, "\(operation)")
        }
        #expect(try await ask("POST /v1/ships/session", stale, body: #"{"mode":"guest"}"#).status == 412)
        for operation in [
            "DELETE /v1/ships/{id}", "DELETE /v1/ships/{id}", "GET /v1/ships/{id}", "GET /v1/ships/{id}/image",
            "GET /v1/ships",
        ] {
            try await ask(operation, member)
        }
        let restore = "POST /v1/ships/restore"
        for body in [#"{"ids":["\#(Self.ship)","nobody"]}"#, #"{"ids":[]}"#, #"{"ids":null}"#, "{}", nil] {
            #expect(try await ask(restore, member, body: body).status == 200, "\(body ?? "")")
        }
        for body in [#"{"ids":[1]}"#, #"{"ids":"a"}"#] {
            #expect(try await ask(restore, member, body: body).status == 422, "\(body)")
        }
        for body in ["{", "[]"] { #expect(try await ask(restore, member, body: body).status == 400, "\(body)") }
        let compressed = ["Content-Encoding": "gzip"].merging(member) { own, _ in own }
        #expect(try await ask(restore, compressed, body: "{}").status == 415)
        try await ask(restore, member, body: #"{"ids":["\#(String(repeating: "x", count: 70_000))"]}"#)
    }
}

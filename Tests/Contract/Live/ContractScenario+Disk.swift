import Foundation
import Testing

extension ContractScenario {
    /// Logs in to the Disk app with a token that the sandbox knows.
    func diskSession(_ token: String = "sandbox-token") async throws -> [String: String] {
        let response = try await ask(
            "POST /v1/disk/session",
            body: #"{"mode":"oauth_token","access_token":"\#(token)"}"#
        )
        return ["Authorization": "Bearer \(try response.json()["data"]?["token"]?.string ?? "")"]
    }

    private static let reads = ["profile", "profile/chart.svg", "recent", "files", "published", "trash"].map {
        "GET /v1/disk/\($0)"
    }
    private static let onlyStored = ["Cache-Control": "only-if-cached"]

    /// Onboarding, logging in and out, and what is wrong with a login.
    func diskSessions() async throws {
        for isHead in [false, true] {
            for screen in ["launch", "onboarding"] { try await ask("GET /v1/disk/\(screen)", isHead: isHead) }
        }
        for body in [#"{"seen":true}"#, #"{"seen":1}"#, "{}", "[", nil] {
            try await ask("PUT /v1/disk/onboarding", body: body)
        }
        try await ask("PUT /v1/disk/onboarding", ["Content-Type": "text/plain"], body: #"{"seen":true}"#)
        try await ask("PUT /v1/disk/onboarding", body: #"{"seen":"\#(String(repeating: "x", count: 70_000))"}"#)
        try await ask("GET /v1/disk/launch")
        let picture = "GET /v1/disk/onboarding/{id}/image"
        for page in ["documents", "offline", "sharing", "other"] {
            for isHead in [false, true] { try await ask(picture, ship: page, isHead: isHead) }
        }
        let seenPicture = try #require(try await ask(picture, ship: "documents").headers["etag"])
        try await ask(picture, ship: "documents", ["If-None-Match": seenPicture])
        try await askRaw(picture, ship: "%FF", lines: "Host: localhost\r\nConnection: close\r\n")
        let member = try await diskSession()
        try await diskSessionPreconditions(member)
        for operation in [
            "GET /v1/disk/launch", "GET /v1/disk/onboarding", "DELETE /v1/disk/onboarding", "GET /v1/disk/session",
        ] {
            try await ask(operation, member)
        }
        try await ask("GET /v1/disk/session", member, isHead: true)
        for operation in ["GET /v1/disk/launch", "GET /v1/disk/onboarding", "GET /v1/disk/session"] {
            let tag = try #require(try await ask(operation, member).headers["etag"])
            try await ask(operation, ["If-None-Match": tag].merging(member) { own, _ in own })
        }
        let open = "POST /v1/disk/session"
        let begun = try await ask("POST /v1/disk/session/authorization")
        let state = try #require(try begun.json().at(pointer: "/data/state")?.string)
        for body in [
            #"{"mode":"oauth_code","code":"0000000"}"#, #"{"mode":"oauth_code","code":"1","state":"\#(state)"}"#,
            #"{"mode":"oauth_code","code":"1","state":"x"}"#,
            #"{"mode":"oauth_token","access_token":"wrong"}"#, "{}", "[",
            #"{"mode":"\#(String(repeating: "x", count: 70_000))"}"#,
        ] { try await ask(open, body: body) }
        try await ask(open, ["Content-Type": "text/plain"], body: "{}")
        for fault in ["error(403)", "error(404)", "error(429)", "error(500)", "garbage", "offline"] {
            try await larder.fault(fault, of: "yandex_disk")
            try await ask(open, body: #"{"mode":"oauth_token","access_token":"sandbox-token"}"#)
        }
        try await larder.fault("online", of: "yandex_disk")
        for query in ["", "?confirm=x", "?confirm=true"] {
            try await ask("DELETE /v1/disk/session", query: query, member)
        }
        let unauthorised = try await larder.send(
            "POST",
            "/v1/disk/session",
            body: #"{"mode":"oauth_token","access_token":"sandbox-token"}"#
        )
        #expect(unauthorised.status == 201)
    }

    /// What changes sessions and the onboarding, at versions that they do not have.
    private func diskSessionPreconditions(_ member: [String: String]) async throws {
        let login = #"{"mode":"oauth_token","access_token":"sandbox-token"}"#
        let stale = ["If-Match": "\"bogus\""].merging(member) { own, _ in own }
        for (operation, query, body) in [
            ("PUT /v1/disk/onboarding", "", #"{"seen":true}"#), ("DELETE /v1/disk/onboarding", "", nil),
            ("POST /v1/disk/session", "", login), ("POST /v1/disk/session/authorization", "", nil),
            ("DELETE /v1/disk/session", "?confirm=true", nil),
        ] as [(String, String, String?)] {
            let response = try await ask(operation, query: query, stale, body: body)
            #expect(response.status == 412, "\(operation): \(response.text)")
        }
        #expect(
            try await ask("PUT /v1/disk/onboarding", ["Content-Range": "bytes 0-1/2"], body: "{}").status == 422
        )
        try await ask("PUT /v1/disk/onboarding", ["Content-Range": "bytes 0-1/2"], body: #"{"seen":true}"#)
    }

    /// Everything that is read, while the upstream is there.
    func disk() async throws {
        try await larder.control("PUT", "/yandex_disk/files", #"{"path":"disk:/contract/a.txt","text":"text of a"}"#)
        try await larder.control(
            "PUT",
            "/yandex_disk/files",
            #"{"path":"disk:/contract/none.zip","text":"no picture"}"#
        )
        var member = try await diskSession()
        let stored = Self.onlyStored.merging(member) { own, _ in own }
        for operation in Self.reads { try await ask(operation, stored) }
        for (operation, query) in [
            ("GET /v1/disk/file", "?path=/contract/a.txt"), ("GET /v1/disk/file/content", "?path=/contract/a.txt"),
            ("GET /v1/disk/file/preview", "?path=/contract/a.txt"), ("GET /v1/disk/search", "?query=a"),
        ] {
            try await ask(operation, query: query, stored)
        }
        for operation in Self.reads {
            for query in ["", "?refresh=1", "?refresh=maybe"] { try await ask(operation, query: query, member) }
            let response = try await ask(operation, member)
            let tag = try #require(response.headers["etag"], "\(operation): \(response.text)")
            for isHead in [false, true] {
                try await ask(operation, ["If-None-Match": tag].merging(member) { own, _ in own }, isHead: isHead)
            }
            try await ask(operation, ["Accept-Encoding": "gzip"].merging(member) { own, _ in own })
        }
        for screen in ["recent", "files", "published", "trash"] {
            for query in ["?limit=2&tz=Europe/Moscow", "?limit=2&offset=2", "?offset=1000", "?limit=0", "?tz=Mars"] {
                try await ask("GET /v1/disk/\(screen)", query: query, member)
            }
        }
        for query in ["?media_type=image", "?media_type=movies"] {
            try await ask("GET /v1/disk/recent", query: query, member)
        }
        for query in ["?path=/contract&sort=-name", "?path=a", "?sort=x", "?path=/contract/a.txt", "?path=/none"] {
            try await ask("GET /v1/disk/files", query: query, member)
        }
        for query in ["?type=file", "?type=dir", "?type=x"] {
            try await ask("GET /v1/disk/published", query: query, member)
        }
        for query in ["?query=a&limit=2&offset=0&tz=UTC&refresh=1", "?query=", "?query=zzzz"] {
            try await ask("GET /v1/disk/search", query: query, member)
        }
        let search = try await ask("GET /v1/disk/search", query: "?query=zzzz", member)
        try await ask(
            "GET /v1/disk/search",
            query: "?query=zzzz",
            ["If-None-Match": try #require(search.headers["etag"])].merging(member) { own, _ in own }
        )
        try await diskFiles(member)
        try await larder.control("POST", "/yandex_oauth/revoke", #"{"account":"boris"}"#)
        member = try await diskSession()
    }

    private func diskFiles(_ member: [String: String]) async throws {
        let pictures = try await ask("GET /v1/disk/recent", query: "?media_type=image", member)
        let picture = try #require(try pictures.json().at(pointer: "/data/items/0/preview_url")?.string)
        let pictureQuery = String(picture.drop { $0 != "?" })
        for isHead in [false, true] {
            try await ask("GET /v1/disk/file/preview", query: pictureQuery, member, isHead: isHead)
        }
        let shown = try await ask("GET /v1/disk/file/preview", query: pictureQuery, member)
        try await ask(
            "GET /v1/disk/file/preview",
            query: pictureQuery,
            ["If-None-Match": try #require(shown.headers["etag"])].merging(member) { own, _ in own }
        )
        for query in [
            "?path=/contract/none.zip", "?path=/none", "?path=a", "?path=/contract/a.txt&size=x&refresh=1",
            "?path=/contract/a.txt&refresh=1",
        ] {
            try await ask("GET /v1/disk/file/preview", query: query, member)
        }
        let file = "?path=/contract/a.txt"
        for isHead in [false, true] {
            try await ask("GET /v1/disk/file", query: file + "&refresh=0&tz=UTC", member, isHead: isHead)
        }
        let view = try await ask("GET /v1/disk/file", query: file, member)
        try await ask(
            "GET /v1/disk/file",
            query: file,
            ["If-None-Match": try #require(view.headers["etag"])].merging(member) { own, _ in own }
        )
        for query in ["?path=/none", "?path=", "?path=/contract"] {
            try await ask("GET /v1/disk/file", query: query, member)
        }
        for headers in [[:], [:], ["Range": "bytes=1-2"], ["Range": "bytes=100-"]] {
            try await ask(
                "GET /v1/disk/file/content",
                query: file + "&refresh=0",
                headers.merging(member) { own, _ in own }
            )
        }
        try await ask("GET /v1/disk/file/content", query: file, member, isHead: true)
        let tag = try #require(try await ask("GET /v1/disk/file/content", query: file, member).headers["etag"])
        try await ask(
            "GET /v1/disk/file/content",
            query: file,
            ["If-None-Match": tag].merging(member) { own, _ in own }
        )
        for query in ["?path=/none", "?path=/contract", "?path=x"] {
            try await ask("GET /v1/disk/file/content", query: query, member)
        }
        try await diskPages(member)
        try await diskDownloads(member)
    }

    private func diskPages(_ member: [String: String]) async throws {
        let (page, pdf) = ("GET /v1/disk/file/page", "GET /v1/disk/file/pdf")
        let found = try await ask("GET /v1/disk/search", query: "?query=.pdf&limit=100", member)
        let path = try #require(
            (try found.json().at(pointer: "/data/items")?.array ?? []).first { $0["viewer"] == .string("pdf") }?[
                "path"
            ]?.string
        )
        let encoded = path.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        for isHead in [false, true] {
            try await ask(page, query: "?path=\(encoded)&page=1&width=100&refresh=0", member, isHead: isHead)
        }
        let shown = try await ask(page, query: "?path=\(encoded)&page=1&width=100", member)
        if let tag = shown.headers["etag"] {
            try await ask(
                page,
                query: "?path=\(encoded)&page=1&width=100",
                ["If-None-Match": tag].merging(member) { own, _ in own }
            )
        }
        for query in [
            "?path=\(encoded)&page=10000", "?path=\(encoded)&page=x", "?path=/contract/none.zip", "?path=/none",
            "?path=/contract",
        ] {
            try await ask(page, query: query, member)
        }
        try await ask(page, query: "?path=/contract/none.zip", Self.onlyStored.merging(member) { own, _ in own })
        try await larder.control(
            "PUT",
            "/yandex_disk/files",
            #"{"path":"disk:/contract/office.docx","text":"no office file"}"#
        )
        for query in ["?path=/contract/office.docx&refresh=1", "?path=/contract/none.zip", "?path=/none", "?path=x"] {
            try await ask(pdf, query: query, member)
        }
        try await ask(pdf, query: "?path=/contract/office.docx", Self.onlyStored.merging(member) { own, _ in own })
    }

    private func diskDownloads(_ member: [String: String]) async throws {
        let (start, show) = ("POST /v1/disk/downloads", "GET /v1/disk/downloads/{id}")
        for body in [
            #"{"path":"/contract"}"#, "{}", "[", #"{"path":"/none"}"#,
            #"{"path":"\#(String(repeating: "x", count: 70_000))"}"#,
        ] {
            try await ask(start, member, body: body)
        }
        try await ask(start, ["Content-Type": "text/plain"].merging(member) { own, _ in own }, body: "{}")
        try await larder.fault("hold", of: "yandex_downloader")
        let begun = try await ask(start, member, body: #"{"path":"/contract/none.zip"}"#)
        let id = try #require(try begun.json().at(pointer: "/data/id")?.string)
        for isHead in [false, true] { try await ask(show, ship: id, member, isHead: isHead) }
        try await larder.fault("online", of: "yandex_downloader")
        try await larder.control("POST", "/upstreams/yandex_downloader/release")
        for _ in 0..<5000 {
            let seen = try await larder.send("GET", "/v1/disk/downloads/\(id)", member)
            if seen.status == 200 { break }
        }
        let done = try await ask(show, ship: id, member)
        try await ask(
            show,
            ship: id,
            ["If-None-Match": try #require(done.headers["etag"])].merging(member) { own, _ in own }
        )
        try await ask(show, ship: "unknown", member)
    }

    /// What one write needs: query and body, of something that is there.
    private static let writes: [(operation: String, query: String, body: String?)] = [
        ("POST /v1/disk/folders", "", #"{"path":"/contract/folder"}"#),
        ("PUT /v1/disk/file/content", "?path=/contract/new.txt&overwrite=true&tz=UTC", "bytes"),
        (
            "POST /v1/disk/files/copy", "?tz=UTC",
            #"{"from":"/contract/new.txt","to":"/contract/folder/copy.txt","overwrite":true}"#
        ),
        (
            "POST /v1/disk/files/move", "?tz=UTC",
            #"{"from":"/contract/new.txt","to":"/contract/folder/moved.txt","overwrite":true}"#
        ),
        ("PATCH /v1/disk/file", "?path=/contract/a.txt&tz=UTC", #"{"name":"b.txt"}"#),
        ("POST /v1/disk/links", "", #"{"path":"/contract/b.txt"}"#),
        ("DELETE /v1/disk/published", "?path=/contract/b.txt", nil),
        ("DELETE /v1/disk/file", "?path=/contract/b.txt&permanently=false", nil),
    ]

    /// Changes: done, under way, and those that are wrong.
    func diskChanges() async throws {
        let member = try await diskSession()
        try await larder.control("PUT", "/yandex_disk/files", #"{"path":"disk:/contract/a.txt","text":"text of a"}"#)
        for write in Self.writes { try await ask(write.operation, query: write.query, member, body: write.body) }
        try await ask("POST /v1/disk/folders", query: "?tz=UTC", member, body: #"{"path":"/contract/folder2"}"#)
        let trash = try await ask("GET /v1/disk/trash", query: "?refresh=1&limit=100", member)
        let gone =
            (try trash.json().at(pointer: "/data/items")?.array ?? []).last { $0["name"] == .string("b.txt") }?["path"]?
            .string ?? ""
        try await ask("POST /v1/disk/trash/restore", member, body: #"{"path":"\#(gone)"}"#)
        try await ask("POST /v1/disk/links", member, body: #"{"path":"/contract/b.txt","available_for_s":60}"#)
        try await ask("POST /v1/disk/links", member, body: #"{"path":"/contract/b.txt"}"#)
        try await diskConditions(member)
        // Wrong in every way.
        for operation in [
            "POST /v1/disk/folders", "POST /v1/disk/files/copy", "POST /v1/disk/files/move", "POST /v1/disk/links",
            "POST /v1/disk/trash/restore",
            "PATCH /v1/disk/file",
        ] {
            let query = operation.hasPrefix("PATCH") ? "?path=/contract/b.txt" : ""
            for body in ["[", "{}", #"{"path":7}"#, #"{"x":"\#(String(repeating: "x", count: 70_000))"}"#] {
                try await ask(operation, query: query, member, body: body)
            }
            try await ask(
                operation,
                query: query,
                ["Content-Type": "text/plain"].merging(member) { own, _ in own },
                body: "{}"
            )
        }
        for query in ["?path=", "?path=/", "?path=/contract&tz=Mars"] {
            try await ask("PATCH /v1/disk/file", query: query, member, body: #"{"name":"x"}"#)
        }
        for operation in ["POST /v1/disk/folders", "POST /v1/disk/files/copy", "POST /v1/disk/files/move"] {
            let body =
                operation.hasSuffix("folders")
                ? #"{"path":"/contract/f3"}"# : #"{"from":"/contract/b.txt","to":"/contract/c.txt","overwrite":true}"#
            try await ask(operation, query: "?tz=Mars", member, body: body)
        }
        for operation in ["DELETE /v1/disk/file", "DELETE /v1/disk/published", "PUT /v1/disk/file/content"] {
            try await ask(operation, query: "?path=", member, body: operation.hasPrefix("PUT") ? "x" : nil)
        }
        for (operation, query, body) in [
            ("POST /v1/disk/folders", "", #"{"path":"/contract/folder"}"#),
            ("POST /v1/disk/folders", "", #"{"path":"/none/x"}"#),
            (
                "POST /v1/disk/files/copy", "",
                #"{"from":"/contract/folder/copy.txt","to":"/contract/folder/moved.txt"}"#
            ),
            ("POST /v1/disk/files/copy", "", #"{"from":"/none","to":"/contract/x"}"#),
            (
                "POST /v1/disk/files/move", "",
                #"{"from":"/contract/folder/copy.txt","to":"/contract/folder/moved.txt"}"#
            ),
            ("POST /v1/disk/files/move", "", #"{"from":"/none","to":"/contract/x"}"#),
            ("PATCH /v1/disk/file", "?path=/none.txt", #"{"name":"x.txt"}"#),
            ("PATCH /v1/disk/file", "?path=/contract/folder/copy.txt", #"{"name":"moved.txt"}"#),
            ("POST /v1/disk/links", "", #"{"path":"/none"}"#), ("DELETE /v1/disk/published", "?path=/none", nil),
            ("DELETE /v1/disk/published", "?path=/contract", nil),
            ("DELETE /v1/disk/file", "?path=/none", nil),
            ("PUT /v1/disk/file/content", "?path=/contract/folder/copy.txt", "x"),
            ("PUT /v1/disk/file/content", "?path=/none/x", "x"),
            ("POST /v1/disk/trash/restore", "", #"{"path":"trash:/none"}"#),
        ] as [(String, String, String?)] { try await ask(operation, query: query, member, body: body) }
        try await larder.control("PUT", "/yandex_disk/files", #"{"path":"disk:/contract/t.txt","text":"t"}"#)
        try await ask("DELETE /v1/disk/file", query: "?path=/contract/t.txt", member)
        try await larder.control("PUT", "/yandex_disk/files", #"{"path":"disk:/contract/t.txt","text":"t"}"#)
        let again = try await ask("GET /v1/disk/trash", query: "?refresh=1&limit=100", member)
        let other =
            (try again.json().at(pointer: "/data/items")?.array ?? []).last { $0["name"] == .string("t.txt") }?["path"]?
            .string ?? ""
        try await ask("POST /v1/disk/trash/restore", member, body: #"{"path":"\#(other)"}"#)
        try await diskOperations(member, trashed: other)
    }

    /// Preconditions that do not hold, and parts of a file.
    private func diskConditions(_ member: [String: String]) async throws {
        try await larder.control("PUT", "/yandex_disk/files", #"{"path":"disk:/contract/t0.txt","text":"t"}"#)
        try await ask("DELETE /v1/disk/file", query: "?path=/contract/t0.txt", member)
        let trash = try await ask("GET /v1/disk/trash", query: "?refresh=1&limit=100", member)
        let gone =
            (try trash.json().at(pointer: "/data/items")?.array ?? []).last { $0["name"] == .string("t0.txt") }?[
                "path"
            ]?.string ?? ""
        let writes =
            [
                ("POST /v1/disk/folders", "", #"{"path":"/contract/folder"}"#),
                ("PUT /v1/disk/file/content", "?path=/contract/b.txt&overwrite=true", "x"),
                ("POST /v1/disk/files/copy", "", #"{"from":"/contract/b.txt","to":"/contract/c.txt"}"#),
                ("POST /v1/disk/files/move", "", #"{"from":"/contract/b.txt","to":"/contract/c.txt"}"#),
                ("PATCH /v1/disk/file", "?path=/contract/b.txt", #"{"name":"c.txt"}"#),
                ("POST /v1/disk/links", "", #"{"path":"/contract/b.txt"}"#),
                ("POST /v1/disk/downloads", "", #"{"path":"/contract/b.txt"}"#),
                ("DELETE /v1/disk/published", "?path=/contract/b.txt", nil),
                ("DELETE /v1/disk/file", "?path=/contract/b.txt", nil),
                ("POST /v1/disk/trash/restore", "", #"{"path":"\#(gone)"}"#),
            ] as [(String, String, String?)]
        for (operation, query, body) in writes {
            let response = try await ask(
                operation,
                query: query,
                ["If-Match": "\"0\""].merging(member) { own, _ in own },
                body: body
            )
            #expect(response.status == 412, "\(operation): \(response.text)")
        }
        let content = "PUT /v1/disk/file/content"
        try await ask(
            content,
            query: "?path=/contract/b.txt",
            ["If-None-Match": "*"].merging(member) { own, _ in own },
            body: "x"
        )
        try await ask(
            content,
            query: "?path=/contract/b.txt",
            ["Content-Range": "bytes 0-0/2"].merging(member) { own, _ in own },
            body: "x"
        )
    }

    /// An upload during which the connection to the uploader breaks, and the API is away when it is asked what came
    /// of it.
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

    private func diskOperations(_ member: [String: String], trashed: String) async throws {
        try await larder.control(
            "PUT",
            "/yandex_disk/operations",
            #"{"calls":["copy","move","delete","restore","upload"],"polls":1,"status":"success"}"#
        )
        try await larder.control("PUT", "/yandex_disk/files", #"{"path":"disk:/contract/a.txt","text":"text of a"}"#)
        let show = "GET /v1/disk/operations/{id}"
        for (operation, query, body) in [
            ("POST /v1/disk/files/copy", "", #"{"from":"/contract/a.txt","to":"/contract/1.txt"}"#),
            ("POST /v1/disk/files/move", "", #"{"from":"/contract/1.txt","to":"/contract/2.txt"}"#),
            ("PATCH /v1/disk/file", "?path=/contract/a.txt", #"{"name":"aa.txt"}"#),
            ("DELETE /v1/disk/file", "?path=/contract/none.zip", nil),
            ("PUT /v1/disk/file/content", "?path=/contract/late.txt", "late"),
            ("POST /v1/disk/trash/restore", "", #"{"path":"\#(trashed)","name":"back.txt"}"#),
        ] as [(String, String, String?)] {
            let response = try await ask(operation, query: query, member, body: body)
            guard let id = try response.json().at(pointer: "/data/id")?.string, response.status == 202 else { continue }
            for isHead in [true, false, false] { try await ask(show, ship: id, member, isHead: isHead) }
            let done = try await ask(show, ship: id, member)
            if let tag = done.headers["etag"] {
                try await ask(show, ship: id, ["If-None-Match": tag].merging(member) { own, _ in own })
            }
        }
        try await ask(show, ship: "unknown", member)
        try await larder.control("PUT", "/yandex_disk/operations", #"{"calls":["move"],"polls":1,"status":"failed"}"#)
        let failing = try await ask(
            "POST /v1/disk/files/move",
            member,
            body: #"{"from":"/contract/aa.txt","to":"/contract/3.txt"}"#
        )
        if let id = try failing.json().at(pointer: "/data/id")?.string {
            for _ in 0..<2 { try await ask(show, ship: id, member) }
        }
        try await larder.control("PUT", "/yandex_disk/operations", #"{"calls":["move"],"polls":9,"status":"success"}"#)
        let pending = try await ask(
            "POST /v1/disk/files/move",
            member,
            body: #"{"from":"/contract/aa.txt","to":"/contract/4.txt"}"#
        )
        let id = try #require(try pending.json().at(pointer: "/data/id")?.string)
        try await larder.fault("offline", of: "yandex_disk")
        try await ask("GET /v1/disk/profile", query: "?refresh=1", member)
        try await ask(show, ship: id, member)
        try await larder.fault("error(401)", of: "yandex_disk")
        try await ask("GET /v1/disk/profile", query: "?refresh=1", member)
        try await ask(show, ship: id, member)
        try await larder.fault("online", of: "yandex_disk")
        try await larder.control("PUT", "/yandex_disk/operations", #"{"calls":[],"polls":1,"status":"success"}"#)
    }

    /// The upstream refuses, fails or goes, with nothing stored.
    func diskRefusals() async throws {
        let reads =
            Self.reads.map { ($0, "?refresh=1", nil as String?) }
            + [
                ("GET /v1/disk/search", "?query=a&refresh=1", nil),
                ("GET /v1/disk/file", "?path=/contract/b.txt&refresh=1", nil),
                ("GET /v1/disk/file/content", "?path=/contract/b.txt&refresh=1", nil),
                ("GET /v1/disk/file/preview", "?path=/contract/b.txt&refresh=1", nil),
                ("GET /v1/disk/file/page", "?path=/contract/b.txt&refresh=1", nil),
                ("GET /v1/disk/file/pdf", "?path=/contract/office.docx&refresh=1", nil),
                ("POST /v1/disk/downloads", "", #"{"path":"/contract/b.txt"}"#),
                ("POST /v1/disk/trash/restore", "", #"{"path":"trash:/x"}"#),
            ]
        let all = reads + Self.writes.map { ($0.operation, $0.query, $0.body) }
        for fault in [
            "error(401)", "error(403)", "error(404)", "error(410)", "error(413)", "error(423)", "error(429)",
            "error(500)", "error(503)", "error(507)", "garbage",
            "offline",
        ] {
            try await larder.fault("online", of: "yandex_disk")
            var member = try await diskSession()
            _ = try await larder.send("DELETE", "/v1/disk/session?confirm=true", member)
            member = try await diskSession()
            if fault == "error(401)" {
                for (operation, query, body) in all {
                    try await larder.fault(fault, of: "yandex_disk")
                    try await ask(operation, query: query, member, body: body)
                }
            } else {
                try await larder.fault(fault, of: "yandex_disk")
                for (operation, query, body) in all { try await ask(operation, query: query, member, body: body) }
            }
        }
        try await larder.fault("online", of: "yandex_disk")
        let member = try await diskSession()
        // With something stored: flagged.
        for operation in Self.reads { try await ask(operation, member) }
        for fault in ["error(500)", "garbage", "offline"] {
            try await larder.fault(fault, of: "yandex_disk")
            for (operation, query, body) in reads { try await ask(operation, query: query, member, body: body) }
        }
        try await larder.fault("online", of: "yandex_disk")
        // What is to be changed is known, and the upstream fails behind that: whether it was done is not known.
        try await larder.control("PUT", "/yandex_disk/files", #"{"path":"disk:/contract/a.txt","text":"text of a"}"#)
        for path in ["/contract/a.txt", "/contract/new.txt"] {
            try await larder.control("PUT", "/yandex_disk/files", #"{"path":"disk:\#(path)","text":"text"}"#)
            try await ask("GET /v1/disk/file", query: "?path=\(path)&refresh=1", member)
        }
        // A status that the API does not have.
        try await larder.fault("error(418)", of: "yandex_disk")
        for (operation, query, body) in [
            ("POST /v1/disk/folders", "", #"{"path":"/contract/folder"}"#),
            ("POST /v1/disk/trash/restore", "", #"{"path":"trash:/x"}"#),
            ("DELETE /v1/disk/file", "?path=/contract/a.txt", nil),
        ] as [(String, String, String?)] {
            try await ask(operation, query: query, member, body: body)
        }
        try await larder.fault("error(500)", of: "yandex_disk")
        for write in Self.writes { try await ask(write.operation, query: write.query, member, body: write.body) }
        try await ask("POST /v1/disk/trash/restore", member, body: #"{"path":"trash:/x"}"#)
        try await larder.fault("online", of: "yandex_disk")
        try await unknownOutcome {
            _ = try await $0.ask("PUT /v1/disk/file/content", query: "?path=/contract/unknown.txt", member, body: "x")
        }
        for (fault, path) in [
            ("error(413)", "x"), ("error(507)", "y"), ("error(412)", "z"), ("error(500)", "w"), ("garbage", "v"),
        ] {
            try await larder.fault(fault, of: "yandex_uploader")
            try await ask(
                "PUT /v1/disk/file/content",
                query: "?path=/contract/\(path).txt",
                try await diskSession(),
                body: "x"
            )
        }
        try await larder.fault("online", of: "yandex_uploader")
    }
}

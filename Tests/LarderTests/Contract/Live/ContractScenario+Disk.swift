import Foundation
import TestKit
import Testing

extension ContractScenario {
    /// Logs in to the Disk app with a token that the sandbox knows.
    func diskSession(_ token: String = "sandbox-token") async throws -> [String: String] {
        let response = try await ask(
            "POST /v1/disk/session",
            body: #"{"mode":"oauth_token","access_token":"\#(token)"}"#
        )
        return ["Authorization": "Bearer \(try response.json["data"]?["token"]?.string ?? "")"]
    }

    static let diskReads = ["profile", "profile/chart.svg", "recent", "files", "published", "trash"].map {
        "GET /v1/disk/\($0)"
    }
    private static let onlyStored = ["Cache-Control": "only-if-cached"]

    /// Onboarding, login and logout, with logins that are refused.
    func diskSessions() async throws {
        try await diskOnboarding()
        let member = try await diskSession()
        try await diskSessionPreconditions(member)
        for operation in [
            "GET /v1/disk/launch", "GET /v1/disk/onboarding", "DELETE /v1/disk/onboarding", "GET /v1/disk/session",
        ] {
            try await ask(operation, member)
        }
        try await ask("GET /v1/disk/session", member, isHead: true)
        for operation in ["GET /v1/disk/launch", "GET /v1/disk/onboarding", "GET /v1/disk/session"] {
            try await askUnchanged(operation, member)
        }
        try await diskLoginsRefused()
        let token = #"{"mode":"oauth_token","access_token":"sandbox-token"}"#
        try await sessionByCookie("disk", token, isEnded: false)
        #expect(try await ask("POST /v1/disk/session/authorization", ["Larder-Session": "cookie"]).status == 201)
        for query in ["", "?confirm=x", "?confirm=true"] {
            try await ask("DELETE /v1/disk/session", query: query, member)
        }
        #expect(try await larder.send("POST", "/v1/disk/session", body: token).status == 201)
    }

    private func diskOnboarding() async throws {
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
    }

    private func diskLoginsRefused() async throws {
        let open = "POST /v1/disk/session"
        let begun = try await ask("POST /v1/disk/session/authorization")
        let state = try #require(try begun.json.at(pointer: "/data/state")?.string)
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
    }

    /// Writes of sessions and of the onboarding with an `If-Match` that is out of date.
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
        // A partial PUT is refused with any body.
        for body in ["{}", #"{"seen":true}"#] {
            let part = try await ask("PUT /v1/disk/onboarding", ["Content-Range": "bytes 0-1/2"], body: body)
            #expect(part.status == 400, "\(part.text)")
        }
    }

    /// Everything that is read, while the upstream is there.
    func disk() async throws {
        try await makeFile("/contract/a.txt", "text of a")
        try await makeFile("/contract/none.zip", "no picture")
        var member = try await diskSession()
        let stored = Self.onlyStored.merging(member) { own, _ in own }
        for operation in Self.diskReads { try await ask(operation, stored) }
        for (operation, query) in [
            ("GET /v1/disk/file", "?path=/contract/a.txt"), ("GET /v1/disk/file/content", "?path=/contract/a.txt"),
            ("GET /v1/disk/file/preview", "?path=/contract/a.txt"), ("GET /v1/disk/search", "?q=a"),
        ] {
            try await ask(operation, query: query, stored)
        }
        for operation in Self.diskReads {
            for query in ["", "?refresh=1", "?refresh=maybe"] { try await ask(operation, query: query, member) }
            let response = try await ask(operation, member)
            let tag = try #require(response.headers["etag"], "\(operation): \(response.text)")
            for isHead in [false, true] {
                try await ask(operation, ["If-None-Match": tag].merging(member) { own, _ in own }, isHead: isHead)
            }
            try await ask(operation, ["Accept-Encoding": "gzip"].merging(member) { own, _ in own })
        }
        try await diskLists(member)
        try await diskSearches(member)
        try await diskFiles(member)
        try await larder.control("POST", "/yandex_oauth/revoke", #"{"account":"boris"}"#)
        member = try await diskSession()
    }

    private func diskLists(_ member: [String: String]) async throws {
        for screen in ["recent", "files", "published", "trash"] {
            for query in ["?limit=2&tz=Europe/Moscow", "?limit=2&offset=2", "?offset=1000", "?limit=0", "?tz=Mars"] {
                try await ask("GET /v1/disk/\(screen)", query: query, member)
            }
            try await askPages("GET /v1/disk/\(screen)", member)
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
    }

    private func diskSearches(_ member: [String: String]) async throws {
        for query in ["?q=a&limit=2&offset=0&tz=UTC&refresh=1", "?q=", "?q=zzzz"] {
            try await ask("GET /v1/disk/search", query: query, member)
        }
        try await askPages("GET /v1/disk/search", query: "?q=t&limit=1", member)
        for choice in ["type=file&media_type=document,image&sort=-size", "sort=smell", "media_type=smell"] {
            try await ask("GET /v1/disk/search", query: "?q=t&\(choice)", member)
        }
        try await askUnchanged("GET /v1/disk/search", query: "?q=zzzz", member)
    }

    private func diskFiles(_ member: [String: String]) async throws {
        let pictures = try await ask("GET /v1/disk/recent", query: "?media_type=image", member)
        let picture = try #require(try pictures.json.at(pointer: "/data/items/0/preview_url")?.string)
        let pictureQuery = String(picture.drop { $0 != "?" })
        for isHead in [false, true] {
            try await ask("GET /v1/disk/file/preview", query: pictureQuery, member, isHead: isHead)
        }
        try await askUnchanged("GET /v1/disk/file/preview", query: pictureQuery, member)
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
        try await askUnchanged("GET /v1/disk/file", query: file, member)
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
        try await askUnchanged("GET /v1/disk/file/content", query: file, member)
        for query in ["?path=/none", "?path=/contract", "?path=x", file + "&disposition=attachment"] {
            try await ask("GET /v1/disk/file/content", query: query, member)
        }
        try await diskPages(member)
        try await diskDownloads(member)
    }

    private func diskPages(_ member: [String: String]) async throws {
        let (page, pdf) = ("GET /v1/disk/file/page", "GET /v1/disk/file/pdf")
        let found = try await ask("GET /v1/disk/search", query: "?q=.pdf&limit=100", member)
        let path = try #require(
            (try found.json.at(pointer: "/data/items")?.array ?? []).first { $0["viewer"] == .string("pdf") }?[
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
        let id = try #require(try begun.json.at(pointer: "/data/id")?.string)
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
}

extension ContractScenario {
    /// Documents of files of the Disk, and back.
    func documentsAndDisk() async throws {
        let member = try await diskSession()
        let create = "POST /v1/pdf/documents/from-disk"
        let save = "POST /v1/pdf/documents/{id}/save-to-disk"
        let created = try await ask(create, member, body: #"{"path":"disk:/Горы.jpg"}"#)
        #expect(created.status == 201, "\(created.text)")
        for page in ["a4", "a5&margin_mm=5&quality=80"] {
            try await ask(create, query: "?page=\(page)", member, body: #"{"path":"disk:/Горы.jpg"}"#)
        }
        let location = try #require(created.headers["location"])
        let id = String(location.suffix(16))
        try await diskDocumentsRefused(member, id)
        for _ in 0..<2 { try await ask(save, ship: id, member, body: #"{"path":"disk:/Горы.pdf"}"#) }
        try await ask(save, member, body: #"{"path":"disk:/Море.pdf"}"#)
        for fault in ["garbage", "error(500)", "offline"] {
            try await larder.fault(fault, of: "yandex_disk")
            try await ask(save, ship: id, member, body: #"{"path":"disk:/Буря.pdf"}"#)
        }
        try await larder.fault("online", of: "yandex_disk")
        _ = try await diskSession()
        try await unknownOutcome { _ = try await $0.ask(save, ship: id, member, body: #"{"path":"disk:/Шторм.pdf"}"#) }
    }

    /// Requests to take a file of the Disk, and to save there, that are wrong or out of date.
    private func diskDocumentsRefused(_ member: [String: String], _ id: String) async throws {
        let (create, save) = ("POST /v1/pdf/documents/from-disk", "POST /v1/pdf/documents/{id}/save-to-disk")
        for body in [
            "[", "{}", #"{"path":7}"#, #"{"path":"nowhere"}"#, #"{"path":"disk:/nowhere.jpg"}"#,
            #"{"path":"disk:/Документы/Договор.docx"}"#,
        ] {
            try await ask(create, member, body: body)
            try await ask(save, ship: id, member, body: body)
        }
        let large = #"{"path":"\#(String(repeating: "x", count: 70_000))"}"#
        for operation in [create, save] {
            try await ask(operation, ship: id, member, body: large)
            for field in [["Content-Type": "text/plain"], ["Larder-Profile": "no name"]] {
                let fields = field.merging(member) { own, _ in own }
                try await ask(operation, ship: id, fields, body: #"{"path":"disk:/a.pdf"}"#)
            }
        }
        let precondition = ["If-Match": "\"99\""].merging(member) { own, _ in own }
        for (operation, path) in [(create, "Горы.jpg"), (save, "Горы.pdf")] {
            let response = try await ask(operation, ship: id, precondition, body: #"{"path":"disk:/\#(path)"}"#)
            #expect(response.status == 412, "\(operation): \(response.text)")
        }
    }
}

import Foundation
import TestKit
import Testing

extension ContractScenario {
    /// Writes with their query and body. The files that they need exist, or an earlier write makes them.
    static let diskWrites: [(operation: String, query: String, body: String?)] = [
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
        for write in Self.diskWrites { try await ask(write.operation, query: write.query, member, body: write.body) }
        try await ask("POST /v1/disk/folders", query: "?tz=UTC", member, body: #"{"path":"/contract/folder2"}"#)
        let trash = try await ask("GET /v1/disk/trash", query: "?refresh=1&limit=100", member)
        let gone =
            (try trash.json.at(pointer: "/data/items")?.array ?? []).last { $0["name"] == .string("b.txt") }?["path"]?
            .string ?? ""
        try await ask("POST /v1/disk/trash/restore", member, body: #"{"path":"\#(gone)"}"#)
        try await ask("POST /v1/disk/links", member, body: #"{"path":"/contract/b.txt","available_for_s":60}"#)
        try await ask("POST /v1/disk/links", member, body: #"{"path":"/contract/b.txt"}"#)
        try await diskConditions(member)
        // Wrong in every way.
        for operation in [
            "POST /v1/disk/folders", "POST /v1/disk/files/copy", "POST /v1/disk/files/move", "POST /v1/disk/links",
            "POST /v1/disk/trash/restore", "POST /v1/disk/files/batch",
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
        for operation in [
            "DELETE /v1/disk/file", "DELETE /v1/disk/published", "DELETE /v1/disk/trash/item",
            "PUT /v1/disk/file/content",
        ] {
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
            (
                "POST /v1/disk/files/batch", "",
                #"{"action":"move","to":"/contract","paths":["/none","/contract/b.txt"]}"#
            ),
        ] as [(String, String, String?)] { try await ask(operation, query: query, member, body: body) }
        try await larder.control("PUT", "/yandex_disk/files", #"{"path":"disk:/contract/t.txt","text":"t"}"#)
        try await ask("DELETE /v1/disk/file", query: "?path=/contract/t.txt", member)
        try await larder.control("PUT", "/yandex_disk/files", #"{"path":"disk:/contract/t.txt","text":"t"}"#)
        let again = try await ask("GET /v1/disk/trash", query: "?refresh=1&limit=100", member)
        let other =
            (try again.json.at(pointer: "/data/items")?.array ?? []).last { $0["name"] == .string("t.txt") }?["path"]?
            .string ?? ""
        try await ask("POST /v1/disk/trash/restore", member, body: #"{"path":"\#(other)"}"#)
        try await diskOperations(member, trashed: other)
        try await ask("DELETE /v1/disk/trash", member)
    }

    /// Preconditions that do not hold, and parts of a file.
    private func diskConditions(_ member: [String: String]) async throws {
        try await larder.control("PUT", "/yandex_disk/files", #"{"path":"disk:/contract/t0.txt","text":"t"}"#)
        try await ask("DELETE /v1/disk/file", query: "?path=/contract/t0.txt", member)
        let trash = try await ask("GET /v1/disk/trash", query: "?refresh=1&limit=100", member)
        let gone =
            (try trash.json.at(pointer: "/data/items")?.array ?? []).last { $0["name"] == .string("t0.txt") }?[
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
                ("DELETE /v1/disk/trash/item", "?path=\(gone)", nil), ("DELETE /v1/disk/trash", "", nil),
                ("POST /v1/disk/files/batch", "", #"{"action":"delete","paths":["/contract/b.txt"]}"#),
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
        try await ask("DELETE /v1/disk/trash/item", query: "?path=\(gone)", member)
        let content = "PUT /v1/disk/file/content"
        let form = ["Content-Type": "multipart/form-data; boundary=x"].merging(member) { own, _ in own }
        #expect(try await ask(content, query: "?path=/contract/b.txt", form, body: "--x--").status == 415)
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

    func diskOperations(_ member: [String: String], trashed: String) async throws {
        try await larder.control(
            "PUT",
            "/yandex_disk/operations",
            #"{"calls":["copy","move","delete","restore","empty","upload"],"polls":1,"status":"success"}"#
        )
        try await larder.control("PUT", "/yandex_disk/files", #"{"path":"disk:/contract/a.txt","text":"text of a"}"#)
        let show = "GET /v1/disk/operations/{id}"
        let trash = try await ask("GET /v1/disk/trash", query: "?refresh=1&limit=100", member)
        let paths = try trash.json.data.items.elements.compactMap(\.path.string)
        let purged = try #require(paths.first { $0 != trashed })
        for (operation, query, body) in [
            ("POST /v1/disk/files/copy", "", #"{"from":"/contract/a.txt","to":"/contract/1.txt"}"#),
            ("POST /v1/disk/files/move", "", #"{"from":"/contract/1.txt","to":"/contract/2.txt"}"#),
            ("PATCH /v1/disk/file", "?path=/contract/a.txt", #"{"name":"aa.txt"}"#),
            ("DELETE /v1/disk/file", "?path=/contract/none.zip", nil),
            ("PUT /v1/disk/file/content", "?path=/contract/late.txt", "late"),
            ("POST /v1/disk/trash/restore", "", #"{"path":"\#(trashed)","name":"back.txt"}"#),
            ("DELETE /v1/disk/trash/item", "?path=\(purged)", nil), ("DELETE /v1/disk/trash", "", nil),
        ] as [(String, String, String?)] {
            let response = try await ask(operation, query: query, member, body: body)
            guard let id = try response.json.at(pointer: "/data/id")?.string, response.status == 202 else { continue }
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
        if let id = try failing.json.at(pointer: "/data/id")?.string {
            for _ in 0..<2 { try await ask(show, ship: id, member) }
        }
        try await larder.control("PUT", "/yandex_disk/operations", #"{"calls":["move"],"polls":9,"status":"success"}"#)
        let pending = try await ask(
            "POST /v1/disk/files/move",
            member,
            body: #"{"from":"/contract/aa.txt","to":"/contract/4.txt"}"#
        )
        let id = try #require(try pending.json.at(pointer: "/data/id")?.string)
        #expect(try await ask(show, ship: id, member).status == 202)
        try await larder.fault("offline", of: "yandex_disk")
        try await ask("GET /v1/disk/profile", query: "?refresh=1", member)
        try await ask(show, ship: id, member)
        try await larder.fault("error(401)", of: "yandex_disk")
        try await ask("GET /v1/disk/profile", query: "?refresh=1", member)
        try await ask(show, ship: id, member)
        try await larder.fault("online", of: "yandex_disk")
        try await larder.control("PUT", "/yandex_disk/operations", #"{"calls":[],"polls":1,"status":"success"}"#)
    }
}

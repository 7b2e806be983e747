import Foundation
import TestKit
import Testing

extension ContractScenario {
    /// Writes with their query and body. The files that they need exist, or an earlier write makes them.
    static let diskWrites: [Request] = [
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
        try await makeFile("/contract/a.txt", "text of a")
        try await ask(each: Self.diskWrites, member)
        try await ask("POST /v1/disk/folders", query: "?tz=UTC", member, body: #"{"path":"/contract/folder2"}"#)
        let gone = try await trashed("b.txt", member)
        try await ask("POST /v1/disk/trash/restore", member, body: #"{"path":"\#(gone)"}"#)
        try await ask("POST /v1/disk/links", member, body: #"{"path":"/contract/b.txt","available_for_s":60}"#)
        try await ask("POST /v1/disk/links", member, body: #"{"path":"/contract/b.txt"}"#)
        try await diskConditions(member)
        try await wrongWrites(member)
        try await ask(each: Self.impossibleWrites, member)
        try await makeFile("/contract/t.txt", "t")
        try await ask("DELETE /v1/disk/file", query: "?path=/contract/t.txt", member)
        try await makeFile("/contract/t.txt", "t")
        let other = try await trashed("t.txt", member)
        try await ask("POST /v1/disk/trash/restore", member, body: #"{"path":"\#(other)"}"#)
        try await diskOperations(member, trashed: other)
        try await ask("DELETE /v1/disk/trash", member)
    }

    /// Writes that are wrong in every way.
    private func wrongWrites(_ member: [String: String]) async throws {
        for operation in [
            "POST /v1/disk/folders", "POST /v1/disk/files/copy", "POST /v1/disk/files/move", "POST /v1/disk/links",
            "POST /v1/disk/trash/restore", "POST /v1/disk/files/batch", "PATCH /v1/disk/file",
        ] {
            let query = operation.hasPrefix("PATCH") ? "?path=/contract/b.txt" : ""
            for body in ["[", "{}", #"{"path":7}"#, #"{"x":"\#(String(repeating: "x", count: 70_000))"}"#] {
                try await ask(operation, query: query, member, body: body)
            }
            let plain = ["Content-Type": "text/plain"].merging(member) { own, _ in own }
            try await ask(operation, query: query, plain, body: "{}")
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
    }

    /// Writes that the state of the Disk does not allow.
    private static let impossibleWrites: [Request] = [
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
        ("POST /v1/disk/files/batch", "", #"{"action":"move","to":"/contract","paths":["/none","/contract/b.txt"]}"#),
    ]

    /// Makes a file at the API.
    func makeFile(_ path: String, _ text: String) async throws {
        try await larder.control("PUT", "/yandex_disk/files", #"{"path":"disk:\#(path)","text":"\#(text)"}"#)
    }

    /// Returns where in the trash the last file of a name is.
    private func trashed(_ name: String, _ member: [String: String]) async throws -> String {
        let trash = try await ask("GET /v1/disk/trash", query: "?refresh=1&limit=100", member)
        let items = try trash.json.at(pointer: "/data/items")?.elements ?? []
        return items.last { $0["name"] == .string(name) }?["path"]?.string ?? ""
    }

    /// Preconditions that do not hold, and parts of a file.
    private func diskConditions(_ member: [String: String]) async throws {
        try await makeFile("/contract/t0.txt", "t")
        try await ask("DELETE /v1/disk/file", query: "?path=/contract/t0.txt", member)
        let gone = try await trashed("t0.txt", member)
        let writes: [Request] = [
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
        ]
        for (operation, query, body) in writes {
            let fields = ["If-Match": "\"0\""].merging(member) { own, _ in own }
            let response = try await ask(operation, query: query, fields, body: body)
            #expect(response.status == 412, "\(operation): \(response.text)")
        }
        try await ask("DELETE /v1/disk/trash/item", query: "?path=\(gone)", member)
        let content = "PUT /v1/disk/file/content"
        let form = ["Content-Type": "multipart/form-data; boundary=x"].merging(member) { own, _ in own }
        #expect(try await ask(content, query: "?path=/contract/b.txt", form, body: "--x--").status == 415)
        for condition in [["If-None-Match": "*"], ["Content-Range": "bytes 0-0/2"]] {
            let fields = condition.merging(member) { own, _ in own }
            try await ask(content, query: "?path=/contract/b.txt", fields, body: "x")
        }
    }

    /// Has calls of the API be carried out as operations, which are asked for this often.
    private func operations(_ calls: String..., polls: Int, status: String = "success") async throws {
        let order = #"{"calls":\#(calls),"polls":\#(polls),"status":"\#(status)"}"#
        try await larder.control("PUT", "/yandex_disk/operations", order)
    }

    /// Changes that go on at the API: done, failed, under way, and asked for while the API is away.
    private func diskOperations(_ member: [String: String], trashed: String) async throws {
        try await operations("copy", "move", "delete", "restore", "empty", "upload", polls: 1)
        try await makeFile("/contract/a.txt", "text of a")
        let trash = try await ask("GET /v1/disk/trash", query: "?refresh=1&limit=100", member)
        let paths = try trash.json.data.items.elements.compactMap(\.path.string)
        let purged = try #require(paths.first { $0 != trashed })
        let writes: [Request] = [
            ("POST /v1/disk/files/copy", "", #"{"from":"/contract/a.txt","to":"/contract/1.txt"}"#),
            ("POST /v1/disk/files/move", "", #"{"from":"/contract/1.txt","to":"/contract/2.txt"}"#),
            ("PATCH /v1/disk/file", "?path=/contract/a.txt", #"{"name":"aa.txt"}"#),
            ("DELETE /v1/disk/file", "?path=/contract/none.zip", nil),
            ("PUT /v1/disk/file/content", "?path=/contract/late.txt", "late"),
            ("POST /v1/disk/trash/restore", "", #"{"path":"\#(trashed)","name":"back.txt"}"#),
            ("DELETE /v1/disk/trash/item", "?path=\(purged)", nil), ("DELETE /v1/disk/trash", "", nil),
        ]
        for write in writes { try await follow(write, member) }
        try await ask(Self.showOperation, ship: "unknown", member)
        try await operations("move", polls: 1, status: "failed")
        if let id = try await move(to: "/contract/3.txt", member) {
            for _ in 0..<2 { try await ask(Self.showOperation, ship: id, member) }
        }
        try await operations("move", polls: 9)
        let id = try #require(try await move(to: "/contract/4.txt", member))
        #expect(try await ask(Self.showOperation, ship: id, member).status == 202)
        for fault in ["offline", "error(401)"] {
            try await larder.fault(fault, of: "yandex_disk")
            try await ask("GET /v1/disk/profile", query: "?refresh=1", member)
            try await ask(Self.showOperation, ship: id, member)
        }
        try await larder.fault("online", of: "yandex_disk")
        try await operations(polls: 1)
    }

    private static let showOperation = "GET /v1/disk/operations/{id}"

    /// Begins a write, and asks for its operation until the end.
    private func follow(_ write: Request, _ member: [String: String]) async throws {
        let response = try await ask(write.operation, query: write.query, member, body: write.body)
        guard let id = try response.json.at(pointer: "/data/id")?.string, response.status == 202 else { return }
        for isHead in [true, false, false] { try await ask(Self.showOperation, ship: id, member, isHead: isHead) }
        let done = try await ask(Self.showOperation, ship: id, member)
        if let tag = done.headers["etag"] {
            try await ask(Self.showOperation, ship: id, ["If-None-Match": tag].merging(member) { own, _ in own })
        }
    }

    /// Moves a file, and returns the id of the operation.
    private func move(to path: String, _ member: [String: String]) async throws -> String? {
        let body = #"{"from":"/contract/aa.txt","to":"\#(path)"}"#
        let moving = try await ask("POST /v1/disk/files/move", member, body: body)
        return try moving.json.at(pointer: "/data/id")?.string
    }
}

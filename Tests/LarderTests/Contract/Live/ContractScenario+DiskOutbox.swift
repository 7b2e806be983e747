import Foundation
import TestKit
import Testing

extension ContractScenario {
    private static let outbox = "GET /v1/disk/outbox"
    private static let prefer = ["Prefer": "respond-async"]
    /// Writes that can be left one after the other, of files that were seen.
    private static let leavable: [(operation: String, query: String, body: String?)] = [
        ("POST /v1/disk/folders", "", #"{"path":"/outbox/folder"}"#),
        ("PUT /v1/disk/file/content", "?path=/outbox/new.txt", "bytes"),
        ("POST /v1/disk/files/move", "", #"{"from":"/outbox/a.txt","to":"/outbox/folder/a.txt"}"#),
        ("PATCH /v1/disk/file", "?path=/outbox/b.txt", #"{"name":"bb.txt"}"#),
        ("POST /v1/disk/links", "", #"{"path":"/outbox/c.txt"}"#),
        ("DELETE /v1/disk/published", "?path=/outbox/d.txt", nil),
        ("DELETE /v1/disk/file", "?path=/outbox/e.txt", nil),
    ]

    /// Leaves a write that is taken back.
    ///
    /// - Returns: Its id, with the Disk in reach again, while it needs a decision.
    func leftFolder(_ member: [String: String]) async throws -> String {
        try await larder.fault("offline", of: "yandex_disk")
        try await ask("GET /v1/disk/files", query: "?refresh=1", member)
        let fields = Self.prefer.merging(member) { own, _ in own }
        let left = try await ask("POST /v1/disk/folders", fields, body: #"{"path":"/left"}"#)
        #expect(left.status == 202, "\(left.text)")
        let id = try #require(try left.json.at(pointer: "/data/id")?.string)
        try await larder.control("PUT", "/yandex_disk/files", #"{"path":"disk:/left","text":"theirs"}"#)
        try await larder.fault("online", of: "yandex_disk")
        try await reach(member)
        try await outbox(id, is: "conflict", member)
        for target in ["files", "profile", "recent", "published", "trash", "search?q=txt"] {
            _ = try await larder.send("GET", "/v1/disk/\(target)", member)
        }
        return id
    }

    /// Asks the Disk something, so that it counts as in reach.
    private func reach(_ member: [String: String]) async throws {
        _ = try await larder.send("GET", "/v1/disk/files?refresh=1", member)
    }

    private func outbox(_ id: String, is state: String, _ member: [String: String]) async throws {
        try await BoundedWait.poll(for: "the write to be \(state)") {
            let screen = try await larder.send("GET", "/v1/disk/outbox/\(id)", member)
            return try screen.json.at(pointer: "/data/state") == .string(state)
        }
    }

    /// Writes that are left: seen, taken back, tried again, in conflict, and refused.
    func diskOutbox() async throws {
        for name in ["a", "b", "c", "d", "e"] {
            let file = #"{"path":"disk:/outbox/\#(name).txt","text":"text of \#(name)"}"#
            try await larder.control("PUT", "/yandex_disk/files", file)
        }
        let member = try await diskSession()
        try await ask("POST /v1/disk/links", member, body: #"{"path":"/outbox/d.txt"}"#)
        for path in ["/", "/outbox"] { try await ask("GET /v1/disk/files", query: "?path=\(path)", member) }
        try await larder.fault("offline", of: "yandex_disk")
        try await reach(member)
        let ids = try await leave(member)
        try await lists(member)
        let (one, retry) = ("\(Self.outbox)/{id}", "POST /v1/disk/outbox/{id}/retry")
        for id in [ids[0], "unknown"] {
            for isHead in [false, true] { try await ask(one, query: "?tz=UTC", ship: id, member, isHead: isHead) }
            try await ask(retry, query: "?tz=UTC", ship: id, member)
            // The target of the move is in the folder.
            try await ask("DELETE /v1/disk/outbox/{id}", ship: id, member)
        }
        let tag = try #require(try await ask(one, ship: ids[0], member).headers["etag"])
        try await ask(one, ship: ids[0], ["If-None-Match": tag].merging(member) { own, _ in own })
        for operation in [one, retry] { try await ask(operation, query: "?tz=Mars", ship: ids[0], member) }
        try await resolutions(of: ids[0], member)
        try await waiting(ids, member)
        try await conflict(member)
    }

    private func leave(_ member: [String: String]) async throws -> [String] {
        let fields = Self.prefer.merging(member) { own, _ in own }
        var ids: [String] = []
        for write in Self.leavable {
            try await ask(write.operation, query: write.query, member, body: write.body)
            let left = try await ask(write.operation, query: write.query, fields, body: write.body)
            #expect(left.status == 202, "\(write.operation): \(left.text)")
            ids.append(try left.json.at(pointer: "/data/id")?.string ?? "")
        }
        for name in ["x", "y"] {
            let left = try await ask("POST /v1/disk/folders", fields, body: #"{"path":"/outbox/\#(name)"}"#)
            ids.append(try left.json.at(pointer: "/data/id")?.string ?? "")
        }
        // The outbox is full for every kind of write.
        for (operation, query, body) in [
            ("POST /v1/disk/folders", "", #"{"path":"/outbox/z"}"#),
            ("PUT /v1/disk/file/content", "?path=/outbox/z.txt", "bytes"),
            ("POST /v1/disk/files/move", "", #"{"from":"/outbox/c.txt","to":"/outbox/cc.txt"}"#),
            ("PATCH /v1/disk/file", "?path=/outbox/c.txt", #"{"name":"cc.txt"}"#),
            ("POST /v1/disk/links", "", #"{"path":"/outbox/new.txt"}"#),
            ("DELETE /v1/disk/published", "?path=/outbox/c.txt", nil),
            ("DELETE /v1/disk/file", "?path=/outbox/c.txt", nil),
        ] as [(String, String, String?)] {
            let refused = try await ask(operation, query: query, fields, body: body)
            #expect(refused.problemCode == "outbox-full", "\(operation): \(refused.text)")
        }
        return ids
    }

    private func lists(_ member: [String: String]) async throws {
        for query in ["", "?limit=1&offset=1&tz=Europe/Moscow", "?limit=0", "?tz=Mars"] {
            for isHead in [false, true] { try await ask(Self.outbox, query: query, member, isHead: isHead) }
        }
        try await askPages(Self.outbox, member)
        let tag = try #require(try await ask(Self.outbox, member).headers["etag"])
        for isHead in [false, true] {
            try await ask(Self.outbox, ["If-None-Match": tag].merging(member) { own, _ in own }, isHead: isHead)
        }
        for screen in ["files", "recent", "published", "profile", "trash"] {
            try await ask("GET /v1/disk/\(screen)", member)
        }
        for path in ["/outbox", "/outbox/folder"] {
            try await ask("GET /v1/disk/files", query: "?path=\(path)", member)
        }
        for path in ["/outbox/new.txt", "/outbox/bb.txt", "/outbox/e.txt"] {
            try await ask("GET /v1/disk/file", query: "?path=\(path)", member)
            try await ask("GET /v1/disk/file/content", query: "?path=\(path)", member)
            try await ask("GET /v1/disk/file/preview", query: "?path=\(path)", member)
        }
        try await ask("GET /v1/disk/search", query: "?q=txt", member)
        try await ask("DELETE /v1/disk/session", member)
    }

    /// All that is wrong with ending a conflict.
    private func resolutions(of id: String, _ member: [String: String]) async throws {
        let resolve = "POST /v1/disk/outbox/{id}/resolve"
        let long = #"{"x":"\#(String(repeating: "x", count: 70_000))"}"#
        for body in ["[", "{}", #"{"how":"else"}"#, #"{"how":"discard"}"#, long] {
            try await ask(resolve, ship: id, member, body: body)
        }
        try await ask(resolve, query: "?tz=Mars", ship: id, member, body: #"{"how":"discard"}"#)
        try await ask(resolve, ship: "unknown", member, body: #"{"how":"discard"}"#)
        let text = ["Content-Type": "text/plain"].merging(member) { own, _ in own }
        try await ask(resolve, ship: id, text, body: "{}")
    }

    /// A write that the Disk refuses for the time being waits and is tried again. Every screen reports a refused token.
    private func waiting(_ ids: [String], _ member: [String: String]) async throws {
        try await larder.fault("error(423)", of: "yandex_disk")
        try await reach(member)
        try await outbox(ids[0], is: "waiting", member)
        try await ask("\(Self.outbox)/{id}", ship: ids[0], member)
        try await ask("POST /v1/disk/outbox/{id}/retry", ship: ids[0], member)
        for id in ids.reversed() { try await ask("DELETE /v1/disk/outbox/{id}", ship: id, member) }
        try await larder.fault("error(401)", of: "yandex_disk")
        try await reach(member)
        try await ask(Self.outbox, member)
        try await ask("\(Self.outbox)/{id}", ship: ids[0], member)
        try await ask("DELETE /v1/disk/outbox/{id}", ship: ids[0], member)
        try await ask("POST /v1/disk/outbox/{id}/retry", ship: ids[0], member)
        try await ask("POST /v1/disk/outbox/{id}/resolve", ship: ids[0], member, body: #"{"how":"discard"}"#)
        try await larder.fault("online", of: "yandex_disk")
    }

    private func conflict(_ before: [String: String]) async throws {
        _ = try await larder.send("DELETE", "/v1/disk/session?confirm=true", before)
        let member = try await diskSession()
        try await ask("GET /v1/disk/files", member)
        let id = try await leftFolder(member)
        try await ask("\(Self.outbox)/{id}", ship: id, member)
        let resolve = "POST /v1/disk/outbox/{id}/resolve"
        let ended = try await ask(resolve, query: "?tz=UTC", ship: id, member, body: #"{"how":"discard"}"#)
        #expect(ended.status == 200, "\(ended.text)")
        try await ask("\(Self.outbox)/{id}", ship: id, member)
        try await ask(Self.outbox, member)
    }
}

extension ContractScenario {
    private static let offline = "/v1/disk/offline"
    private static let body = #"{"path":"/offline/a.txt"}"#

    /// Files that are kept offline: marked, listed, and ended, with requests that are refused.
    func diskOffline() async throws {
        for name in ["a", "b"] {
            let file = #"{"path":"disk:/offline/\#(name).txt","text":"text of \#(name)"}"#
            try await larder.control("PUT", "/yandex_disk/files", file)
        }
        let member = try await diskSession()
        let (get, put, delete) = ("GET \(Self.offline)", "PUT \(Self.offline)", "DELETE \(Self.offline)")
        let empty = try await ask(get, member)
        #expect(empty.status == 200)
        for path in ["/offline", "/offline/a.txt", "/offline/a.txt"] {
            try await ask(put, query: "?tz=Europe/Moscow", member, body: #"{"path":"\#(path)"}"#)
        }
        try await kept(member)
        for query in ["", "?limit=1&tz=UTC", "?limit=0", "?tz=Mars"] {
            for isHead in [false, true] { try await ask(get, query: query, member, isHead: isHead) }
        }
        try await askPages(get, member)
        let tag = try #require(try await ask(get, member).headers["etag"])
        for isHead in [false, true] {
            try await ask(get, ["If-None-Match": tag].merging(member) { own, _ in own }, isHead: isHead)
        }
        try await ask(get, ["Accept-Encoding": "gzip"].merging(member) { own, _ in own })
        for query in ["", "?path=/offline"] {
            try await ask("GET /v1/disk/files", query: query, member)
            try await ask("GET /v1/disk/file", query: "?path=/offline/a.txt", member)
        }
        for body in [
            "[", "{}", #"{"path":"/"}"#, #"{"path":"/none"}"#, #"{"x":"\#(String(repeating: "x", count: 70_000))"}"#,
        ] {
            try await ask(put, member, body: body)
        }
        try await ask(put, query: "?tz=Mars", member, body: Self.body)
        try await ask(put, ["Content-Type": "text/plain"].merging(member) { own, _ in own }, body: "{}")
        let stale = ["If-Match": "\"bogus\""].merging(member) { own, _ in own }
        try await ask(put, stale, body: Self.body)
        try await ask(delete, query: "?path=/offline/a.txt", stale)
        for query in ["?path=/offline/a.txt", "?path=/offline/a.txt", "?path=/", "?path="] {
            try await ask(delete, query: query, member)
        }
        try await diskOfflineRefusals()
    }

    /// Waits until everything that is marked is kept.
    private func kept(_ member: [String: String]) async throws {
        try await BoundedWait.poll(for: "the files to be kept offline") {
            let items = try await larder.send("GET", Self.offline, member).json["data"]?["items"]?.array ?? []
            return !items.isEmpty && items.allSatisfy { $0["state"] == .string("kept") }
        }
    }

    /// The upstream refuses, fails or is unreachable when an unknown file is to be marked.
    private func diskOfflineRefusals() async throws {
        for fault in [
            "error(401)", "error(403)", "error(404)", "error(423)", "error(429)", "error(500)", "error(507)",
            "garbage", "offline",
        ] {
            try await larder.fault("online", of: "yandex_disk")
            var member = try await diskSession()
            _ = try await larder.send("DELETE", "/v1/disk/session?confirm=true", member)
            member = try await diskSession()
            try await larder.fault(fault, of: "yandex_disk")
            try await ask("PUT \(Self.offline)", member, body: Self.body)
            guard fault == "error(401)" else { continue }
            // The token is known to be refused now.
            try await ask("GET \(Self.offline)", member)
            try await ask("DELETE \(Self.offline)", query: "?path=/offline/a.txt", member)
        }
        try await larder.fault("online", of: "yandex_disk")
        _ = try await diskSession()
    }
}

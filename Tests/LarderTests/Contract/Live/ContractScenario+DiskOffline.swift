import Foundation
import TestKit
import Testing

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

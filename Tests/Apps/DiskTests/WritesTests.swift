import Foundation
import GRDB
import HTTP
import HTTPTypes
import Screens
import TestKit
import Testing
import Upstream

@testable import Disk

@Suite("Deletions and renames over HTTP")
struct WritesTests {
    @Test(
        "DISK-27 a deleted file is removed from the upstream and from every stored list; by default it is in the trash",
        arguments: [false, true]
    )
    func delete(permanently: Bool) async throws {
        try await WriteScenario.run { app, disk, token in
            let response = try await app.ask(
                .delete,
                "/v1/disk/file?path=/a.txt\(permanently ? "&permanently=true" : "")",
                as: token
            )
            response.expectScreen("disk.file")
            #expect(response["data.path"] == "disk:/a.txt" && response["data.back"] == "/v1/disk/files?path=disk%3A%2F")
            #expect(disk.change { $0.nodes["disk:/a.txt"] == nil })
            #expect(
                disk.asked.contains {
                    $0.hasPrefix("DELETE /resources?path=disk%3A%2Fa.txt&permanently=\(permanently)")
                }
            )
            let trash = try await app.get("/v1/disk/trash", as: token)
            #expect(DiskHarness.names(trash).count == (permanently ? 0 : 1))
            try await app.ask(.delete, "/v1/disk/file?path=/a.txt", as: token).expectProblem("not-found", 404)
            let lists = try await WriteScenario.stored(app, token)
            #expect(
                lists == [
                    "recent": ["a inner.txt"], "files": ["folder"], "published": [], "search?q=a": ["a inner.txt"],
                ]
            )
            #expect(
                app.events.published.contains {
                    $0.kind == "screen-changed" && $0.audience == .account(app: "disk", account: "1130")
                }
            )
        }
    }

    @Test("DISK-27 a deleted folder takes what is in it out of every list")
    func deleteFolder() async throws {
        try await WriteScenario.run { app, _, token in
            #expect(try await app.ask(.delete, "/v1/disk/file?path=/folder", as: token).status == 200)
            let lists = try await WriteScenario.stored(app, token)
            #expect(lists["recent"] == ["a.txt"] && lists["files"] == ["a.txt"] && lists["search?q=a"] == ["a.txt"])
            try await app.get("/v1/disk/files?path=/folder", as: token).expectProblem("upstream-unavailable", 503)
            #expect(try await app.get("/v1/disk/files", as: token)["meta.page.total"] == 1)
        }
    }

    @Test("DISK-28 a renamed file has its new name upstream and in all stored lists, and keeps its date and content")
    func rename() async throws {
        try await WriteScenario.run { app, disk, token in
            _ = try await app.get("/v1/disk/file/content?path=/a.txt", as: token)
            let response = try await app.ask(
                .patch,
                "/v1/disk/file?path=/a.txt",
                as: token,
                json: #"{"name":"  aa.txt "}"#
            )
            response.expectScreen("disk.file")
            #expect(
                response["data.name"] == "aa.txt" && response["data.path"] == "disk:/aa.txt"
                    && response["data.created_at"] == "2024-04-21T10:57:13Z"
            )
            #expect(response["data.downloaded"] == true)
            #expect(disk.change { $0.nodes["disk:/aa.txt"] != nil && $0.nodes["disk:/a.txt"] == nil })
            let lists = try await WriteScenario.stored(app, token)
            #expect(
                lists == [
                    "recent": ["a inner.txt", "aa.txt"], "files": ["aa.txt", "folder"], "published": ["aa.txt"],
                    "search?q=a": ["a inner.txt", "aa.txt"],
                ]
            )
            #expect(try await app.get("/v1/disk/file/content?path=/aa.txt", as: token).text == "text of a")
            #expect(
                try await app.get("/v1/disk/file?path=/aa.txt", as: token)["data.created_at"] == "2024-04-21T10:57:13Z"
            )
            try await app.get("/v1/disk/file?path=/a.txt", as: token).expectProblem("upstream-unavailable", 503)
        }
    }

    @Test("DISK-28 a renamed folder takes what is in it along, in every stored list and offline")
    func renameFolder() async throws {
        let disk = WriteScenario.disk()
        disk.makeFolder("disk:/folder/deep")
        disk.put("disk:/folder/deep/x.txt", "deep")
        disk.makeFolder("disk:/folder-like")
        try await DiskHarness.run(disk) { app, token in
            try await WriteScenario.seen(app, token)
            _ = try await app.get("/v1/disk/files?path=/folder/deep", as: token)
            _ = try await app.get("/v1/disk/file/content?path=/folder/deep/x.txt", as: token)
            #expect(
                try await app.ask(.patch, "/v1/disk/file?path=/folder", as: token, json: #"{"name":"Ordner 1+1"}"#)
                    .status == 200
            )
            disk.goAway()
            let opened = try await app.get("/v1/disk/files?path=/Ordner%201%2B1&refresh=1", as: token)
            #expect(DiskHarness.names(opened) == ["a inner.txt", "deep"])
            #expect(opened["meta.offline"] == true)
            #expect(
                DiskHarness.names(try await app.get("/v1/disk/files?path=/Ordner%201%2B1/deep", as: token)) == ["x.txt"]
            )
            #expect(
                try await app.get("/v1/disk/file/content?path=/Ordner%201%2B1/deep/x.txt", as: token).text == "deep"
            )
            try await app.get("/v1/disk/files?path=/folder", as: token).expectProblem("upstream-unavailable", 503)
            #expect(DiskHarness.names(try await app.get("/v1/disk/files", as: token)).contains("folder-like"))
            #expect(try await app.get("/v1/disk/recent", as: token).text.contains("disk:/Ordner 1+1/a inner.txt"))
        }
    }

    @Test(
        "DISK-29 invalid names are refused and no request is sent",
        arguments: [
            #""""#, #""   ""#, #""a/b.txt""#, #""..""#, #""\#(String(repeating: "x", count: 252)).txt""#,
            #""a\u0000.txt""#, #""a\n.txt""#, "null", "7",
            #""a.pdf""#, #""a""#,
        ]
    )
    func badNames(name: String) async throws {
        try await DiskHarness.run(WriteScenario.disk()) { app, disk, token in
            let answer = try await app.ask(.patch, "/v1/disk/file?path=/a.txt", as: token, json: #"{"name":\#(name)}"#)
            answer.expectProblem("validation-failed", 422)
            #expect(answer["errors.0.pointer"] == "/name")
            #expect(!disk.asked.contains { $0.hasPrefix("POST") })
        }
    }

    @Test("DISK-29 a name of 255 characters is valid; an existing target is 409, unchanged; the same name does nothing")
    func names() async throws {
        let disk = WriteScenario.disk()
        disk.put("disk:/b.txt", "text of b")
        try await DiskHarness.run(disk) { app, token in
            try await app.ask(.patch, "/v1/disk/file?path=/a.txt", as: token, json: #"{"name":"b.txt"}"#).expectProblem(
                "target-exists",
                409
            )
            #expect(disk.change { $0.nodes["disk:/b.txt"]?.bytes } == Array("text of b".utf8))
            #expect(disk.asked.contains { $0.hasPrefix("POST") && $0.contains("overwrite=false") })
            let posts = disk.asked.count { $0.hasPrefix("POST") }
            #expect(
                try await app.ask(.patch, "/v1/disk/file?path=/a.txt", as: token, json: #"{"name":"a.txt"}"#).status
                    == 200
            )
            #expect(disk.asked.count { $0.hasPrefix("POST") } == posts)
            let long = String(repeating: "я", count: 251) + ".txt"
            #expect(
                try await app.ask(.patch, "/v1/disk/file?path=/a.txt", as: token, json: #"{"name":"\#(long)"}"#)[
                    "data.name"
                ] == .string(long)
            )
            try await app.ask(.patch, "/v1/disk/file?path=/none.txt", as: token, json: #"{"name":"x.txt"}"#)
                .expectProblem("not-found", 404)
            try await app.ask(.patch, "/v1/disk/file?path=/", as: token, json: #"{"name":"x"}"#).expectProblem(
                "invalid-parameter",
                400
            )
        }
    }

    @Test("two renames to one name at once: one is 200, the other 409, and nothing is lost")
    func race() async throws {
        let disk = WriteScenario.disk()
        disk.put("disk:/b.txt", "text of b")
        try await DiskHarness.run(disk) { app, token in
            _ = try await app.get("/v1/disk/files", as: token)
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for name in ["a", "b"] {
                    group.addTask {
                        try await app.ask(
                            .patch,
                            "/v1/disk/file?path=/\(name).txt",
                            as: token,
                            json: #"{"name":"c.txt"}"#
                        ).status
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }.sorted()
            }
            #expect(statuses == [200, 409])
            let upstream = disk.change { state in
                state.nodes.keys.filter { $0.hasSuffix(".txt") && !$0.contains("folder") }.sorted()
            }
            disk.goAway()
            #expect(
                DiskHarness.names(try await app.get("/v1/disk/files?refresh=1", as: token)).filter { $0 != "folder" }
                    .sorted()
                    == upstream.map { String($0.dropFirst("disk:/".count)) }
            )
        }
    }

    @Test(
        "DISK-31 offline every change is refused, nothing is queued and nothing stored is touched",
        arguments: [UnreachableReason.refused, .reset, .totalTimeout, .nameResolution]
    )
    func offline(reason: UnreachableReason) async throws {
        try await WriteScenario.run { app, disk, token in
            disk.goAway(reason)
            // Nothing of a read is in doubt: this one finds out.
            #expect(try await app.get("/v1/disk/files?refresh=1", as: token)["meta.offline"] == true)
            let writes: [(HTTPRequest.Method, String, String?)] = [
                (.patch, "file?path=/a.txt", #"{"name":"b.txt"}"#), (.delete, "file?path=/a.txt", nil),
                (.post, "links", #"{"path":"/folder"}"#),
                (.delete, "published?path=/a.txt", nil), (.post, "folders", #"{"path":"/new"}"#),
                (.post, "files/move", #"{"from":"/a.txt","to":"/folder/a.txt"}"#),
                (.post, "files/copy", #"{"from":"/a.txt","to":"/folder/a.txt"}"#),
                (.put, "file/content?path=/new.txt", "{}"),
                (.post, "trash/restore", #"{"path":"trash:/x"}"#),
            ]
            let before = app.events.published.count
            for (method, target, body) in writes {
                let answer = try await app.ask(method, "/v1/disk/\(target)", as: token, json: body)
                answer.expectProblem("offline-write-refused", 503)
                #expect(answer["offline"] == true)
            }
            #expect(app.events.published.dropFirst(before).filter { $0.kind == "screen-changed" }.isEmpty)
            let lists = try await WriteScenario.stored(app, token)
            #expect(
                lists == [
                    "recent": ["a inner.txt", "a.txt"], "files": ["a.txt", "folder"], "published": ["a.txt"],
                    "search?q=a": ["a inner.txt", "a.txt"],
                ]
            )
            disk.intercept(nil)
            let count = disk.requests.count
            #expect(try await app.get("/v1/disk/profile?refresh=1", as: token)["meta.offline"] == false)
            #expect(disk.asked.dropFirst(count).allSatisfy { $0.hasPrefix("GET") })
        }
    }
}

extension WritesTests {
    @Test("TRUST-05 a time zone that does not exist is refused before anything is sent")
    func timeZone() async throws {
        try await WriteScenario.run { app, disk, token in
            let writes: [(HTTPRequest.Method, String, String)] = [
                (.post, "/v1/disk/folders?tz=PST", #"{"path":"/new"}"#),
                (.patch, "/v1/disk/file?path=/a.txt&tz=PST", #"{"name":"b.txt"}"#),
                (.post, "/v1/disk/files/move?tz=PST", #"{"from":"/a.txt","to":"/b.txt"}"#),
                (.post, "/v1/disk/files/copy?tz=PST", #"{"from":"/a.txt","to":"/b.txt"}"#),
            ]
            for (method, target, body) in writes {
                try await app.ask(method, target, as: token, json: body).expectProblem("invalid-parameter", 400)
            }
            #expect(disk.asked.allSatisfy { $0.hasPrefix("GET") }, "\(disk.asked)")
        }
    }

    @Test("DISK-45 several files are deleted, moved or kept offline by one request, which says what became of each")
    func batch() async throws {
        let disk = WriteScenario.disk()
        for name in ["b.txt", "c.txt"] { disk.put("disk:/\(name)") }
        try await DiskHarness.run(disk) { app, token in
            try await WriteScenario.seen(app, token)
            func batch(_ members: String, _ prefer: Bool = false) async throws -> Exchanged {
                var fields: HTTPFields = [.contentType: "application/json"]
                if prefer { fields[.prefer] = "respond-async" }
                let body = Data("{\(members)}".utf8)
                return try await app.ask(.post, "/v1/disk/files/batch", as: token, fields, body: body)
            }
            let kept = try await batch(#""action":"keep_offline","paths":["/a.txt","/nothing.txt","/folder"]"#)
            #expect(kept.all("state", in: "data.results") == ["done", "failed", "done"], "\(kept.text)")
            #expect(kept["data.results.1.problem"] == "not-found" && kept["data.results.1.path"] == "disk:/nothing.txt")
            #expect(try await app.get("/v1/disk/offline", as: token)["meta.page.total"] == 2)
            let moved = try await batch(#""action":"move","to":"/folder","paths":["/b.txt","/folder","/c.txt"]"#)
            #expect(moved.all("state", in: "data.results") == ["done", "failed", "done"], "\(moved.text)")
            #expect(disk.change { $0.nodes["disk:/folder/b.txt"] != nil && $0.nodes["disk:/folder/c.txt"] != nil })
            let deleted = try await batch(#""action":"delete","paths":["/folder/b.txt"],"permanently":true"#)
            #expect(deleted["data.results.0.state"] == "done" && deleted["data.results.0.problem"] == .null)
            #expect(try await app.get("/v1/disk/trash", as: token)["meta.state"] == "empty")
            let paths = (0...100).map { #""/\#($0)""# }.joined(separator: ",")
            for members in [
                #""paths":["/a.txt"]"#, #""action":"copy","paths":["/a.txt"]"#, #""action":"delete""#,
                #""action":"delete","paths":["/"]"#, #""action":"delete","paths":["/a.txt","disk:/a.txt"]"#,
                #""action":"move","paths":["/a.txt"]"#, #""action":"delete","paths":[\#(paths)]"#,
                #""action":"move","to":"/new","overwrite":true,"paths":["/a.txt","/folder/a.txt"]"#,
            ] {
                try await batch(members).expectProblem("validation-failed", 422)
            }
            disk.goAway()
            let away = try await batch(#""action":"delete","paths":["/a.txt","/folder"]"#)
            #expect(away.all("problem", in: "data.results") == ["offline-write-refused", "offline-write-refused"])
            let left = try await batch(#""action":"delete","paths":["/a.txt","/folder"]"#, true)
            #expect(left.all("state", in: "data.results") == ["queued", "queued"] && left["meta.pending"] == 2)
            disk.intercept(nil)
            await app.drained()
            #expect(disk.change { $0.nodes["disk:/a.txt"] == nil && $0.nodes["disk:/folder"] == nil })
        }
    }
}

import Foundation
import GRDB
import HTTPTypes
import Screens
import TestKit
import Testing
import Upstream

@testable import Disk

@Suite("Changes over HTTP")
struct ChangeScreenTests {
    private static let screens = ["recent", "files", "published", "search?query=a"]

    private func made() -> FakeYandexDisk {
        let disk = FakeYandexDisk()
        disk.put("disk:/a.txt", "text of a")
        disk.makeFolder("disk:/folder")
        disk.put("disk:/folder/a inner.txt", "inner")
        disk.change { $0.nodes["disk:/a.txt"]?.publicURL = "https://yadi.sk/d/a" }
        return disk
    }

    /// Names of all lists as they are stored, without the upstream.
    private func stored(_ app: DiskHarness, _ token: String) async throws -> [String: [String]] {
        app.disk.goAway()
        var names: [String: [String]] = [:]
        for screen in Self.screens {
            names[screen] = DiskHarness.names(
                try await app.get("/v1/disk/\(screen)", as: token, [.cacheControl: "no-cache"])
            )
        }
        return names
    }

    private func seen(_ app: DiskHarness, _ token: String) async throws {
        for screen in Self.screens + ["files?path=/folder"] {
            #expect(try await app.get("/v1/disk/\(screen)", as: token).status == 200)
        }
    }

    @Test(
        "DISK-27 a deleted file is gone from the upstream and from every stored list; by default it is in the trash",
        arguments: [false, true]
    )
    func delete(permanently: Bool) async throws {
        let disk = made()
        try await DiskHarness.run(disk) { app in
            let token = try await app.logIn()
            try await seen(app, token)
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
            let lists = try await stored(app, token)
            #expect(
                lists == [
                    "recent": ["a inner.txt"], "files": ["folder"], "published": [], "search?query=a": ["a inner.txt"],
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
        let disk = made()
        try await DiskHarness.run(disk) { app in
            let token = try await app.logIn()
            try await seen(app, token)
            #expect(try await app.ask(.delete, "/v1/disk/file?path=/folder", as: token).status == 200)
            let lists = try await stored(app, token)
            #expect(lists["recent"] == ["a.txt"] && lists["files"] == ["a.txt"] && lists["search?query=a"] == ["a.txt"])
            try await app.get("/v1/disk/files?path=/folder", as: token).expectProblem("upstream-unavailable", 503)
            #expect(try await app.get("/v1/disk/files", as: token)["meta.page.total"] == 1)
        }
    }

    @Test(
        "DISK-28 a renamed file has its new name upstream and in all stored lists, and keeps its date and content"
    )
    func rename() async throws {
        let disk = made()
        try await DiskHarness.run(disk) { app in
            let token = try await app.logIn()
            try await seen(app, token)
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
                    && response["data.created"] == "2024-04-21T10:57:13Z"
            )
            #expect(response["data.downloaded"] == true)
            #expect(disk.change { $0.nodes["disk:/aa.txt"] != nil && $0.nodes["disk:/a.txt"] == nil })
            let lists = try await stored(app, token)
            #expect(
                lists == [
                    "recent": ["a inner.txt", "aa.txt"], "files": ["aa.txt", "folder"], "published": ["aa.txt"],
                    "search?query=a": ["a inner.txt", "aa.txt"],
                ]
            )
            #expect(try await app.get("/v1/disk/file/content?path=/aa.txt", as: token).text == "text of a")
            #expect(
                try await app.get("/v1/disk/file?path=/aa.txt", as: token)["data.created"] == "2024-04-21T10:57:13Z"
            )
            try await app.get("/v1/disk/file?path=/a.txt", as: token).expectProblem("upstream-unavailable", 503)
        }
    }

    @Test("DISK-28 a renamed folder takes what is in it along, in every stored list and offline")
    func renameFolder() async throws {
        let disk = made()
        disk.makeFolder("disk:/folder/deep")
        disk.put("disk:/folder/deep/x.txt", "deep")
        disk.makeFolder("disk:/folder-like")
        try await DiskHarness.run(disk) { app in
            let token = try await app.logIn()
            try await seen(app, token)
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
        let disk = made()
        try await DiskHarness.run(disk) { app in
            let token = try await app.logIn()
            let answer = try await app.ask(.patch, "/v1/disk/file?path=/a.txt", as: token, json: #"{"name":\#(name)}"#)
            answer.expectProblem("validation-failed", 422)
            #expect(answer["errors.0.pointer"] == "/name")
            #expect(!disk.asked.contains { $0.hasPrefix("POST") })
        }
    }

    @Test(
        "DISK-29 a name of 255 characters is valid; an existing target is 409, unchanged; the same name does nothing"
    )
    func names() async throws {
        let disk = made()
        disk.put("disk:/b.txt", "text of b")
        try await DiskHarness.run(disk) { app in
            let token = try await app.logIn()
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
        let disk = made()
        disk.put("disk:/b.txt", "text of b")
        try await DiskHarness.run(disk) { app in
            let token = try await app.logIn()
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

    @Test("DISK-30 what the upstream does in its own time is followed to its end")
    func followed() async throws {
        let disk = made()
        disk.change { $0.pollsOfWrites = 0 }
        try await DiskHarness.run(disk) { app in
            let token = try await app.logIn()
            _ = try await app.get("/v1/disk/files", as: token)
            #expect(
                try await app.ask(.patch, "/v1/disk/file?path=/a.txt", as: token, json: #"{"name":"z.txt"}"#)[
                    "data.name"
                ] == "z.txt"
            )
            #expect(try await app.ask(.delete, "/v1/disk/file?path=/folder", as: token).status == 200)
            #expect(disk.asked.count { $0.contains("/operations/op") } == 2)
            disk.goAway()
            #expect(DiskHarness.names(try await app.get("/v1/disk/files?refresh=1", as: token)) == ["z.txt"])
        }
    }

    @Test("DISK-30 what takes longer is 202 with a status URL; its end is taken in when it is seen")
    func underWay() async throws {
        let disk = made()
        disk.change { $0.pollsOfWrites = 2 }
        try await DiskHarness.run(disk) { app in
            let token = try await app.logIn()
            _ = try await app.get("/v1/disk/files", as: token)
            let answer = try await app.ask(.delete, "/v1/disk/file?path=/a.txt", as: token)
            answer.expectScreen("disk.operation", status: 202)
            #expect(
                answer["meta.state"] == "loading" && answer["data.status"] == "running"
                    && answer["data.action"] == "delete"
            )
            let location = try #require(answer.headerFields[.location])
            #expect(answer["data.href"] == .string(location))
            let running = try await app.get(location, as: token)
            #expect(running.status == 202 && running["data.status"] == "running")
            for _ in 0..<2 {
                let done = try await app.get(location, as: token)
                #expect(done.status == 200 && done["data.status"] == "done")
            }
            disk.goAway()
            #expect(DiskHarness.names(try await app.get("/v1/disk/files?refresh=1", as: token)) == ["folder"])
            try await app.get("/v1/disk/operations/unknown", as: token).expectProblem("not-found", 404)
        }
    }

    @Test(
        "DISK-30 one that the upstream cannot finish changes nothing here, and is a problem or failed",
        arguments: [0, 1],
        ["failed", "failure"]
    )
    func failedOperation(polls: Int, word: String) async throws {
        let disk = made()
        disk.change {
            $0.pollsOfWrites = polls
            $0.operationEnd = word
        }
        try await DiskHarness.run(disk) { app in
            let token = try await app.logIn()
            _ = try await app.get("/v1/disk/files", as: token)
            let answer = try await app.ask(.delete, "/v1/disk/file?path=/a.txt", as: token)
            if polls == 0 {
                answer.expectProblem("upstream-bad-response", 502)
            } else {
                #expect(
                    try await app.get(try #require(answer.headerFields[.location]), as: token)["data.status"]
                        == "failed"
                )
            }
            disk.goAway()
            #expect(DiskHarness.names(try await app.get("/v1/disk/files?refresh=1", as: token)) == ["a.txt", "folder"])
        }
    }

    @Test(
        "DISK-31 offline every change is refused, nothing is queued and nothing stored is touched",
        arguments: [UnreachableReason.refused, .reset, .totalTimeout, .nameResolution]
    )
    func offline(reason: UnreachableReason) async throws {
        let disk = made()
        try await DiskHarness.run(disk) { app in
            let token = try await app.logIn()
            try await seen(app, token)
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
            for (method, target, body) in writes {
                let answer = try await app.ask(method, "/v1/disk/\(target)", as: token, json: body)
                answer.expectProblem("offline-write-refused", 503)
                #expect(answer["offline"] == true)
            }
            #expect(app.events.published.filter { $0.kind == "screen-changed" }.isEmpty)
            let lists = try await stored(app, token)
            #expect(
                lists == [
                    "recent": ["a inner.txt", "a.txt"], "files": ["a.txt", "folder"], "published": ["a.txt"],
                    "search?query=a": ["a inner.txt", "a.txt"],
                ]
            )
            disk.intercept(nil)
            let count = disk.requests.count
            #expect(try await app.get("/v1/disk/profile?refresh=1", as: token)["meta.offline"] == false)
            #expect(disk.asked.dropFirst(count).allSatisfy { $0.hasPrefix("GET") })
        }
    }

    @Test(
        "DISK-26 a share link publishes what is not public, 201; the second is the same, 200; it is listed as published"
    )
    func links() async throws {
        let disk = made()
        try await DiskHarness.run(disk) { app in
            let token = try await app.logIn()
            _ = try await app.get("/v1/disk/published", as: token)
            let first = try await app.ask(
                .post,
                "/v1/disk/links",
                as: token,
                json: #"{"path":"/folder","available_for_s":null}"#
            )
            #expect(first.status == 201)
            let second = try await app.ask(.post, "/v1/disk/links", as: token, json: #"{"path":"disk:/folder/"}"#)
            #expect(second.status == 200 && second["data.public_url"] == first["data.public_url"])
            #expect(disk.asked.count { $0.hasPrefix("PUT /resources/publish") } == 1)
            #expect(DiskHarness.names(try await app.get("/v1/disk/published", as: token)) == ["a.txt", "folder"])
            #expect(try await app.get("/v1/disk/file?path=/folder", as: token)["data.published"] == true)
            _ = try await app.ask(
                .post,
                "/v1/disk/links",
                as: token,
                json: #"{"path":"/folder/a inner.txt","available_for_s":3600}"#
            )
            let body = try #require(disk.requests.last { $0.url.contains("/publish") }?.body)
            #expect(String(decoding: body, as: UTF8.self) == #"{"public_settings":{"available_until":1767610800}}"#)
            for json in [
                #"{"path":"/a.txt","available_for_s":0}"#, #"{"path":"/a.txt","available_for_s":"1"}"#,
                #"{"available_for_s":1}"#,
            ] {
                try await app.ask(.post, "/v1/disk/links", as: token, json: json).expectProblem(
                    "validation-failed",
                    422
                )
            }
            try await app.ask(.post, "/v1/disk/links", as: token, json: #"{"path":"/none"}"#).expectProblem(
                "not-found",
                404
            )
        }
    }

    @Test(
        "an upstream that fails after a publish: it is published, without its address; the next request has the address"
    )
    func publishInterrupted() async throws {
        let disk = made()
        try await DiskHarness.run(disk) { app in
            let token = try await app.logIn()
            let calls = Counter(2)
            disk.intercept { (request) throws(UpstreamError) in
                if calls.take() { return nil }
                throw .failing(status: .badGateway, retryAfter: nil)
            }
            let answer = try await app.ask(.post, "/v1/disk/links", as: token, json: #"{"path":"/folder"}"#)
            answer.expectScreen("disk.file", status: 201)
            #expect(answer["data.public_url"] == .null && answer["meta.stale"] == true)
            #expect(disk.change { $0.nodes["disk:/folder"]?.publicURL != nil })
            disk.intercept(nil)
            let again = try await app.ask(.post, "/v1/disk/links", as: token, json: #"{"path":"/folder"}"#)
            #expect(again.status == 200 && again["data.public_url"] != .null)
        }
    }

    @Test(
        "DISK-20 unpublishing takes the item out of the list, stored too; again it is 404; a failure leaves it listed"
    )
    func unpublish() async throws {
        let disk = made()
        try await DiskHarness.run(disk) { app in
            let token = try await app.logIn()
            try await seen(app, token)
            disk.intercept { (request) in
                request.url.contains("/unpublish") ? IncomingResponse(status: .init(code: 503)) : nil
            }
            try await app.ask(.delete, "/v1/disk/published?path=/a.txt", as: token).expectProblem(
                "upstream-unavailable",
                503
            )
            disk.intercept(nil)
            #expect(DiskHarness.names(try await app.get("/v1/disk/published", as: token)) == ["a.txt"])
            #expect(try await app.ask(.delete, "/v1/disk/published?path=/a.txt", as: token).status == 200)
            try await app.ask(.delete, "/v1/disk/published?path=/a.txt", as: token).expectProblem("not-found", 404)
            let lists = try await stored(app, token)
            #expect(lists["published"] == [] && lists["files"] == ["a.txt", "folder"])
            let row = try await app.get("/v1/disk/file?path=/a.txt", as: token)
            #expect(row["data.published"] == false && row["data.public_url"] == .null)
        }
    }

    @Test("DISK-34 an uploaded file is there byte for byte, is listed, and overwrites only on request")
    func upload() async throws {
        let disk = made()
        let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0) }
        try await DiskHarness.run(disk) { app in
            let token = try await app.logIn()
            _ = try await app.get("/v1/disk/recent", as: token)
            let answer = try await app.ask(
                .put,
                "/v1/disk/file/content?path=/folder/n%2B1.txt",
                as: token,
                bytes: bytes
            )
            answer.expectScreen("disk.file", status: 201)
            #expect(answer.headerFields[.location] == "/v1/disk/file?path=disk%3A%2Ffolder%2Fn%2B1.txt")
            #expect(answer["data.size"] == 300_000)
            #expect(disk.change { $0.nodes["disk:/folder/n+1.txt"]?.bytes } == bytes)
            #expect(DiskHarness.names(try await app.get("/v1/disk/recent", as: token)).first == "n+1.txt")
            let put = try #require(disk.requests.last { $0.url.hasPrefix("https://uploader.test") })
            #expect(
                put.headerFields[.authorization] == nil && put.headerFields[.contentType] == "application/octet-stream"
            )
            try await app.ask(.put, "/v1/disk/file/content?path=/a.txt", as: token, bytes: [1]).expectProblem(
                "target-exists",
                409
            )
            #expect(
                try await app.ask(.put, "/v1/disk/file/content?path=/a.txt&overwrite=1", as: token, bytes: [1]).status
                    == 201
            )
            #expect(try await app.get("/v1/disk/file/content?path=/a.txt", as: token).body == Data([1]))
            #expect(
                try await app.ask(.put, "/v1/disk/file/content?path=/empty.txt", as: token, bytes: [])["data.size"] == 0
            )
            try await app.ask(.put, "/v1/disk/file/content?path=/none/x.txt", as: token, bytes: [1]).expectProblem(
                "not-found",
                404
            )
            try await app.ask(.put, "/v1/disk/file/content?path=/", as: token, bytes: [1]).expectProblem(
                "invalid-parameter",
                400
            )
        }
    }

    @Test(
        "an upload that the upstream does not take is a problem, and nothing is listed",
        arguments: [(413, 413), (507, 507), (500, 503), (412, 412), (409, 403)]
    )
    func refusedUpload(status: Int, expected: Int) async throws {
        let disk = made()
        try await DiskHarness.run(disk) { app in
            let token = try await app.logIn()
            disk.intercept { (request) in
                request.url.hasPrefix("https://uploader.test") ? IncomingResponse(status: .init(code: status)) : nil
            }
            #expect(
                try await app.ask(.put, "/v1/disk/file/content?path=/new.txt", as: token, bytes: [1]).status == expected
            )
            #expect(!DiskHarness.names(try await app.get("/v1/disk/files", as: token)).contains("new.txt"))
        }
    }

    @Test("DISK-34 folders are made, things moved and copied; the lists of both places know it")
    func organise() async throws {
        let disk = made()
        try await DiskHarness.run(disk) { app in
            let token = try await app.logIn()
            try await seen(app, token)
            let folder = try await app.ask(.post, "/v1/disk/folders", as: token, json: #"{"path":"/Новая папка"}"#)
            #expect(folder.status == 201 && folder["data.type"] == "dir")
            try await app.ask(.post, "/v1/disk/folders", as: token, json: #"{"path":"/folder"}"#).expectProblem(
                "target-exists",
                409
            )
            try await app.ask(.post, "/v1/disk/folders", as: token, json: #"{"path":"/none/x"}"#).expectProblem(
                "not-found",
                404
            )
            #expect(
                try await app.ask(
                    .post,
                    "/v1/disk/files/copy",
                    as: token,
                    json: #"{"from":"/a.txt","to":"/folder/copy.txt"}"#
                ).status == 201
            )
            let moved = try await app.ask(
                .post,
                "/v1/disk/files/move",
                as: token,
                json: #"{"from":"/a.txt","to":"/folder/moved.txt"}"#
            )
            #expect(moved.status == 201 && moved["data.path"] == "disk:/folder/moved.txt")
            try await app.ask(
                .post,
                "/v1/disk/files/move",
                as: token,
                json: #"{"from":"/folder","to":"/folder/deeper"}"#
            ).expectProblem(
                "validation-failed",
                422
            )
            try await app.ask(
                .post,
                "/v1/disk/files/move",
                as: token,
                json: #"{"from":"/folder/copy.txt","to":"/folder/moved.txt"}"#
            ).expectProblem(
                "target-exists",
                409
            )
            #expect(
                DiskHarness.names(try await app.get("/v1/disk/files?path=/folder", as: token)) == [
                    "a inner.txt", "copy.txt", "moved.txt",
                ]
            )
            #expect(DiskHarness.names(try await app.get("/v1/disk/files", as: token)) == ["folder", "Новая папка"])
            disk.goAway()
            #expect(DiskHarness.names(try await app.get("/v1/disk/recent?refresh=1", as: token)).contains("moved.txt"))
        }
    }

    @Test("DISK-34 the trash is listed and restored from")
    func trash() async throws {
        let disk = made()
        try await DiskHarness.run(disk) { app in
            let token = try await app.logIn()
            _ = try await app.ask(.delete, "/v1/disk/file?path=/a.txt", as: token)
            let trash = try await app.get("/v1/disk/trash", as: token)
            trash.expectScreen("disk.trash")
            #expect(
                trash["data.items.0.origin"] == "disk:/a.txt"
                    && trash["data.items.0.deleted_text"] == "16.06.2025 12:53"
            )
            let path = try text(trash["data.items.0.path"])
            #expect(
                try await app.ask(.post, "/v1/disk/trash/restore", as: token, json: #"{"path":"\#(path)"}"#).status
                    == 200
            )
            #expect(disk.change { $0.nodes["disk:/a.txt"] != nil })
            #expect(try await app.get("/v1/disk/trash", as: token)["meta.state"] == "empty")
            try await app.ask(.post, "/v1/disk/trash/restore", as: token, json: #"{"path":"\#(path)"}"#).expectProblem(
                "not-found",
                404
            )
            try await app.ask(.post, "/v1/disk/trash/restore", as: token, json: #"{"path":"disk:/a.txt"}"#)
                .expectProblem("validation-failed", 422)
            #expect(DiskHarness.names(try await app.get("/v1/disk/files", as: token)).contains("a.txt"))
        }
    }
}

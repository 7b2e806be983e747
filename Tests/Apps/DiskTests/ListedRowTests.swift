import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Screens
import Storage
import TestKit
import Testing
import Upstream

@testable import Disk

@Suite("TRUST-06 What is stored goes only when the API itself says so")
struct ListedRowTests {
    /// Requests a root, a folder in it, a body, and all lists once.
    private static func warmed(
        _ disk: FakeYandexDisk = FakeYandexDisk(),
        _ test: @Sendable (DiskHarness, _ token: String) async throws -> Void
    ) async throws {
        disk.makeFolder("disk:/docs")
        disk.put("disk:/docs/report.txt", "the report")
        disk.put("disk:/top.txt")
        disk.change { state in
            state.nodes["disk:/top.txt"]?.publicURL = "https://yadi.sk/d/top"
            state.nodes["trash:/old_0123456789012345678901234567890123456789"] = FakeYandexDisk.Node(
                isFolder: false,
                origin: "disk:/old"
            )
        }
        try await DiskHarness.run(disk) { app, token in
            for screen in screens {
                #expect(try await app.get("/v1/disk/\(screen)", as: token).status == 200, "\(screen)")
            }
            #expect(try await app.get(content, as: token).text == "the report")
            app.clock.advance(by: .seconds(120))
            try await test(app, token)
        }
    }

    private static let screens = [
        "files", "files?path=/docs", "recent", "published", "trash", "search?q=report",
        "file?path=/docs/report.txt", "profile",
    ]
    private static let content = "/v1/disk/file/content?path=/docs/report.txt"

    /// Checks that all that was requested is there offline: rows, folder, recent, search, and the body.
    private static func expectEverything(
        _ app: DiskHarness,
        _ token: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        app.disk.goAway()
        let names = [
            "files": ["docs", "top.txt"], "files?path=/docs": ["report.txt"], "recent": ["top.txt", "report.txt"],
            "published": ["top.txt"],
            "trash": ["old"], "search?q=report": ["report.txt"],
        ]
        for (screen, expected) in names {
            let response = try await app.get("/v1/disk/\(screen)", as: token)
            #expect(DiskHarness.names(response) == expected, "\(screen)", sourceLocation: sourceLocation)
            #expect(
                response["meta.offline"] == true && response["meta.state"] == "content",
                "\(screen)",
                sourceLocation: sourceLocation
            )
        }
        let body = try await app.get(content, as: token)
        #expect(body.status == 200 && body.text == "the report", sourceLocation: sourceLocation)
        #expect(body.cacheStatus == "larder; hit; detail=offline", sourceLocation: sourceLocation)
        #expect(
            try await app.get("/v1/disk/profile", as: token)["data.total_text"] == "10 GB",
            sourceLocation: sourceLocation
        )
    }

    @Test(
        "TRUST-06 a 4xx that is not Yandex's is a failure: the stored copies, stale, then everything offline",
        arguments: [400, 401, 403, 404, 407, 410, 451]
    )
    func page(status: Int) async throws {
        try await Self.warmed { app, token in
            app.disk.respondPage(status)
            for screen in Self.screens {
                let response = try await app.get("/v1/disk/\(screen)", as: token)
                #expect(response.status == 200, "\(screen): \(response.text)")
                #expect(
                    response["meta.stale"] == true && response["meta.offline"] == false
                        && response["meta.banner.code"] == "stale",
                    "\(screen)"
                )
                #expect(
                    response.cacheStatus == "larder; fwd=stale; fwd-status=\(status); detail=bad-response",
                    "\(screen)"
                )
            }
            let body = try await app.get(Self.content, as: token)
            #expect(body.text == "the report" && body.cacheStatus == "larder; hit; detail=bad-response")
            try await app.get("/v1/disk/files?path=/never", as: token).expectProblem("upstream-bad-response", 502)
            try await Self.expectEverything(app, token)
        }
    }

    @Test(
        "TRUST-06 lists with rows of unknown places only, or with an unreadable or no total, change nothing",
        arguments: [
            #"{"path":"app:/x.txt","name":"x","type":"file"}"#, #"{"path":"http://evil/x","name":"x","type":"file"}"#,
            #"{"path":"disk:/docs//x","name":"x","type":"file"}"#, #"{"path":"disk:/../y","name":"y","type":"file"}"#,
            "", #"TOTAL"7""#, "TOTAL7.5",
        ]
    )
    func places(row: String) async throws {
        try await Self.warmed { app, token in
            app.disk.intercept { request in
                guard request.url.contains("path=disk%3A%2Fdocs&"), request.url.contains("_embedded") else {
                    return nil
                }
                let content =
                    row.hasPrefix("TOTAL") ? #""items":[],"total":\#(row.dropFirst(5))"# : #""items":[\#(row)]"#
                return .json(#"{"path":"disk:/docs","name":"docs","type":"dir","_embedded":{\#(content)}}"#)
            }
            let response = try await app.get("/v1/disk/files?path=/docs", as: token)
            #expect(
                response.status == 200 && response["meta.stale"] == true
                    && DiskHarness.names(response) == ["report.txt"]
            )
            #expect(response.cacheStatus == "larder; fwd=stale; fwd-status=200; detail=bad-response")
            try await Self.expectEverything(app, token)
        }
    }

    @Test("TRUST-06 a list of something else that calls a folder a file removes nothing of what is in it")
    func folderAsFile() async throws {
        try await Self.warmed { app, token in
            app.disk.intercept { request in
                guard request.url.contains("/last-uploaded") else { return nil }
                return .json(#"{"items":[{"path":"disk:/docs","name":"docs","type":"file","size":1}]}"#)
            }
            let recent = try await app.get("/v1/disk/recent", as: token)
            app.disk.goAway()
            let (content, folder) = (
                try await app.get(Self.content, as: token), try await app.get("/v1/disk/files?path=/docs", as: token)
            )
            #expect(recent.status == 200 && content.text == "the report" && DiskHarness.names(folder) == ["report.txt"])
        }
    }

    @Test("TRUST-06 a 410 of a version of the API is not that of a path")
    func retired() async throws {
        try await Self.warmed { app, token in
            app.disk.intercept { (_) in FakeYandexDisk.refusal(410, "ApiVersionRetiredError") }
            #expect(try await app.get("/v1/disk/files?path=/docs", as: token).status == 404)
            try await Self.expectEverything(app, token)
        }
    }

    @Test(
        "TRUST-06 404 of the root is a failure in whatever form; JSON of other frameworks is not Yandex's",
        arguments: [
            #"{"error":"DiskNotFoundError","description":"Resource not found.","message":"m"}"#,
            #"{"error":"Not Found","status":404,"path":"/x"}"#,
            #"{"message":"Cannot GET /v1","error":"Not Found","statusCode":404}"#, #"{"error":""}"#,
            #"{"error":{"code":404}}"#, "[]", "",
        ]
    )
    func root(body: String) async throws {
        try await Self.warmed { app, token in
            app.disk.intercept { request in
                request.url.contains("path=disk%3A%2F&") || request.url.contains("path=trash%3A%2F&")
                    ? .json(body, status: .notFound) : nil
            }
            for screen in ["files?refresh=1", "trash?refresh=1", "file?path=/&refresh=1"] {
                let response = try await app.get("/v1/disk/\(screen)", as: token)
                #expect(response.status == 200 && response["meta.stale"] == true, "\(screen): \(response.text)")
                #expect(response.cacheStatus?.hasSuffix("; fwd-status=404; detail=bad-response") == true, "\(screen)")
            }
            #expect(!app.log.lines.contains { $0.hasPrefix("error") })
            try await Self.expectEverything(app, token)
        }
    }

    @Test("TRUST-06 DISK-16 what Yandex reports as deleted is removed; its 404 about something else removes nothing")
    func own() async throws {
        try await Self.warmed { app, token in
            app.disk.intercept { (_) in FakeYandexDisk.refusal(404, "DiskOperationNotFoundError") }
            try await app.get("/v1/disk/files?path=/docs", as: token).expectProblem("not-found", 404)
            let recent = try await app.get("/v1/disk/recent", as: token)
            recent.expectProblem("not-found", 404)
            #expect(!recent.text.contains("path"))
            try await Self.expectEverything(app, token)
        }
        try await Self.warmed { app, token in
            app.disk.respond(404)
            try await app.get("/v1/disk/recent", as: token).expectProblem("not-found", 404)
            try await app.get("/v1/disk/file?path=/docs/report.txt", as: token).expectProblem("not-found", 404)
            app.disk.goAway()
            #expect(DiskHarness.names(try await app.get("/v1/disk/files", as: token)) == ["docs", "top.txt"])
            #expect(DiskHarness.names(try await app.get("/v1/disk/files?path=/docs", as: token)) == [])
            try await app.get(Self.content, as: token).expectProblem("upstream-unavailable", 503)
        }
    }

    @Test(
        "TRUST-06 a list that cannot be a part of the requested one replaces nothing",
        arguments: [
            #"{"path":"disk:/docs","type":"dir","_embedded":{"items":[null]}}"#,
            #"{"path":"disk:/docs","type":"dir","_embedded":{"items":[{"name":1}],"total":1}}"#,
            #"{"path":"disk:/docs","type":"dir","_embedded":{"total":1,"#
                + #""items":[{"path":"disk:/other/x.txt","type":"file"}]}}"#,
            #"{"path":"disk:/other","type":"dir","_embedded":{"items":[],"total":0}}"#,
            #"{"_embedded":{"items":[],"total":0}}"#,
            #"{"path":"disk:/docs","type":"dir","_embedded":{"items":[],"total":-3}}"#,
            #"{"path":"disk:/docs","type":"dir","_embedded":{"total":-3,"#
                + #""items":[{"path":"disk:/docs/n.txt","type":"file"}]}}"#,
            #"{"path":"disk:/docs","type":"dir","_embedded":{"items":[],"total":5}}"#,
            #"{"path":"disk:/docs","type":"dir","_embedded":{"items":[],"total":0,"offset":20}}"#,
            #"{"path":"disk:/","type":"file","size":3}"#,
        ]
    )
    func folder(body: String) async throws {
        try await Self.warmed { app, token in
            app.disk.intercept { request in request.url.contains("/resources?path=disk%3A%2Fdocs&") ? .json(body) : nil
            }
            let response = try await app.get("/v1/disk/files?path=/docs", as: token)
            #expect(
                DiskHarness.names(response) == ["report.txt"] && response["meta.stale"] == true
                    && response["meta.state"] == "content"
            )
            #expect(response.cacheStatus == "larder; fwd=stale; fwd-status=200; detail=bad-response")
            // The same for the root, to which a row of the root itself must do nothing either.
            let root = body.replacing("disk:/docs/", with: "disk:/").replacing("disk:/docs", with: "disk:/")
            app.disk.intercept { request in request.url.contains("/resources?path=disk%3A%2F&") ? .json(root) : nil }
            let shown = try await app.get("/v1/disk/files?refresh=1", as: token)
            if !body.contains("disk:/other/x.txt") {
                #expect(DiskHarness.names(shown) == ["docs", "top.txt"], "\(root)")
            }
            try await Self.expectEverything(app, token)
        }
    }

    @Test(
        "TRUST-06 a flat list without a usable row, or of another part, replaces nothing",
        arguments: [
            #"{"items":[null]}"#, #"{"items":[{"name":1},{"path":7}]}"#,
            #"{"items":[{"path":"disk:/","type":"file","name":""}]}"#,
            #"{"items":[{"path":"trash:/x","type":"file","name":"x"}]}"#, #"{"items":[],"offset":40}"#,
            #"{"items":null}"#,
        ]
    )
    func flat(body: String) async throws {
        try await Self.warmed { app, token in
            app.disk.intercept { request in
                request.url.contains("/last-uploaded") || request.url.contains("/public") ? .json(body) : nil
            }
            for (list, names) in [("recent", ["top.txt", "report.txt"]), ("published", ["top.txt"])] {
                let response = try await app.get("/v1/disk/\(list)", as: token)
                #expect(DiskHarness.names(response) == names && response["meta.stale"] == true, "\(list)")
                #expect(response.cacheStatus == "larder; fwd=stale; fwd-status=200; detail=bad-response", "\(list)")
            }
            try await Self.expectEverything(app, token)
        }
    }

    @Test("TRUST-06 rows of another folder are left out of a list and change no row; an empty list is empty")
    func foreignRows() async throws {
        try await Self.warmed { app, token in
            app.disk.intercept { request in
                guard request.url.contains("/resources?path=disk%3A%2Fdocs&") else { return nil }
                let rows =
                    #"{"path":"disk:/top.txt","type":"dir"},{"path":"disk:/docs/new.txt","type":"file"},null"#
                return .json(#"{"path":"disk:/docs","type":"dir","_embedded":{"items":[\#(rows)],"total":3}}"#)
            }
            for _ in 0..<2 {
                let part = try await app.get("/v1/disk/files?path=/docs", as: token)
                #expect(DiskHarness.names(part) == ["new.txt"] && part["meta.stale"] == true)
            }
            app.disk.goAway()
            #expect(try await app.get("/v1/disk/file?path=/top.txt", as: token)["data.type"] == "file")
            #expect(try await app.get(Self.content, as: token).text == "the report")
            app.disk.intercept { _ in .json(#"{"path":"disk:/docs","type":"dir","_embedded":{"items":[],"total":0}}"#) }
            let empty = try await app.get("/v1/disk/files?path=/docs&refresh=1", as: token)
            #expect(empty.status == 200 && empty["meta.state"] == "empty" && empty["meta.stale"] == false)
        }
    }

    @Test("TRUST-06 a total that is less than its rows, and an empty list that is not the API's, replace nothing")
    func contradictions() async throws {
        try await Self.warmed { app, token in
            app.disk.intercept { request in
                guard request.url.contains("/resources?path=disk%3A%2Fdocs&") else { return .json(#"{"items":[]}"#) }
                let rows = #"{"path":"disk:/docs/1","type":"file"},{"path":"disk:/docs/2","type":"file"}"#
                return .json(#"{"path":"disk:/docs","type":"dir","_embedded":{"items":[\#(rows)],"total":1}}"#)
            }
            for (target, names) in [("files?path=/docs", ["report.txt"]), ("recent", ["top.txt", "report.txt"])] {
                let response = try await app.get("/v1/disk/\(target)", as: token)
                #expect(DiskHarness.names(response) == names && response["meta.stale"] == true, "\(target)")
            }
            let found = try await app.get("/v1/disk/search?q=report&refresh=1", as: token)
            #expect(DiskHarness.names(found) == ["report.txt"], "\(found.text)")
            try await Self.expectEverything(app, token)
        }
    }

    @Test("TRUST-06 a row that cannot be read beside good ones makes a flat list stale, and keeps its position")
    func unreadableRow() async throws {
        try await DiskHarness.run { app, disk, token in
            disk.intercept { request in
                guard request.url.contains("last-uploaded") else { return nil }
                let rows = (0..<6).map { $0 == 1 ? "null" : #"{"path":"disk:/\#($0)","type":"file","name":"\#($0)"}"# }
                return .json(#"{"items":[\#(rows.joined(separator: ","))],"limit":20}"#)
            }
            let whole = try await app.get("/v1/disk/recent?limit=6", as: token)
            #expect(DiskHarness.names(whole) == ["0", "2", "3", "4", "5"] && whole["meta.stale"] == true)
            disk.goAway()
            let window = try await app.get("/v1/disk/recent?limit=2&offset=2", as: token)
            #expect(DiskHarness.names(window) == ["2", "3"])
        }
    }

    @Test("TRUST-06 an empty page behind the first whose total says otherwise is no end of the list")
    func emptyPage() async throws {
        let disk = FakeYandexDisk()
        for name in ["a", "b", "c", "d"] { disk.put("disk:/\(name)") }
        try await DiskHarness.run(disk) { app, token in
            #expect(DiskHarness.names(try await app.get("/v1/disk/files?limit=2&offset=2", as: token)) == ["c", "d"])
            disk.intercept { _ in .json(#"{"path":"disk:/","type":"dir","_embedded":{"items":[],"total":4}}"#) }
            let stale = try await app.get("/v1/disk/files?limit=2&offset=2&refresh=1", as: token)
            #expect(DiskHarness.names(stale) == ["c", "d"] && stale["meta.stale"] == true)
            let inside = try await app.get("/v1/disk/files?limit=1&offset=3", as: token)
            #expect(DiskHarness.names(inside) == ["d"] && inside["meta.stale"] == true)
            try await app.get("/v1/disk/files?limit=1&offset=1", as: token).expectProblem("upstream-bad-response", 502)
            disk.intercept(nil)
            #expect(try await app.get("/v1/disk/files?limit=2&offset=40", as: token)["data.items"] == .array([]))
        }
    }

    @Test(
        "TRUST-06 401 of a proxy ends no session, at the API or at OAuth; writes that it refuses change nothing here",
        arguments: [401, 403, 404, 410]
    )
    func session(status: Int) async throws {
        try await Self.warmed { app, token in
            app.disk.respondPage(status)
            for (method, target, json) in [
                (HTTPRequest.Method.delete, "file?path=/docs", nil as String?),
                (.patch, "file?path=/docs/report.txt", #"{"name":"x.txt"}"#),
                (.post, "links", #"{"path":"/docs/report.txt"}"#),
                (.post, "files/move", #"{"from":"/docs","to":"/other"}"#),
                (.post, "folders", #"{"path":"/docs/new"}"#), (.delete, "published?path=/top.txt", nil),
            ] {
                let response = try await app.ask(method, "/v1/disk/\(target)", as: token, json: json)
                // The items of these are requested before anything is sent. After a write only the API can say that
                // it was refused.
                let isLookedAtFirst = ["links", "folders"].contains(target) || target.hasPrefix("published")
                response.expectProblem(isLookedAtFirst ? "upstream-bad-response" : "outcome-unknown", 502)
                #expect(response["upstream.status"] == .number(Double(status)), "\(target)")
            }
            #expect(
                try await app.ask(
                    .put,
                    "/v1/disk/file/content?path=/docs/report.txt&overwrite=true",
                    as: token,
                    bytes: [1]
                ).status == 502
            )
            #expect(try app.store.account("1130")?.login.isRejected == false)
            try await Self.expectEverything(app, token)
        }
    }

    @Test(
        "TRUST-06 what the hosts of links respond is about the link: nothing is removed",
        arguments: [401, 403, 404, 410]
    )
    func links(status: Int) async throws {
        try await Self.warmed { app, token in
            app.disk.intercept { request in request.url.hasPrefix("https://disk.test") ? nil : .page(status) }
            try await app.ask(.put, "/v1/disk/file/content?path=/docs/report.txt&overwrite=true", as: token, bytes: [1])
                .expectProblem("upstream-bad-response", 502)
            try await app.get("/v1/disk/file/content?path=/top.txt", as: token).expectProblem(
                "upstream-bad-response",
                502
            )
            #expect(try await app.get("/v1/disk/file/preview?path=/docs/report.txt", as: token).status == 200)
            #expect(try app.store.account("1130")?.login.isRejected == false)
            try await Self.expectEverything(app, token)
        }
    }

    @Test(
        "TRUST-06 a proxy before OAuth takes no token away: the session continues when OAuth is back",
        arguments: [400, 401, 403, 407]
    )
    func refresh(status: Int) async throws {
        let oauth = ScriptedTransport { (_) throws(UpstreamError) in
            .json(#"{"access_token":"good","refresh_token":"r2","expires_in":3600}"#)
        }
        let settings = DiskHarness.Settings(client: .init(id: "client"), oauth: oauth)
        try await DiskHarness.run(FakeYandexDisk(), settings) { app in
            app.disk.put("disk:/a.txt")
            let opened = try await app.ask(.post, "/v1/disk/session", json: #"{"mode":"oauth_code","code":"1"}"#)
            let token = try opened.string("data.token")
            _ = try await app.get("/v1/disk/files", as: token)
            app.clock.advance(by: .seconds(7200))
            oauth.always { (_) throws(UpstreamError) in .page(status) }
            let away = try await app.get("/v1/disk/files", as: token)
            #expect(away.status != 401, "\(away.text)")
            #expect(try app.store.account("1130")?.login.isRejected == false)
            oauth.always { (_) throws(UpstreamError) in
                .json(#"{"access_token":"good","refresh_token":"r3","expires_in":3600}"#)
            }
            #expect(DiskHarness.names(try await app.get("/v1/disk/files?refresh=1", as: token)) == ["a.txt"])
        }
    }

    @Test("DISK-38 the root is neither published nor unpublished; no request is sent")
    func publishedRoot() async throws {
        try await DiskHarness.run { app, token in
            let asked = app.disk.requests.count
            try await app.ask(.post, "/v1/disk/links", as: token, json: #"{"path":"disk:/"}"#).expectProblem(
                "validation-failed",
                422
            )
            try await app.ask(.delete, "/v1/disk/published?path=/", as: token).expectProblem("invalid-parameter", 400)
            try await app.ask(.delete, "/v1/disk/file?path=/", as: token).expectProblem("invalid-parameter", 400)
            try await app.ask(.patch, "/v1/disk/file?path=/", as: token, json: #"{"name":"x"}"#).expectProblem(
                "invalid-parameter",
                400
            )
            #expect(app.disk.requests.count == asked)
        }
    }

    @Test(
        "TRUST-14 a file that a program works on is in the data directory, its owner's only, and gone with the job",
        arguments: [true, false]
    )
    func scratch(isSmall: Bool) async throws {
        try await DiskHarness.run { app in
            let bytes = Data(repeating: 7, count: isSmall ? 100 : 700_000)
            let blob = try app.database.blobs.write(bytes)
            let body: ResponseStore.OpenBody = isSmall ? .bytes(bytes) : .blob(try app.database.blobs.reader(blob))
            let manager = FileManager.default
            let path = try await app.app.disk.fetcher.withFile(body) { url in
                #expect(url.path.hasPrefix(app.database.directory.path + "/uploads/"))
                let (mode, content) = (
                    try manager.attributesOfItem(atPath: url.path)[.posixPermissions], try Data(contentsOf: url)
                )
                #expect(mode as? Int == 0o600 && content == bytes)
                return url.path
            }
            #expect(!manager.fileExists(atPath: path))
            #expect(try manager.contentsOfDirectory(atPath: app.database.directory.path + "/uploads") == [])
        }
    }
}

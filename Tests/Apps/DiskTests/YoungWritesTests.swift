import Foundation
import HTTPTypes
import Screens
import TestKit
import Testing
import Upstream

@testable import Disk

@Suite("Writes that the API has acknowledged and does not show yet", .timeLimit(.minutes(2)))
struct YoungWritesTests {
    private static let noon = Date(timeIntervalSince1970: 1_767_700_000)

    /// Lets the Disk carry writes out, and know nothing of some paths otherwise.
    private static func hide(_ hidden: [String], on disk: FakeYandexDisk) {
        disk.intercept { [unowned disk] request in
            guard request.url.hasPrefix("https://disk.test"), request.method == .get || request.method == .post else {
                return nil
            }
            let nodes = disk.change { state in
                let nodes = state.nodes.filter { node in
                    hidden.contains { node.key == $0 || node.key.hasPrefix("\($0)/") }
                }
                for path in nodes.keys { state.nodes[path] = nil }
                return nodes
            }
            defer { disk.change { $0.nodes.merge(nodes) { $1 } } }
            return disk.carryOut(request)
        }
    }

    @Test("DISK-44 an uploaded file is there although the service says 404: metadata, lists, search, content, preview")
    func uploaded() async throws {
        try await WriteScenario.run { app, disk, token in
            Self.hide(["disk:/new.png"], on: disk)
            let upload = try await app.ask(.put, "/v1/disk/file/content?path=/new.png", as: token, bytes: [1, 2, 3])
            #expect(upload.status == 201 && upload["meta.stale"] == true, "\(upload.text)")
            for _ in 0..<6 {
                app.clock.advance(by: .seconds(6))
                let file = try await app.get("/v1/disk/file?path=/new.png", as: token)
                #expect(file.status == 200 && file["data.size"] == 3 && file["meta.stale"] == true, "\(file.text)")
                for list in ["files?refresh=1", "files?sort=-size", "search?q=new&refresh=1"] {
                    let names = DiskHarness.names(try await app.get("/v1/disk/\(list)", as: token))
                    #expect(names.count { $0 == "new.png" } == 1, "\(list): \(names)")
                }
            }
            #expect(try await app.get("/v1/disk/files?refresh=1", as: token)["meta.page.total"] == 3)
            let content = try await app.get("/v1/disk/file/content?path=/new.png", as: token)
            content.expectProblem("upstream-unavailable", 503)
            #expect(content["retryable"] == true && content.headerFields[.retryAfter] == "30")
            #expect(try content.string("detail").contains("does not show it yet"))
            #expect(try await app.get("/v1/disk/file/preview?path=/new.png", as: token).status == 200)
            let rename = #"{"name":"other.png"}"#
            let renamed = try await app.ask(.patch, "/v1/disk/file?path=/new.png", as: token, json: rename)
            renamed.expectProblem("upstream-unavailable", 503)
            #expect(try await app.get("/v1/disk/file?path=/new.png", as: token).status == 200)

            disk.intercept(nil)
            let shown = try await app.get("/v1/disk/file?path=/new.png&refresh=1", as: token)
            #expect(shown.status == 200 && shown["meta.stale"] == false, "\(shown.text)")
            // Once it was shown, a 404 is news.
            disk.change { $0.nodes["disk:/new.png"] = nil }
            try await app.get("/v1/disk/file?path=/new.png&refresh=1", as: token).expectProblem("not-found", 404)
            #expect(!DiskHarness.names(try await app.get("/v1/disk/files", as: token)).contains("new.png"))
        }
    }

    @Test("DISK-44 after a minute a 404 counts, for what was uploaded as for what was moved")
    func grownUp() async throws {
        try await WriteScenario.run { app, disk, token in
            let move = #"{"from":"/folder","to":"/moved"}"#
            #expect(try await app.ask(.post, "/v1/disk/files/move", as: token, json: move).status == 201)
            Self.hide(["disk:/new.bin", "disk:/moved"], on: disk)
            #expect(try await app.ask(.put, "/v1/disk/file/content?path=/new.bin", as: token, bytes: [1]).status == 201)
            // The service has shown the folder in the response to its move.
            let inner = "/v1/disk/file?path=/moved/a inner.txt&refresh=1".replacing(" ", with: "%20")
            try await app.get(inner, as: token).expectProblem("not-found", 404)
            app.clock.advance(by: .seconds(59))
            #expect(try await app.get("/v1/disk/file?path=/new.bin&refresh=1", as: token).status == 200)
            app.clock.advance(by: .seconds(2))
            try await app.get("/v1/disk/file?path=/new.bin&refresh=1", as: token).expectProblem("not-found", 404)
            let files = try await app.get("/v1/disk/files?refresh=1", as: token)
            #expect(DiskHarness.names(files) == ["a.txt"], "\(files.text)")
        }
    }

    @Test("DISK-44 a folder that was made is an empty list until the service shows it, and takes files from then on")
    func made() async throws {
        try await WriteScenario.run { app, disk, token in
            Self.hide(["disk:/made"], on: disk)
            #expect(try await app.ask(.post, "/v1/disk/folders", as: token, json: #"{"path":"/made"}"#).status == 201)
            for list in ["files?path=/made", "files?path=/made&sort=-size&refresh=1"] {
                let empty = try await app.get("/v1/disk/\(list)", as: token)
                #expect(empty.status == 200 && empty["meta.state"] == "empty", "\(empty.text)")
                #expect(empty["meta.stale"] == true && empty["meta.page.total"] == 0)
                #expect(empty.cacheStatus == "larder; fwd=uri-miss; fwd-status=404; detail=bad-response")
            }
            try await app.get("/v1/disk/files?path=/made/below", as: token).expectProblem("not-found", 404)
            let target = "/v1/disk/file/content?path=/made/a.bin"
            try await app.ask(.put, target, as: token, bytes: [1]).expectProblem("upstream-unavailable", 503)
            disk.intercept(nil)
            #expect(try await app.ask(.put, target, as: token, bytes: [1]).status == 201)
            #expect(DiskHarness.names(try await app.get("/v1/disk/files?path=/made", as: token)) == ["a.bin"])
        }
    }

    @Test("DISK-44 the outbox does not take what is not shown yet for gone")
    func queued() async throws {
        try await WriteScenario.run { app, disk, token in
            Self.hide(["disk:/new.bin"], on: disk)
            #expect(try await app.ask(.put, "/v1/disk/file/content?path=/new.bin", as: token, bytes: [1]).status == 201)
            disk.goAway()
            _ = try await app.get("/v1/disk/files?refresh=1", as: token)
            let left = try await app.leave(.post, "/v1/disk/links", as: token, json: #"{"path":"/new.bin"}"#)
            Self.hide(["disk:/new.bin"], on: disk)
            let href = try left.string("data.href")
            let waiting = try await app.outbox(href, is: "waiting", as: token)
            #expect(waiting["meta.needs_decision"] == nil, "\(waiting.text)")
            disk.intercept(nil)
            await app.drained()
            #expect(disk.change { $0.nodes["disk:/new.bin"]?.publicURL } != nil)
        }
    }

    @Test("DISK-44 what is moved or deleted takes its youth along, what is shown or old has none")
    func states() {
        var young = YoungWrites()
        let (file, folder) = (DiskPath.at("/a/file"), DiskPath.at("/a"))
        young.add(.appeared(folder, nil), isEmptyFolder: true, at: Self.noon)
        young.add(.appeared(file, nil), at: Self.noon)
        #expect(young.hasMade(folder) && young.covers(file) && !young.covers(.at("/a/other")))
        young.add(.moved(from: folder, to: .at("/b")), at: Self.noon)
        #expect(young.hasMade(.at("/b")) && young.covers(.at("/b/file")) && !young.covers(file))
        young.add(.moved(from: .at("/there"), to: .at("/here")), at: Self.noon + 1)
        #expect(young.covers(.at("/here/anything")) && !young.hasMade(.at("/here")))
        young.show(.at("/b/file"))
        young.add(.unpublished(.at("/b")), at: Self.noon + 2)
        #expect(!young.covers(.at("/b/file")) && young.covers(.at("/b")))
        young.add(.deleted(.at("/b")), at: Self.noon + 3)
        #expect(young.paths == [.at("/here")])
        var older = young
        older.expire(at: Self.noon + 60)
        #expect(!older.isEmpty)
        older.expire(at: Self.noon + 61)
        #expect(older.isEmpty)
        // A clock that was set back tells nothing of their age.
        young.expire(at: Self.noon - 10)
        #expect(young.isEmpty)
    }
}

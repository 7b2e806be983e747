import Foundation
import GRDB
import HTTPTypes
import Screens
import TestKit
import Testing
import Upstream

@testable import Disk

@Suite("Publishing over HTTP")
struct SharingTests {
    @Test("DISK-26 a share link publishes a private file, 201; the second is the same, 200; it is listed as published")
    func links() async throws {
        try await DiskHarness.run(WriteScenario.disk()) { app, disk, token in
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
            #expect(DiskHarness.names(try await app.get("/v1/disk/published", as: token)) == ["folder", "a.txt"])
            #expect(try await app.get("/v1/disk/file?path=/folder", as: token)["data.published"] == true)
            _ = try await app.ask(
                .post,
                "/v1/disk/links",
                as: token,
                json: #"{"path":"/folder/a inner.txt","available_for_s":3600}"#
            )
            #expect(disk.requests.last { $0.url.contains("/publish") }?.body == nil)
            let body = try #require(disk.requests.last { $0.method == .patch }?.body)
            #expect(String(decoding: body, as: UTF8.self) == #"{"available_until":1767610800}"#)
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

    @Test("an upstream that fails after a publish: published, without its address; the next request has it")
    func publishInterrupted() async throws {
        try await DiskHarness.run(WriteScenario.disk()) { app, disk, token in
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

    private static func share(_ app: DiskHarness, _ token: String, _ wish: String = "") async throws -> Exchanged {
        try await app.ask(.post, "/v1/disk/links", as: token, json: #"{"path":"/folder"\#(wish)}"#)
    }

    @Test("DISK-42 an existing link gets the end that is asked for and keeps its address; screens tell it beside that")
    func linkEnds() async throws {
        try await DiskHarness.run(WriteScenario.disk()) { app, disk, token in
            _ = try await app.get("/v1/disk/files", as: token)
            let permanent = try await Self.share(app, token)
            #expect(permanent.status == 201 && permanent["data.available_until"] == .null)
            let ending = try await Self.share(app, token, #","available_for_s":3600"#)
            ending.expectScreen("disk.file", status: 200)
            let end: JSON = "2026-01-05T11:00:00Z"
            #expect(ending["data.available_until"] == end && ending.headerFields[.location] == nil)
            #expect(ending["data.public_url"] == permanent["data.public_url"])
            #expect(disk.change { $0.nodes["disk:/folder"]?.linkEnd } == 1_767_610_800)
            // A list and the metadata, which do not tell the end, do not take it away.
            for screen in ["files?refresh=1", "published"] {
                let list = try await app.get("/v1/disk/\(screen)", as: token)
                let rows = zip(DiskHarness.names(list), list.all("available_until", in: "data.items"))
                #expect(rows.contains { $0 == "folder" && $1 == end }, "\(screen)")
            }
            let file = try await app.get("/v1/disk/file?path=/folder&refresh=1", as: token)
            #expect(file["data.available_until"] == end && file["data.public_url"] == permanent["data.public_url"])
            let changes = disk.requests.count { $0.method != .get }
            let same = try await Self.share(app, token)
            #expect(same.status == 200 && same["data.available_until"] == end)
            #expect(disk.requests.count { $0.method != .get } == changes)
            let endless = try await Self.share(app, token, #","available_for_s":null"#)
            #expect(endless.status == 200 && endless["data.available_until"] == .null)
            #expect(disk.change { $0.nodes["disk:/folder"]?.linkEnd } == nil)
            #expect(try await app.get("/v1/disk/file?path=/folder", as: token)["data.available_until"] == .null)
        }
    }

    @Test("DISK-42 a link that has ended is renewed, as is one that another client has given an end")
    func endedLink() async throws {
        try await DiskHarness.run(WriteScenario.disk()) { app, disk, token in
            let first = try await Self.share(app, token, #","available_for_s":60"#)
            #expect(first.status == 201 && first["data.available_until"] == "2026-01-05T10:01:00Z")
            app.clock.advance(by: .seconds(61))
            let renewed = try await Self.share(app, token, #","available_for_s":60"#)
            #expect(renewed.status == 200 && renewed["data.available_until"] == "2026-01-05T10:02:01Z")
            disk.change { $0.nodes["disk:/folder"]?.linkEnd = 1 }
            let opened = try await Self.share(app, token)
            #expect(opened.status == 200 && opened["data.available_until"] == .null)
            #expect(disk.change { $0.nodes["disk:/folder"]?.linkEnd } == nil)
            #expect(opened["data.public_url"] == first["data.public_url"])
            // Unpublished and published by another client, it is another link.
            _ = try await Self.share(app, token, #","available_for_s":60"#)
            disk.change { $0.nodes["disk:/folder"]?.publicURL = "https://yadi.sk/d/other" }
            let other = try await app.get("/v1/disk/file?path=/folder&refresh=1", as: token)
            #expect(other["data.public_url"] == "https://yadi.sk/d/other" && other["data.available_until"] == .null)
        }
    }

    @Test("DISK-42 without the end that was asked for nothing becomes public, and an existing link stays as it was")
    func refusedEnds() async throws {
        let disk = WriteScenario.disk()
        disk.change { $0.refuse("PATCH /public/resources/public-settings", "ForbiddenError") }
        try await DiskHarness.run(disk) { app, token in
            let refused = try await Self.share(app, token, #","available_for_s":60"#)
            refused.expectProblem("upstream-forbidden", 403)
            #expect(
                refused["detail"]
                    == "Yandex Disk does not give this link the end that was asked for. It was not shared."
            )
            #expect(disk.change { $0.nodes["disk:/folder"]?.publicURL } == nil)
            #expect(try await app.get("/v1/disk/file?path=/folder", as: token)["data.published"] == false)
            #expect(try await Self.share(app, token).status == 201)
            try await Self.share(app, token, #","available_for_s":60"#).expectProblem("upstream-forbidden", 403)
            #expect(try await app.get("/v1/disk/file?path=/folder", as: token)["data.published"] == true)
        }
    }

    @Test("DISK-42 a connection that breaks before the link has its end: not public, or known not to be known")
    func interruptedEnds() async throws {
        try await DiskHarness.run(WriteScenario.disk()) { app, disk, token in
            disk.intercept { (request) throws(UpstreamError) in
                if request.method == .patch { throw .unreachable(.reset) }
                return nil
            }
            try await Self.share(app, token, #","available_for_s":60"#).expectProblem("offline-write-refused", 503)
            #expect(disk.change { $0.nodes["disk:/folder"]?.publicURL } == nil)
            disk.intercept { (request) throws(UpstreamError) in
                if request.method == .patch || request.url.contains("unpublish") { throw .unreachable(.reset) }
                return nil
            }
            try await Self.share(app, token, #","available_for_s":60"#).expectProblem("outcome-unknown", 502)
            disk.intercept(nil)
            let again = try await Self.share(app, token, #","available_for_s":60"#)
            #expect(again.status == 200 && again["data.available_until"] == "2026-01-05T10:01:00Z")
            // The response to the end gets lost: it is read back.
            disk.intercept { [disk] (request) throws(UpstreamError) in
                guard request.method == .patch else { return nil }
                disk.carryOut(request)
                throw .unreachable(.reset)
            }
            let carriedOut = try await Self.share(app, token, #","available_for_s":600"#)
            #expect(carriedOut.status == 200 && carriedOut["data.available_until"] == "2026-01-05T10:10:00Z")
        }
    }

    @Test("DISK-35 rows and file of something published offer to unpublish it, in the words of the original app")
    func action() async throws {
        try await DiskHarness.run(WriteScenario.disk()) { app, disk, token in
            let unpublish: JSON = .object([
                "id": "unpublish", "title": "Unpublish file", "method": "DELETE",
                "href": "/v1/disk/published?path=disk%3A%2Fa.txt", "enabled": true,
                "headers": .object(["Prefer": "respond-async"]),
                "confirm": .object(["message": "a.txt", "buttons": ["Unpublish file", "Cancel"]]),
            ])
            for list in ["recent", "files", "published", "search?q=a.txt"] {
                let response = try await app.get("/v1/disk/\(list)", as: token)
                let rows = zip(DiskHarness.names(response), response.all("actions", in: "data.items"))
                for (name, actions) in rows {
                    guard case .array(let actions) = actions else {
                        Issue.record("no actions: \(list) \(name)")
                        continue
                    }
                    #expect(actions.contains(unpublish) == (name == "a.txt"), "\(list) \(name)")
                    let count = name == "a.txt" || name == "folder" ? 2 : 1
                    #expect(actions.count == count, "\(list) \(name)")
                }
                #expect(DiskHarness.names(response).contains("a.txt"), "\(list)")
            }
            let file = try await app.get("/v1/disk/file?path=/a.txt", as: token)
            let ids = file.all("id", in: "data.actions")
            let own: [JSON] = ["link", "delete", "rename", "move", "copy"]
            #expect(ids == ["share", "download"] + own + ["unpublish", "keep_offline"])
            #expect(file["data.actions.7"] == unpublish)
            let other = try await app.get("/v1/disk/file?path=/folder", as: token)
            #expect(other.all("id", in: "data.actions") == own + ["keep_offline"])
            #expect(try await app.get("/v1/disk/file?path=/", as: token)["data.actions"] == .array([]))
            disk.goAway()
            app.clock.advance(by: .seconds(10))
            let offline = try await app.get("/v1/disk/published", as: token)
            #expect(offline["data.items.0.actions.0.enabled"] == true)
            #expect(offline["data.items.0.actions.0.headers.Prefer"] == "respond-async", "the outbox takes it")
            let href = try file.string("data.actions.7.href")
            disk.intercept(nil)
            _ = try await app.get("/v1/disk/published?refresh=1", as: token)
            #expect(try await app.ask(.delete, href, as: token).status == 200)
            #expect(disk.change { $0.nodes["disk:/a.txt"]?.publicURL } == nil)
        }
    }

    @Test("DISK-20 unpublishing removes an item from the list, stored too; again it is 404; a failure leaves it listed")
    func unpublish() async throws {
        try await WriteScenario.run { app, disk, token in
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
            let lists = try await WriteScenario.stored(app, token)
            #expect(lists["published"] == [] && lists["files"] == ["a.txt", "folder"])
            let row = try await app.get("/v1/disk/file?path=/a.txt", as: token)
            #expect(row["data.published"] == false && row["data.public_url"] == .null)
        }
    }
}

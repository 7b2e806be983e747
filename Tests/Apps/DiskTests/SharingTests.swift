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
    @Test(
        "DISK-26 a share link publishes what is not public, 201; the second is the same, 200; it is listed as published"
    )
    func links() async throws {
        let disk = WriteScenario.disk()
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
        let disk = WriteScenario.disk()
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

    @Test("DISK-35 rows and file of something published offer to unpublish it, in the words of the original app")
    func action() async throws {
        let disk = WriteScenario.disk()
        try await DiskHarness.run(disk) { app in
            let token = try await app.logIn()
            let unpublish: JSONFields.Value = .object([
                "id": "unpublish", "title": "Unpublish file", "method": "DELETE",
                "href": "/v1/disk/published?path=disk%3A%2Fa.txt", "enabled": true,
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
            let own: [JSONFields.Value] = ["link", "delete", "rename", "move", "copy"]
            #expect(ids == ["share", "download"] + own + ["unpublish", "keep_offline"])
            #expect(file["data.actions.7"] == unpublish)
            let other = try await app.get("/v1/disk/file?path=/folder", as: token)
            #expect(other.all("id", in: "data.actions") == own + ["keep_offline"])
            #expect(try await app.get("/v1/disk/file?path=/", as: token)["data.actions"] == .array([]))
            disk.goAway()
            app.clock.advance(by: .seconds(10))
            let offline = try await app.get("/v1/disk/published", as: token)
            #expect(offline["data.items.0.actions.0.enabled"] == false)
            let href = try text(file["data.actions.7.href"])
            disk.intercept(nil)
            _ = try await app.get("/v1/disk/published?refresh=1", as: token)
            #expect(try await app.ask(.delete, href, as: token).status == 200)
            #expect(disk.change { $0.nodes["disk:/a.txt"]?.publicURL } == nil)
        }
    }

    @Test(
        "DISK-20 unpublishing takes the item out of the list, stored too; again it is 404; a failure leaves it listed"
    )
    func unpublish() async throws {
        let disk = WriteScenario.disk()
        try await DiskHarness.run(disk) { app in
            let token = try await app.logIn()
            try await WriteScenario.seen(app, token)
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

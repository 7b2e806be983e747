import Foundation
import GRDB
import HTTPTypes
import Screens
import TestKit
import Testing
import Upstream

@testable import Disk

@Suite("The trash over HTTP")
struct TrashTests {
    @Test("DISK-34 the trash is listed and restored from")
    func trash() async throws {
        try await DiskHarness.run(WriteScenario.disk()) { app, disk, token in
            _ = try await app.ask(.delete, "/v1/disk/file?path=/a.txt", as: token)
            let trash = try await app.get("/v1/disk/trash", as: token)
            trash.expectScreen("disk.trash")
            #expect(
                trash["data.items.0.origin"] == "disk:/a.txt"
                    && trash["data.items.0.deleted_text"] == "22.04.2024 08:00"
            )
            let path = try trash.string("data.items.0.path")
            let restored = try await app.ask(.post, "/v1/disk/trash/restore", as: token, json: #"{"path":"\#(path)"}"#)
            #expect(restored.status == 200 && restored["data.path"] == "disk:/a.txt")
            #expect(restored["data.back"] == "/v1/disk/files?path=disk%3A%2F")
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

    @Test("DISK-45 the last deleted item is first; one is deleted for good, then all that is left")
    func purge() async throws {
        let disk = WriteScenario.disk()
        for name in ["b.txt", "c.txt"] { disk.put("disk:/\(name)") }
        try await DiskHarness.run(disk) { app, token in
            for name in ["b.txt", "a.txt", "c.txt"] {
                _ = try await app.ask(.delete, "/v1/disk/file?path=/\(name)", as: token)
            }
            let trash = try await app.get("/v1/disk/trash", as: token)
            #expect(disk.asked.last { $0.contains("/trash/resources?") }?.contains("&sort=-deleted&") == true)
            #expect(trash.all("id", in: "data.items.0.actions") == ["restore", "purge"])
            #expect(trash["data.items.0.actions.1.confirm.buttons.0"] == "Delete for good")
            let href = try trash.string("data.items.0.actions.1.href")
            let purged = try await app.ask(.delete, href, as: token)
            #expect(purged.status == 200 && purged["data.back"] == "/v1/disk/trash", "\(purged.text)")
            try await app.ask(.delete, href, as: token).expectProblem("not-found", 404)
            #expect(try await app.get("/v1/disk/trash", as: token)["meta.page.total"] == 2)
            let left = [
                "/v1/disk/trash/item?path=disk:/folder", "/v1/disk/trash/item?path=trash:/", "/v1/disk/trash/item",
            ]
            for target in left {
                try await app.ask(.delete, target, as: token).expectProblem("invalid-parameter", 400)
            }
            let empty = try trash.string("data.actions.0.href")
            #expect(empty == "/v1/disk/trash" && trash["data.actions.0.id"] == "empty")
            disk.change { $0.pollsOfWrites = 1 }
            let emptied = try await app.ask(.delete, empty, as: token)
            #expect([200, 202].contains(emptied.status), "\(emptied.text)")
            if emptied.status == 202 {
                #expect(try await app.get(try emptied.string("data.href"), as: token)["data.status"] == "done")
            }
            let after = try await app.get("/v1/disk/trash", as: token)
            #expect(after["meta.state"] == "empty" && after["data.actions.0.enabled"] == false, "\(after.text)")
            #expect(disk.change { $0.nodes["disk:/folder"] != nil })
            disk.goAway()
            try await app.ask(.delete, empty, as: token).expectProblem("offline-write-refused", 503)
        }
    }

    @Test("DISK-38 a restore says where the item is now: as the upstream says, else as it follows from its origin")
    func place() async throws {
        try await DiskHarness.run(WriteScenario.disk()) { app, disk, token in
            for (href, path) in [
                (
                    "https://disk.test/v1/disk/resources?path=disk%3A%2Ffolder%2Fa%20%281%29.txt",
                    "disk:/folder/a (1).txt"
                ),
                ("https://disk.test/v1/disk/resources", nil),
            ] as [(String, String?)] {
                disk.intercept { request in
                    guard request.url.contains("/restore") else { return nil }
                    return .json(#"{"href":"\#(href)","method":"GET","templated":false}"#, status: .created)
                }
                let restored = try await app.ask(
                    .post,
                    "/v1/disk/trash/restore",
                    as: token,
                    json: #"{"path":"trash:/a.txt_1"}"#
                )
                #expect(restored.status == 200)
                #expect(restored["data.path"] == path.map { .string($0) } ?? .null, "\(restored.text)")
            }
        }
    }
}

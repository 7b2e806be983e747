import TestKit
import Foundation
import GRDB
import HTTPTypes
import Screens
import Testing
import Upstream

@testable import Disk

@Suite("The trash over HTTP")
struct TrashTests {
    @Test("DISK-34 the trash is listed and restored from")
    func trash() async throws {
        let disk = WriteScenario.disk()
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

import Foundation
import GRDB
import HTTPTypes
import Screens
import TestKit
import Testing
import Upstream

@testable import Disk

@Suite("Operations that the API finishes later")
struct OperationTrackerTests {
    @Test("DISK-30 what the upstream does in its own time is followed to its end")
    func followed() async throws {
        let disk = WriteScenario.disk()
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

    @Test("DISK-30 what takes longer is 202 with a status URL; its end is stored when it is seen")
    func underWay() async throws {
        let disk = WriteScenario.disk()
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
        let disk = WriteScenario.disk()
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
}

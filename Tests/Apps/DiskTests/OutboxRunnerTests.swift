import HTTPTypes
import TestKit
import Testing
import Upstream

@testable import Disk

@Suite("Writes of the outbox, one by one", .timeLimit(.minutes(2)))
struct OutboxRunnerTests {
    @Test(
        "OUT-06 a deletion of a file is one call, by which the API compares it; what has changed is a conflict",
        arguments: [("as it was", "done", 0), ("changed", "conflict", 1), ("gone", "done", 1)]
    )
    func deletion(what: String, state: String, looks: Int) async throws {
        let disk = WriteScenario.disk()
        try await DiskHarness.run(disk) { app in
            let token = try await app.logIn()
            try await WriteScenario.seen(app, token)
            disk.goAway()
            _ = try await app.get("/v1/disk/files?refresh=1", as: token)
            let left = try await app.leave(.delete, "/v1/disk/file?path=/a.txt", as: token)
            switch what {
            case "changed": disk.put("disk:/a.txt", "of another one")
            case "gone": disk.change { $0.nodes["disk:/a.txt"] = nil }
            default: break
            }
            let before = disk.asked.count
            disk.intercept(nil)
            let href = try left.string("data.href")
            try await app.outbox(href, is: state, as: token)
            let asked = disk.asked.dropFirst(before).filter { $0.contains("path=disk%3A%2Fa.txt") }
            #expect(asked.filter { $0.hasPrefix("DELETE") && $0.contains("md5=") }.count == 1, "\(asked)")
            #expect(asked.filter { $0.hasPrefix("GET") }.count == looks, "\(asked)")
            #expect(disk.change { $0.nodes["disk:/a.txt"] != nil } == (what == "changed"))
            guard state == "conflict" else { return }
            let conflict = try await app.get(href, as: token)
            #expect(conflict["data.conflict.theirs.size"] == 14, "\(conflict.text)")
            #expect(try await app.ask(.post, "\(href)/resolve", as: token, json: #"{"how":"overwrite"}"#).status == 200)
            await app.drained()
            #expect(disk.change { $0.nodes["disk:/a.txt"] == nil })
        }
    }
}

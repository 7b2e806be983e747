import TestKit
import Testing

@testable import Disk

@Suite("What lists of the Disk cost the database")
struct DiskStatementTests {
    @Test(
        "a stored page, offline: one transaction of four statements, however many rows it has",
        arguments: ["files?limit=20", "files?limit=100", "recent?limit=20"]
    )
    func offline(target: String) async throws {
        let disk = FakeYandexDisk()
        for number in 0..<30 { disk.put("disk:/\(number).txt") }
        try await DiskHarness.run(disk) { app, token in
            for _ in 0..<2 { _ = try await app.get("/v1/disk/\(target)", as: token) }
            app.disk.goAway()
            app.clock.advance(by: .seconds(60))
            _ = try await app.get("/v1/disk/\(target)", as: token)
            let ran = try await app.statements.count {
                let response = try await app.get("/v1/disk/\(target)", as: token)
                #expect(response["meta.offline"] == true && response.all("name", in: "data.items").count >= 20)
            }
            #expect(ran == .init(transactions: 1, statements: 4))
        }
    }
}

import HTTPTypes
import TestKit
import Testing

@testable import Disk

@Suite struct WriteRunTests {
    @Test("An upload reads the account three times, and four times the item that it makes or replaces")
    func statements() async throws {
        try await DiskHarness.run(FakeYandexDisk(["disk:/old.txt": "old"])) { app, token in
            _ = try await app.get("/v1/disk/files", as: token)
            for target in ["/new.txt", "/old.txt&overwrite=true"] {
                let log = try await app.statements.statements {
                    let upload = try await app.ask(.put, "/v1/disk/file/content?path=\(target)", as: token, bytes: [1])
                    #expect(upload.status == 201)
                    #expect(upload["meta.stale"] == false)
                }
                // With the request; when the row read back is stored, for its freshness and for its changes.
                #expect(log.reads(of: "disk_cache") == 3, "\(log)")
                // Before the write; when it is applied; when the row read back is stored; for the response.
                let ranks = log.filter { $0.contains("WHERE rank =") }
                #expect(log.reads(of: "disk_item") - ranks.count == 4, "\(log)")
                // A row that is new or modified gets a rank that no other row has.
                #expect(ranks.count <= 2, "\(log)")
            }
        }
    }
}

import Foundation
import GRDB
import HTTPTypes
import Screens
import Storage
import TestKit
import Testing
import Upstream

@testable import Disk

@Suite("The token of an account", .timeLimit(.minutes(10)))
struct TokenProviderTests {
    @Test("a token is opened only if a request is sent: what is stored needs none, fresh or offline")
    func opened() async throws {
        try await DiskHarness.run(FakeYandexDisk("disk:/a.txt")) { app, disk, token in
            #expect(try await app.get("/v1/disk/files", as: token).status == 200)
            try await app.database.write { try $0.execute(sql: "DELETE FROM user_secret") }

            #expect(DiskHarness.names(try await app.get("/v1/disk/files", as: token)) == ["a.txt"])
            let requests = disk.requests.count
            try await app.get("/v1/disk/files?refresh=1", as: token).expectProblem("session-expired", 401)
            #expect(disk.requests.count == requests)
        }
    }
}

import HTTPTypes
import TestKit
import Testing

@testable import Disk

@Suite struct PageReaderTests {
    @Test("A folder's list without the API reads the account twice, and its items once")
    func statements() async throws {
        let disk = FakeYandexDisk()
        disk.put("disk:/folder/a.txt", "a")
        disk.makeFolder("disk:/folder")
        try await DiskHarness.run(disk, .init(databaseOptions: StatementLog.options)) { app in
            let token = try await app.logIn()
            let target = "/v1/disk/files?path=/folder"
            _ = try await app.get(target, as: token)
            disk.goAway()
            _ = try await app.get(target + "&refresh=1", as: token)
            let log = try await StatementLog(of: app.database) {
                let list = try await app.get(target, as: token)
                #expect(list["meta.offline"] == true)
                #expect(DiskHarness.names(list) == ["a.txt"])
            }
            // With the request; its revision, in the transaction that reads the page.
            #expect(log.reads(of: "disk_account") == 2, "\(log)")
            #expect(log.reads(of: "disk_item") == 1, "\(log)")
        }
    }
}

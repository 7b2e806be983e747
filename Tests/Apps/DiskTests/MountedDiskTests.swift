import Foundation
import HTTPTypes
import Screens
import Storage
import TestKit
import Testing
import Upstream

@testable import Disk

@Suite("The API of the Disk over its mount", .timeLimit(.minutes(2)))
struct MountedDiskTests {
    private static let mount = "/v1/upstreams/yandex_disk"

    @Test("DISK-48 links lead back to the mount; what was read stays readable offline, and goes with the logout")
    func links() async throws {
        try await DiskHarness.run(FakeYandexDisk(["disk:/a.txt": "text of a"])) { app, disk, token in
            func href(_ target: String, _ member: String) async throws -> String {
                let link = try text(try await app.get(Self.mount + target, as: token)[member])
                let start = try #require(link.firstRange(of: Self.mount)?.lowerBound, "\(link)")
                return String(link[start...])
            }
            let asked = "/resources/download?path=disk:/a.txt"
            let listed = try await href("/resources?path=disk:/a.txt", "file")
            #expect(listed.hasPrefix("\(Self.mount)/~downloader.test/disk/"))
            #expect(try await app.get(try await href(asked, "href"), as: token).text == "text of a")
            #expect(disk.requests.last?.url.hasPrefix("https://downloader.test/disk/") == true)
            disk.goAway()
            for link in [listed, try await href(asked, "href"), listed] {
                let content = try await app.get(link, as: token)
                #expect(content.text == "text of a" && content.headerFields[.init("Larder-Offline")!] == "?1")
                #expect(try await app.get(link).status == 503)
            }
            #expect(try app.everythingStored().range(of: Data("downloader.test".utf8)) == nil)
            let responses = ResponseStore(app.database)
            #expect(try responses.totals().contains { $0.upstream == "yandex_disk.raw" && $0.responses == 3 })
            #expect(try await app.ask(.delete, "/v1/disk/session?confirm=true", as: token).status == 200)
            #expect(try !responses.totals().contains { $0.upstream == "yandex_disk.raw" && $0.responses > 0 })
        }
    }

    @Test("DISK-48 a mount of the Disk that is shared stores nothing, and passes links on as they are")
    func shared() {
        #expect(DiskApp.disk.leadsBack && DiskApp.disk.storesBodies(isShared: false))
        #expect(!DiskApp.disk.storesBodies(isShared: true))
    }
}

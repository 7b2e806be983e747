import HTTPTypes
import Storage
import TestKit
import Testing
import Upstream

@testable import Disk

@Suite("Lists as they will be", .timeLimit(.minutes(2)))
struct PendingListPageTests {
    @Test("OUT-04 a page that changes fill is the last one if nothing else will be shown", arguments: [true, false])
    func lastPage(isDeleted: Bool) async throws {
        try await DiskHarness.run(FakeYandexDisk("disk:/a.txt")) { app, disk, token in
            let screens = ["files?limit=1", "search?q=a&limit=1"]
            for screen in screens { #expect(try await app.get("/v1/disk/\(screen)", as: token).status == 200) }
            disk.goAway()
            _ = try await app.get("/v1/disk/files?refresh=1", as: token)
            _ = try await app.leave(.post, "/v1/disk/folders", as: token, json: #"{"path":"/new a"}"#)
            if isDeleted { _ = try await app.leave(.delete, "/v1/disk/file?path=/a.txt", as: token) }
            for screen in screens {
                let page = try await app.get("/v1/disk/\(screen)", as: token)
                #expect(DiskHarness.names(page) == ["new a"], "\(page.text)")
                #expect(page["meta.page.has_more"] == .bool(!isDeleted), "\(page.text)")
            }
        }
    }

    @Test("OUT-04 a page that changes fill is shown although the API cannot be asked", arguments: ["", "&refresh=1"])
    func filledPage(refresh: String) async throws {
        try await DiskHarness.run(FakeYandexDisk("disk:/f/a.txt")) { app, disk, token in
            #expect(try await app.get("/v1/disk/files", as: token).status == 200)
            disk.goAway()
            _ = try await app.get("/v1/disk/files?refresh=1", as: token)
            let left = try await app.leave(.post, "/v1/disk/folders", as: token, json: #"{"path":"/f/new"}"#)
            #expect(left.status == 202)
            let page = try await app.get("/v1/disk/files?path=/f&limit=1\(refresh)", as: token)
            #expect(DiskHarness.names(page) == ["new"], "\(page.text)")
            #expect(page["meta.page.has_more"] == true && page["meta.offline"] == true, "\(page.text)")
            try await app.get("/v1/disk/files?path=/f&limit=2\(refresh)", as: token)
                .expectProblem("upstream-unavailable", 503)
        }
    }

    @Test("OUT-11 a list that is read while the queue drains faster keeps what waits")
    func drain() async throws {
        // Each read asks the API.
        let settings = DiskHarness.Settings(values: .disk.with(DiskApp.freshness, .zero))
        try await DiskHarness.run(WriteScenario.disk(), settings) { app in
            let token = try await WriteScenario.away(app)
            for number in 0..<16 {
                let body = #"{"path":"/q\#(number)"}"#
                #expect(try await app.leave(.post, "/v1/disk/folders", as: token, json: body).status == 202)
            }
            let store = app.store
            app.disk.intercept { request in
                guard request.method == .get else { return FakeYandexDisk.refusal(423, "DiskResourceLockedError") }
                // As if another write were done while the API responds.
                guard let last = store.outbox.queue(of: "1130")?.entries.last else { return nil }
                try? store.database.write { db in
                    _ = try store.change([.remove(last)], account: "1130", db)
                    try store.responses.invalidate(credential: store.credential(of: "1130"), in: db)
                }
                return nil
            }
            let list = try await app.get("/v1/disk/files?refresh=1", as: token)
            // Each read was overtaken, the last one too.
            #expect(store.outbox.queue(of: "1130").map { $0.entries.count <= 16 - Disk.attempts } == true)
            #expect(DiskHarness.names(list).starts(with: ["q0", "q1"]), "\(list.text)")
        }
    }
}

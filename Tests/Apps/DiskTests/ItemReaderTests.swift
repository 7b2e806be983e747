import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Screens
import TestKit
import Testing
import Upstream

@testable import Disk

@Suite("What the upstream changes or refuses by itself")
struct ItemReaderTests {
    @Test("DISK-34 what another client has deleted is not found any more, online and offline")
    func searchForgets() async throws {
        let disk = FakeYandexDisk()
        for path in ["disk:/gone.txt", "disk:/stays.txt"] { disk.put(path) }
        try await DiskHarness.run(disk) { app, token in
            _ = try await app.get("/v1/disk/files", as: token)
            #expect(
                DiskHarness.names(try await app.get("/v1/disk/search?q=txt", as: token)).sorted() == [
                    "gone.txt", "stays.txt",
                ]
            )
            disk.change { $0.nodes["disk:/gone.txt"] = nil }
            app.clock.advance(by: .seconds(1))
            let found = try await app.get("/v1/disk/search?q=txt&refresh=1", as: token)
            #expect(DiskHarness.names(found) == ["stays.txt"])
            #expect(found["meta.page.total"] == 1 && found["meta.partial"] == false)
            // A file that was added after the list of all files was read is found, although that list does not have it.
            app.clock.advance(by: .seconds(10))
            disk.put("disk:/new.txt")
            _ = try await app.get("/v1/disk/files", as: token)
            #expect(
                DiskHarness.names(try await app.get("/v1/disk/search?q=txt", as: token)) == [
                    "new.txt", "stays.txt",
                ]
            )
            disk.goAway()
            app.clock.advance(by: .seconds(3600))
            let offline = try await app.get("/v1/disk/search?q=txt", as: token)
            #expect(DiskHarness.names(offline) == ["new.txt", "stays.txt"] && offline["meta.partial"] == true)
        }
    }

    @Test("a folder in whose place another client has put a file: 409 not-a-folder, and its former items are forgotten")
    func folderBecomesFile() async throws {
        let disk = FakeYandexDisk()
        disk.makeFolder("disk:/thing")
        disk.put("disk:/thing/inside.txt")
        try await DiskHarness.run(disk) { app, token in
            #expect(DiskHarness.names(try await app.get("/v1/disk/files?path=/thing", as: token)) == ["inside.txt"])
            disk.change { $0.nodes["disk:/thing/inside.txt"] = nil }
            disk.put("disk:/thing")
            try await app.get("/v1/disk/files?path=/thing&refresh=1", as: token).expectProblem("not-a-folder", 409)
            try await app.get("/v1/disk/files?path=/thing", as: token).expectProblem("not-a-folder", 409)
            disk.goAway()
            try await app.get("/v1/disk/file?path=/thing/inside.txt", as: token).expectProblem(
                "upstream-unavailable",
                503
            )
            try await app.get("/v1/disk/files?path=/thing&refresh=1", as: token).expectProblem("not-a-folder", 409)
        }
    }

    @Test(
        "DISK-16 a page that was never requested is not made of another one's response: the failure is reported",
        arguments: [
            (503, "upstream-unavailable", 503), (429, "rate-limited", 429), (200, "upstream-bad-response", 502),
        ]
    )
    func sameResponse(status: Int, code: String, problem: Int) async throws {
        let disk = FakeYandexDisk()
        for number in 1...12 { disk.put("disk:/\(number).txt") }
        try await DiskHarness.run(disk) { app, token in
            // Both request ten rows from the upstream.
            #expect(try await app.get("/v1/disk/recent?limit=3&offset=6", as: token).status == 200)
            disk.respond(status)
            app.clock.advance(by: .seconds(10))
            let before = disk.asked.count
            try await app.get("/v1/disk/recent?limit=9", as: token).expectProblem(code, problem)
            #expect(disk.asked.count == before + 1)
            #expect(try await app.get("/v1/disk/recent?limit=3&offset=6", as: token)["meta.stale"] == true)
        }
    }

    @Test("DISK-16 a file that was moved away, requested while the upstream fails: 503, not a bad response")
    func failingAfterRename() async throws {
        try await DiskHarness.run(FakeYandexDisk("disk:/a.txt")) { app, disk, token in
            #expect(try await app.get("/v1/disk/file?path=/a.txt", as: token).status == 200)
            #expect(
                try await app.ask(.patch, "/v1/disk/file?path=/a.txt", as: token, json: #"{"name":"b.txt"}"#).status
                    == 200
            )
            disk.respond(500)
            try await app.get("/v1/disk/file?path=/a.txt", as: token).expectProblem("upstream-unavailable", 503)
        }
    }

    @Test("DISK-12 DISK-19 rows that the app cannot show, as of another scheme, end no list early and shift no page")
    func unknownRows() async throws {
        let disk = FakeYandexDisk()
        disk.intercept { (request) in
            guard request.url.contains("/last-uploaded") || request.url.contains("/public") else { return nil }
            let limit = request.url.firstMatch(of: /[?&]limit=(\d+)/).flatMap { Int($0.1) } ?? 0
            let offset = request.url.firstMatch(of: /[?&]offset=(\d+)/).flatMap { Int($0.1) } ?? 0
            let paths = ["disk:/a", "photounlim:/b", "disk:/c", "disk:/d", "disk:/e"].dropFirst(offset).prefix(limit)
            return .json(
                #"{"items":["#
                    + paths.map { #"{"path":"\#($0)","name":"\#($0.suffix(1))","type":"file"}"# }.joined(separator: ",")
                    + "]}"
            )
        }
        try await DiskHarness.run(disk) { app, token in
            for list in ["recent", "published"] {
                var names: [String] = []
                var target: String? = "/v1/disk/\(list)?limit=2"
                while let next = target {
                    let response = try await app.get(next, as: token)
                    names += DiskHarness.names(response)
                    if case .string(let link) = response["links.next"] { target = link } else { target = nil }
                }
                #expect(names == ["a", "c", "d", "e"], "\(list)")
            }
        }
    }

    @Test(
        "DISK-16 a 403 or 404 that follows a 401 is returned, and nothing that is stored",
        arguments: [(403, "upstream-forbidden"), (404, "not-found")]
    )
    func refusedAfterRejected(status: Int, code: String) async throws {
        try await DiskHarness.run(FakeYandexDisk("disk:/a.txt")) { app, disk, token in
            #expect(try await app.get("/v1/disk/recent", as: token).status == 200)
            disk.respond(401)
            try await app.get("/v1/disk/recent?refresh=1", as: token).expectProblem("upstream-session-expired", 401)
            disk.respond(status)
            try await app.get("/v1/disk/recent?refresh=1", as: token).expectProblem(code, status)
            disk.respond(503)
            try await app.get("/v1/disk/recent", as: token).expectProblem("upstream-session-expired", 401)
            disk.intercept(nil)
            #expect(DiskHarness.names(try await app.get("/v1/disk/recent", as: token)) == ["a.txt"])
        }
    }

    @Test("DISK-30 an operation that the upstream refuses or cannot report is an error, one that it forgot has ended")
    func lostOperation() async throws {
        let disk = FakeYandexDisk()
        disk.put("disk:/a.txt")
        disk.change { $0.pollsOfWrites = 9 }
        try await DiskHarness.run(disk) { app, token in
            let response = try await app.ask(.delete, "/v1/disk/file?path=/a.txt", as: token)
            let location = try #require(response.headerFields[.location])
            disk.respond(503)
            #expect(try await app.get(location, as: token)["data.status"] == "running")
            disk.goAway(.totalTimeout)
            try await app.get(location, as: token).expectProblem("upstream-unavailable", 503)
        }
        try await DiskHarness.run(disk) { app in
            disk.intercept(nil)
            disk.put("disk:/a.txt")
            let token = try await app.logIn()
            let response = try await app.ask(.delete, "/v1/disk/file?path=/a.txt", as: token)
            let location = try #require(response.headerFields[.location])
            let head = try await app.ask(.head, location, as: token)
            #expect(head.status == 202 && head.headerFields[.location] == nil)
            disk.change { $0.tokens = [:] }
            try await app.get(location, as: token).expectProblem("upstream-session-expired", 401)
            disk.change { state in
                state.tokens = ["good": "1130"]
                state.endOperations()
                state.forgetOperations()
            }
            #expect(try await app.get(location, as: token)["data.status"] == "done", "nothing is at its path")
        }
    }

    @Test("HEAD of a file says what GET says, and does not claim that a body was stored that was not fetched")
    func head() async throws {
        try await DiskHarness.run(FakeYandexDisk("disk:/a.txt")) { app, token in
            let target = "/v1/disk/file?path=/a.txt&tz=Asia/Tokyo"
            _ = try await app.get(target, as: token)  // From now on it is from the store.
            let (get, head) = (try await app.get(target, as: token), try await app.ask(.head, target, as: token))
            #expect(
                head.headerFields[.eTag] == get.headerFields[.eTag]
                    && head.headerFields[.contentLength] == get.headerFields[.contentLength]
            )
            #expect(
                try await app.ask(.head, "/v1/disk/file/content?path=/a.txt", as: token).cacheStatus
                    == "larder; fwd=uri-miss"
            )
            #expect(
                try await app.get("/v1/disk/file/content?path=/a.txt", as: token).cacheStatus
                    == "larder; fwd=uri-miss; stored"
            )
        }
    }
}

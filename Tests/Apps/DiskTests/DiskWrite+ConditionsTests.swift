import Foundation
import HTTP
import HTTPTypes
import Screens
import TestKit
import Testing

@testable import Concurrency
@testable import Disk
@testable import Upstream

@Suite("Preconditions of writes")
struct DiskWriteConditionsTests {
    private static let content = "/v1/disk/file/content?path=/a.txt&overwrite=1"

    /// The tags of a file: of its screen and of its content.
    private typealias Tags = (screen: String, content: String)

    private func tags(_ app: DiskHarness, _ path: String, _ token: String) async throws -> Tags {
        let screen = try #require(try await app.get("/v1/disk/file?path=\(path)", as: token).headerFields[.eTag])
        let content = try #require(
            try await app.get("/v1/disk/file/content?path=\(path)", as: token).headerFields[.eTag]
        )
        return (screen, content)
    }

    private func writes(_ disk: FakeYandexDisk) -> [String] { disk.requests.filter(EachWrite.isWrite).map(\.url) }

    @Test("TRUST-05 If-Match that does not hold is 412, and nothing changes", arguments: EachWrite.allCases)
    func stale(write: EachWrite) async throws {
        try await DiskHarness.run(EachWrite.disk()) { app, disk, token in
            let known =
                write == .restore || write == .upload || write == .folder
                ? nil : try await tags(app, write.subject, token)
            for tag in [
                "\"bogus\"", "\"\"", "nonsense", "\"a,*,b\"", known.map { "W/\($0.content)" },
                known.map { "W/\($0.screen)" },
            ].compactMap({ $0 }) {
                let response = try await write.ask(app, token, [.ifMatch: tag])
                response.expectProblem("precondition-failed", 412)
            }
            #expect(writes(disk).isEmpty && !write.isDone(on: disk))
        }
    }

    @Test(
        "TRUST-05 If-Match holds with the tag of the screen, of the content, of one among others, and with *",
        arguments: EachWrite.allCases
    )
    func current(write: EachWrite) async throws {
        for form in 0..<4 {
            try await DiskHarness.run(EachWrite.disk()) { app, disk, token in
                guard write != .upload, write != .folder else {
                    // Nothing is there: not even * holds.
                    return try await write.ask(app, token, [.ifMatch: "*"]).expectProblem("precondition-failed", 412)
                }
                let md5 = "\"\(FakeYandexDisk.md5(Array("gone".utf8)))\""
                let tags = write == .restore ? (screen: md5, content: md5) : try await tags(app, write.subject, token)
                let field = [tags.screen, tags.content, "\"x\", \(tags.content)", "*"][form]
                let response = try await write.ask(app, token, [.ifMatch: field])
                #expect(response.status == write.successStatus, "\(field): \(response.text)")
                #expect(write.isDone(on: disk))
            }
        }
    }

    @Test(
        "TRUST-05 what is compared is what the upstream has now, not what is stored; the next read has the present tag",
        arguments: EachWrite.allCases
    )
    func changedElsewhere(write: EachWrite) async throws {
        guard write != .upload, write != .folder, write != .restore else { return }
        try await DiskHarness.run(EachWrite.disk()) { app, disk, token in
            let before = try await tags(app, write.subject, token)
            // Another client changes the same Disk; the stored copy is still fresh.
            disk.change { $0.nodes["disk:\(write.subject)"]?.bytes = Array("of another client".utf8) }
            try await write.ask(app, token, [.ifMatch: before.content]).expectProblem("precondition-failed", 412)
            try await write.ask(app, token, [.ifMatch: before.screen]).expectProblem("precondition-failed", 412)
            #expect(writes(disk).isEmpty)
            let now = try await tags(app, write.subject, token)
            #expect(now.content != before.content && now.screen != before.screen)
            #expect(try await write.ask(app, token, [.ifMatch: now.content]).status == write.successStatus)
        }
    }

    @Test("TRUST-05 If-None-Match: * creates and never replaces; the upstream enforces it")
    func createOnly() async throws {
        let disk = EachWrite.disk()
        disk.put("disk:/folder/b.txt", "in the way")
        try await DiskHarness.run(disk) { app, token in
            try await app.ask(.put, Self.content, as: token, [.ifNoneMatch: "*"], bytes: [1]).expectProblem(
                "precondition-failed",
                412
            )
            try await app.ask(.post, "/v1/disk/folders", as: token, [.ifNoneMatch: "*"], json: #"{"path":"/folder"}"#)
                .expectProblem("precondition-failed", 412)
            for call in ["move", "copy"] {
                let json = #"{"from":"/a.txt","to":"/folder/b.txt","overwrite":true}"#
                try await app.ask(.post, "/v1/disk/files/\(call)", as: token, [.ifNoneMatch: "*"], json: json)
                    .expectProblem("precondition-failed", 412)
            }
            for write in [EachWrite.rename, .delete, .publish, .unpublish] {
                try await write.ask(app, token, [.ifNoneMatch: "*"]).expectProblem("precondition-failed", 412)
            }
            #expect(writes(disk).isEmpty)
            let free = try await app.ask(
                .put,
                "/v1/disk/file/content?path=/free.txt&overwrite=1",
                as: token,
                [.ifNoneMatch: "*"],
                bytes: [1]
            )
            #expect(free.status == 201)
            #expect(disk.asked.contains { $0.contains("/resources/upload?path=disk%3A%2Ffree.txt&overwrite=false") })
            // Another client is faster, between the check and the write.
            disk.intercept { [disk] (request) in
                if request.url.contains("/resources/upload") { disk.put("disk:/late.txt", "of another client") }
                return nil
            }
            try await app.ask(
                .put,
                "/v1/disk/file/content?path=/late.txt&overwrite=1",
                as: token,
                [.ifNoneMatch: "*"],
                bytes: [1]
            )
            .expectProblem("precondition-failed", 412)
            #expect(disk.change { $0.nodes["disk:/late.txt"]?.bytes } == Array("of another client".utf8))
        }
    }

    @Test("TRUST-05 If-None-Match with tags, compared weakly; If-Unmodified-Since, disregarded beside If-Match")
    func others() async throws {
        try await DiskHarness.run(EachWrite.disk()) { app, disk, token in
            let tags = try await tags(app, "/a.txt", token)
            for tag in [tags.content, "W/\(tags.content)", tags.screen] {
                try await app.ask(.put, Self.content, as: token, [.ifNoneMatch: tag], bytes: [1]).expectProblem(
                    "precondition-failed",
                    412
                )
            }
            let old = HTTPFields([HTTPField(name: .ifUnmodifiedSince, value: "Sun, 21 Apr 2024 08:00:00 GMT")])
            try await app.ask(.put, Self.content, as: token, old, bytes: [1]).expectProblem("precondition-failed", 412)
            #expect(writes(disk).isEmpty)
            #expect(
                try await app.ask(.put, Self.content, as: token, old.merging([.ifMatch: tags.content]), bytes: [1])
                    .status == 201
            )
            #expect(try await app.ask(.put, Self.content, as: token, [.ifNoneMatch: "\"x\""], bytes: [2]).status == 201)
            let late = HTTPFields([HTTPField(name: .ifUnmodifiedSince, value: "Mon, 22 Apr 2024 08:00:00 GMT")])
            #expect(try await app.ask(.delete, "/v1/disk/file?path=/a.txt", as: token, late).status == 200)
        }
    }

    @Test(
        "TRUST-05 of two clients with one tag exactly one wins",
        arguments: [EachWrite.overwrite, .rename, .delete, .publish]
    )
    func race(write: EachWrite) async throws {
        let disk = EachWrite.disk()
        disk.change { $0.detours = 10 }
        try await DiskHarness.run(disk) { app, token in
            let tag = try await tags(app, "/a.txt", token).screen
            let statuses = try await (0..<4).concurrentMap { _ in
                try await write.ask(app, token, [.ifMatch: tag]).status
            }
            #expect(statuses.count { $0 == write.successStatus } == 1, "\(statuses)")
            // An item that was deleted or renamed is not there: that counts before any precondition (RFC 9110 §13.2.1).
            let isGone = write == .delete || write == .rename
            #expect(statuses.count { $0 == 412 || (isGone && $0 == 404) } == 3, "\(statuses)")
            #expect(writes(disk).count == 1)
        }
    }

    @Test("TRUST-05 the response to a write has the tag for the next one, also if nothing else was read")
    func tagsOfWrites() async throws {
        try await DiskHarness.run(EachWrite.disk()) { app, disk, token in
            var tag = try #require(try await EachWrite.upload.ask(app, token).headerFields[.eTag])
            #expect(tag == "\"\(FakeYandexDisk.md5(Array("new".utf8)))\"", "of the content, which is the target")
            for bytes: [UInt8] in [[1], [2], [3]] {
                let response = try await app.ask(
                    .put,
                    "/v1/disk/file/content?path=/new&overwrite=1",
                    as: token,
                    [.ifMatch: tag],
                    bytes: bytes
                )
                #expect(response.status == 201)
                tag = try #require(response.headerFields[.eTag])
            }
            let renamed = try await app.ask(
                .patch,
                "/v1/disk/file?path=/new",
                as: token,
                [.ifMatch: tag],
                json: #"{"name":"newer"}"#
            )
            let screen = try #require(renamed.headerFields[.eTag])
            #expect(
                try await app.ask(.delete, "/v1/disk/file?path=/newer", as: token, [.ifMatch: screen]).status == 200
            )
            #expect(
                disk.asked.contains { $0.hasPrefix("DELETE") && $0.contains("md5=\(FakeYandexDisk.md5([3]))") },
                "the upstream compares, too"
            )
        }
    }

    @Test("TRUST-05 offline precedes any precondition; part of a file is 400 and sends nothing; a missing file is 404")
    func order() async throws {
        try await DiskHarness.run(EachWrite.disk()) { app, disk, token in
            let part = HTTPFields([HTTPField(name: .contentRange, value: "bytes 100-103/104")])
            let response = try await app.ask(.put, Self.content, as: token, part, bytes: [1, 2, 3, 4])
            response.expectProblem("invalid-parameter", 400)
            #expect(response["errors.0.parameter"] == "Content-Range")
            #expect(disk.change { $0.nodes["disk:/a.txt"]?.bytes } == Array("text of a".utf8))
            try await app.ask(.delete, "/v1/disk/file?path=/none", as: token, [.ifMatch: "*"]).expectProblem(
                "not-found",
                404
            )
            disk.goAway()
            #expect(try await app.get("/v1/disk/profile?refresh=1", as: token)["offline"] == true)
            for write in EachWrite.allCases {
                try await write.ask(app, token, [.ifMatch: "\"bogus\""]).expectProblem("offline-write-refused", 503)
            }
            #expect(writes(disk).isEmpty)
        }
    }
}

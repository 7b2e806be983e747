import TestKit
import Foundation
import GRDB
import HTTPTypes
import Screens
import Testing
import Upstream

@testable import Disk

@Suite("Uploads, folders, moves and copies over HTTP")
struct WriteSenderTests {
    @Test("DISK-34 an uploaded file is there byte for byte, is listed, and overwrites only on request")
    func upload() async throws {
        let disk = WriteScenario.disk()
        let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0) }
        try await DiskHarness.run(disk) { app in
            let token = try await app.logIn()
            _ = try await app.get("/v1/disk/recent", as: token)
            let answer = try await app.ask(
                .put,
                "/v1/disk/file/content?path=/folder/n%2B1.txt",
                as: token,
                bytes: bytes
            )
            answer.expectScreen("disk.file", status: 201)
            #expect(answer.headerFields[.location] == "/v1/disk/file?path=disk%3A%2Ffolder%2Fn%2B1.txt")
            #expect(answer["data.size"] == 300_000)
            #expect(disk.change { $0.nodes["disk:/folder/n+1.txt"]?.bytes } == bytes)
            #expect(DiskHarness.names(try await app.get("/v1/disk/recent", as: token)).first == "n+1.txt")
            let put = try #require(disk.requests.last { $0.url.hasPrefix("https://uploader.test") })
            #expect(
                put.headerFields[.authorization] == nil && put.headerFields[.contentType] == "application/octet-stream"
            )
            try await app.ask(.put, "/v1/disk/file/content?path=/a.txt", as: token, bytes: [1]).expectProblem(
                "target-exists",
                409
            )
            #expect(
                try await app.ask(.put, "/v1/disk/file/content?path=/a.txt&overwrite=1", as: token, bytes: [1]).status
                    == 201
            )
            #expect(try await app.get("/v1/disk/file/content?path=/a.txt", as: token).body == Data([1]))
            #expect(
                try await app.ask(.put, "/v1/disk/file/content?path=/empty.txt", as: token, bytes: [])["data.size"] == 0
            )
            try await app.ask(.put, "/v1/disk/file/content?path=/none/x.txt", as: token, bytes: [1]).expectProblem(
                "not-found",
                404
            )
            try await app.ask(.put, "/v1/disk/file/content?path=/", as: token, bytes: [1]).expectProblem(
                "invalid-parameter",
                400
            )
        }
    }

    @Test(
        "an upload that the upstream does not take is a problem, and nothing is listed",
        arguments: [(413, 413), (507, 507), (500, 503), (412, 412), (409, 403)]
    )
    func refusedUpload(status: Int, expected: Int) async throws {
        let disk = WriteScenario.disk()
        try await DiskHarness.run(disk) { app in
            let token = try await app.logIn()
            disk.intercept { (request) in
                request.url.hasPrefix("https://uploader.test") ? IncomingResponse(status: .init(code: status)) : nil
            }
            #expect(
                try await app.ask(.put, "/v1/disk/file/content?path=/new.txt", as: token, bytes: [1]).status == expected
            )
            #expect(!DiskHarness.names(try await app.get("/v1/disk/files", as: token)).contains("new.txt"))
        }
    }

    @Test("DISK-34 folders are made, things moved and copied; the lists of both places know it")
    func organise() async throws {
        let disk = WriteScenario.disk()
        try await DiskHarness.run(disk) { app in
            let token = try await app.logIn()
            try await WriteScenario.seen(app, token)
            let folder = try await app.ask(.post, "/v1/disk/folders", as: token, json: #"{"path":"/Новая папка"}"#)
            #expect(folder.status == 201 && folder["data.type"] == "dir")
            try await app.ask(.post, "/v1/disk/folders", as: token, json: #"{"path":"/folder"}"#).expectProblem(
                "target-exists",
                409
            )
            try await app.ask(.post, "/v1/disk/folders", as: token, json: #"{"path":"/none/x"}"#).expectProblem(
                "not-found",
                404
            )
            #expect(
                try await app.ask(
                    .post,
                    "/v1/disk/files/copy",
                    as: token,
                    json: #"{"from":"/a.txt","to":"/folder/copy.txt"}"#
                ).status == 201
            )
            let moved = try await app.ask(
                .post,
                "/v1/disk/files/move",
                as: token,
                json: #"{"from":"/a.txt","to":"/folder/moved.txt"}"#
            )
            #expect(moved.status == 201 && moved["data.path"] == "disk:/folder/moved.txt")
            try await app.ask(
                .post,
                "/v1/disk/files/move",
                as: token,
                json: #"{"from":"/folder","to":"/folder/deeper"}"#
            ).expectProblem(
                "validation-failed",
                422
            )
            try await app.ask(
                .post,
                "/v1/disk/files/move",
                as: token,
                json: #"{"from":"/folder/copy.txt","to":"/folder/moved.txt"}"#
            ).expectProblem(
                "target-exists",
                409
            )
            #expect(
                DiskHarness.names(try await app.get("/v1/disk/files?path=/folder", as: token)) == [
                    "a inner.txt", "copy.txt", "moved.txt",
                ]
            )
            #expect(DiskHarness.names(try await app.get("/v1/disk/files", as: token)) == ["folder", "Новая папка"])
            disk.goAway()
            #expect(DiskHarness.names(try await app.get("/v1/disk/recent?refresh=1", as: token)).contains("moved.txt"))
        }
    }
}

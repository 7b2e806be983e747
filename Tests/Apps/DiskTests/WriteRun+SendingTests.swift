import Foundation
import GRDB
import HTTPTypes
import Screens
import TestKit
import Testing
import Upstream

@testable import Disk

@Suite("Uploads, folders, moves and copies over HTTP")
struct WriteRunSendingTests {
    @Test("DISK-34 an uploaded file is there byte for byte, is listed, and overwrites only on request")
    func upload() async throws {
        let disk = WriteScenario.disk()
        let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0) }
        try await DiskHarness.run(disk) { app, token in
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
        try await DiskHarness.run(WriteScenario.disk()) { app, disk, token in
            disk.intercept { (request) in
                request.url.hasPrefix("https://uploader.test") ? IncomingResponse(status: .init(code: status)) : nil
            }
            let response = try await app.ask(.put, "/v1/disk/file/content?path=/new.txt", as: token, bytes: [1])
            #expect(response.status == expected)
            let text = String(decoding: response.body, as: UTF8.self)
            #expect(!text.contains("()"), "an uploader refuses without a code")
            #expect(!DiskHarness.names(try await app.get("/v1/disk/files", as: token)).contains("new.txt"))
        }
    }

    @Test("TRUST-05 the pause that an uploader asks for reaches the client", arguments: [429, 503])
    func pause(status: Int) async throws {
        try await DiskHarness.run(WriteScenario.disk()) { app, disk, token in
            disk.intercept { request in
                guard request.url.hasPrefix("https://uploader.test") else { return nil }
                return .json("", status: .init(code: status), headerFields: [.retryAfter: "120"])
            }
            let response = try await app.ask(.put, "/v1/disk/file/content?path=/new.txt", as: token, bytes: [1])
            #expect(response.status == status && response.headerFields[.retryAfter] == "120", "\(response.text)")
        }
    }

    @Test("TRUST-05 an upload that the upstream finishes later is known with its size and checksum")
    func accepted() async throws {
        try await DiskHarness.run(WriteScenario.disk()) { app, disk, token in
            disk.intercept { [disk] (request) throws(UpstreamError) in
                if request.url.hasPrefix("https://uploader.test") {
                    disk.carryOut(request)
                    return .json("", status: .accepted)
                }
                if request.url.contains("/resources/upload") {
                    return .json(#"{"href":"https://uploader.test/put?path=disk%3A%2Fnew.bin","operation_id":"op7"}"#)
                }
                if request.url.contains("/operations/op7") { return .json(#"{"status":"success"}"#) }
                // The uploaded file cannot be read back.
                if request.url.contains("new.bin") { return .json("{}", status: .serviceUnavailable) }
                return nil
            }
            let response = try await app.ask(.put, "/v1/disk/file/content?path=/new.bin", as: token, bytes: [1, 2, 3])
            #expect(response.status == 201 && response["data.size"] == 3, "\(response.text)")
            let row = try #require(try app.store.row(DiskPath.root.child("new.bin"), account: "1130"))
            #expect(row.item.md5 == FakeYandexDisk.md5([1, 2, 3]))
        }
    }

    @Test("DISK-38 a read of something that is locked shows the stored copy, as stale; with nothing stored it is 423")
    func lockedReads() async throws {
        try await DiskHarness.run(EachWrite.disk()) { app, disk, token in
            let screens = ["files", "file?path=/a.txt", "recent", "published", "trash", "profile"]
            for screen in screens { #expect(try await app.get("/v1/disk/\(screen)", as: token).status == 200) }
            disk.intercept { (_) in FakeYandexDisk.refusal(423, "DiskResourceLockedError") }
            app.clock.advance(by: .seconds(6))
            for screen in screens {
                let response = try await app.get("/v1/disk/\(screen)", as: token)
                #expect(response.status == 200 && response["meta.stale"] == true, "\(screen): \(response.text)")
                #expect(response["meta.offline"] == false)
                #expect(response.cacheStatus == "larder; fwd=stale; fwd-status=423; detail=stale-if-error")
            }
            let missing = try await app.get("/v1/disk/files?path=/folder", as: token)
            missing.expectProblem("locked", 423)
            #expect(missing["retryable"] == true)
        }
    }

    /// The refusals that clients of the service know, and the problem that each becomes. One that signs out is last.
    private static let refusals: [(status: Int, code: String, problem: String, isRetryable: Bool)] = [
        (400, "FieldValidationError", "invalid-parameter", false),
        (400, "DiskPathFormatError", "invalid-parameter", false),
        (403, "DiskSymlinkPasswordRequiredError", "upstream-forbidden", false),
        (403, "DiskUnsupportedUserAccountTypeError", "upstream-forbidden", false),
        (403, "ForbiddenError", "upstream-forbidden", false),
        (404, "DiskOperationNotFoundError", "not-found", false),
        (406, "NotAcceptableError", "upstream-forbidden", false),
        (409, "DiskPathDoesntExistsError", "not-found", false),
        (409, "DiskPathPointsToExistentDirectoryError", "target-exists", false),
        (409, "DiskPathPointsToRootError", "upstream-forbidden", false),
        (409, "MD5DifferError", "precondition-failed", false),
        (413, "PayloadTooLargeError", "too-large", false),
        (423, "DiskResourceLockedError", "locked", true),
        (423, "DiskUploadTrafficLimitExceeded", "upload-limit", false),
        (423, "LockedError", "upstream-read-only", true),
        (429, "TooManyRequestsError", "rate-limited", true),
        (507, "DiskStorageQuotaExhaustedError", "upstream-storage-full", false),
        (410, "GoneError", "not-found", false),
        (401, "UnauthorizedError", "upstream-session-expired", false),
    ]

    @Test("DISK-44 each code of the service has a text of its own in both languages, and is retryable where it is")
    func codes() async throws {
        try await DiskHarness.run(WriteScenario.disk()) { app, disk, token in
            var texts = Set<String>()
            for (status, code, problem, isRetryable) in Self.refusals {
                disk.intercept { $0.method == .delete ? FakeYandexDisk.refusal(status, code) : nil }
                for language in ["en", "ru"] {
                    // A limit of requests is a pause for those that follow.
                    app.clock.advance(by: .seconds(3600))
                    let target = "/v1/disk/file?path=/a.txt"
                    let answer = try await app.ask(.delete, target, as: token, [.acceptLanguage: language])
                    #expect(answer["code"] == .string(problem), "\(code): \(answer.text)")
                    #expect(answer["retryable"] == .bool(isRetryable), "\(code): \(answer.text)")
                    let text = try answer.string("detail")
                    #expect(texts.insert(text).inserted, "\(code): \(text)")
                    #expect(text.contains { ("а"..."я").contains($0) } == (language == "ru"), "\(code): \(text)")
                    #expect(answer["dialog.message"] == .string(text), "\(code)")
                    #expect((answer.headerFields[.retryAfter] == "600") == (code == "LockedError"), "\(code)")
                }
            }
        }
    }

    @Test("DISK-46 a token without a right says which, in both languages: at the login, for reads and for writes")
    func rights() async throws {
        try await DiskHarness.run(WriteScenario.disk()) { app, disk, token in
            disk.intercept { _ in FakeYandexDisk.refusal(403, "ForbiddenError") }
            for (method, target, right) in [
                (HTTPRequest.Method.get, "/v1/disk/profile?refresh=1", "info"),
                (.get, "/v1/disk/files?path=/&refresh=1", "read"), (.get, "/v1/disk/recent?refresh=1", "read"),
                (.delete, "/v1/disk/file?path=/a.txt", "write"),
            ] {
                for language in ["en", "ru"] {
                    let refused = try await app.ask(method, target, as: token, [.acceptLanguage: language])
                    refused.expectProblem("upstream-forbidden", 403)
                    #expect(try refused.string("detail").contains("cloud_api:disk.\(right)"), "\(refused.text)")
                }
            }
            let login = #"{"mode":"oauth_token","access_token":"other"}"#
            let refused = try await app.ask(.post, "/v1/disk/session", json: login)
            refused.expectProblem("upstream-forbidden", 403)
            #expect(try refused.string("detail").contains("cloud_api:disk.info"))
        }
    }

    @Test("DISK-38 423 of the upstream is retryable; names of only spaces are refused and nothing is sent")
    func refusals() async throws {
        try await DiskHarness.run(WriteScenario.disk()) { app, disk, token in
            disk.intercept { request in
                request.method == .delete ? FakeYandexDisk.refusal(423, "DiskResourceLockedError") : nil
            }
            let locked = try await app.ask(.delete, "/v1/disk/file?path=/a.txt", as: token)
            locked.expectProblem("locked", 423)
            #expect(locked["retryable"] == true)
            let requests = disk.requests.count
            for (target, json) in [
                ("folders", #"{"path":"/ "}"#), ("files/move", #"{"from":"/a.txt","to":"/folder/  "}"#),
                ("files/copy", "{\"from\":\"/a.txt\",\"to\":\"/\u{3000}\"}"),
                ("trash/restore", #"{"path":"trash:/a.txt_1","name":"  "}"#),
            ] {
                try await app.ask(.post, "/v1/disk/\(target)", as: token, json: json)
                    .expectProblem("validation-failed", 422)
            }
            try await app.ask(.patch, "/v1/disk/file?path=/a.txt", as: token, json: #"{"name":"  "}"#)
                .expectProblem("validation-failed", 422)
            try await app.ask(.put, "/v1/disk/file/content?path=/%20", as: token, bytes: [1])
                .expectProblem("invalid-parameter", 400)
            #expect(disk.requests.count == requests)
        }
    }

    @Test("TRUST-05 200 with a page instead of an uploader: the outcome is looked into, and it is no 404")
    func portal() async throws {
        try await DiskHarness.run(WriteScenario.disk()) { app, disk, token in
            disk.intercept { request in request.url.hasPrefix("https://uploader.test") ? .page(200) : nil }
            let response = try await app.ask(.put, "/v1/disk/file/content?path=/new.bin", as: token, bytes: [1])
            #expect(response.status == 502, "\(response.text)")
        }
    }

    @Test("DISK-34 folders are made, things moved and copied; the lists of both places know it")
    func organise() async throws {
        try await WriteScenario.run { app, disk, token in
            func post(_ target: String, _ json: String) async throws -> Exchanged {
                try await app.ask(.post, "/v1/disk/\(target)", as: token, json: json)
            }
            let folder = try await post("folders", #"{"path":"/Новая папка"}"#)
            #expect(folder.status == 201 && folder["data.type"] == "dir")
            try await post("folders", #"{"path":"/folder"}"#).expectProblem("target-exists", 409)
            try await post("folders", #"{"path":"/none/x"}"#).expectProblem("not-found", 404)
            let copied = try await post("files/copy", #"{"from":"/a.txt","to":"/folder/copy.txt"}"#)
            #expect(copied.status == 201)
            let moved = try await post("files/move", #"{"from":"/a.txt","to":"/folder/moved.txt"}"#)
            #expect(moved.status == 201 && moved["data.path"] == "disk:/folder/moved.txt")
            try await post("files/move", #"{"from":"/folder","to":"/folder/deeper"}"#)
                .expectProblem("validation-failed", 422)
            try await post("files/move", #"{"from":"/folder/copy.txt","to":"/folder/moved.txt"}"#)
                .expectProblem("target-exists", 409)
            let inFolder = try await app.get("/v1/disk/files?path=/folder&sort=name", as: token)
            #expect(DiskHarness.names(inFolder) == ["a inner.txt", "copy.txt", "moved.txt"])
            #expect(DiskHarness.names(try await app.get("/v1/disk/files", as: token)) == ["folder", "Новая папка"])
            disk.goAway()
            #expect(DiskHarness.names(try await app.get("/v1/disk/recent?refresh=1", as: token)).contains("moved.txt"))
        }
    }
}

import HTTPTypes
import JSONValues
import Testing

@testable import Sandbox

@Suite struct DiskModelUploadsTests {
    private let bench = DiskBench()

    private func link(_ path: String, overwrite: Bool = false) throws -> JSONObject {
        try bench.json(.get, "/resources/upload", ["path": path, "overwrite": "\(overwrite)"])
    }

    private func put(_ link: JSONObject, _ bytes: [UInt8], headers: HTTPFields = [:]) throws -> UpstreamResponse {
        bench.send(.put, try #require(link["href"]?.string), headers: headers, body: bytes)
    }

    @Test("bytes that are put to a link become a file, once")
    func upload() throws {
        let link = try link("disk:/Загрузки/фото + #1.jpg")
        #expect(link.members.map(\.name) == ["operation_id", "href", "method", "templated"] && link["method"] == "PUT")
        #expect(
            link["href"]?.string?.hasPrefix("http://127.0.0.1:4711/yandex_uploader/upload-target/20261026T") == true
        )
        #expect(!bench.exists("disk:/Загрузки/фото + #1.jpg"))
        let bytes = [UInt8](0...255)
        let done = try put(link, bytes)
        #expect(done.status == .created && done.body.isEmpty && done.headers[.contentType] == nil)
        let file = try bench.resource("disk:/Загрузки/фото + #1.jpg")
        #expect(
            file["size"] == 256 && file["md5"] == "e2c865db4162bed963bfaa9ef6ac18f0"
                && file["created"] == "2026-10-26T07:33:20+00:00"
        )
        #expect(file["preview"] == nil, "no preview is made yet")
        #expect(try bench.content("disk:/Загрузки/фото + #1.jpg") == bytes)
        #expect(
            try bench.json(.get, "/operations/\(try #require(link["operation_id"]?.string))")["status"] == "success"
        )
        #expect(try put(link, bytes).status == .gone)
    }

    @Test("a file that is there stays, unless it may be overwritten; then it keeps its identity")
    func overwrite() throws {
        #expect(
            bench.call(.get, "/resources/upload", ["path": "disk:/Горы.jpg"]).failure
                == "409 DiskResourceAlreadyExistsError"
        )
        #expect(
            bench.call(.get, "/resources/upload", ["path": "disk:/Архив"]).failure
                == "409 DiskPathPointsToExistentDirectoryError"
        )
        #expect(
            bench.call(.get, "/resources/upload", ["path": "disk:/Архив", "overwrite": "true"]).failure
                == "409 DiskPathPointsToExistentDirectoryError",
            "no folder is overwritten"
        )
        let early = try link("disk:/folder-later", overwrite: true)
        #expect(bench.call(.put, "/resources", ["path": "disk:/folder-later"]).status == .created)
        #expect(try put(early, [1]).status == .conflict)
        #expect(try bench.resource("disk:/folder-later")["type"] == "dir")
        #expect(
            bench.call(.get, "/resources/upload", ["path": "disk:/нет/a.txt"]).failure
                == "409 DiskPathDoesntExistsError"
        )
        let before = try bench.resource("disk:/Горы.jpg")
        #expect(try put(try link("disk:/Горы.jpg", overwrite: true), [1, 2, 3]).status == .created)
        let after = try bench.resource("disk:/Горы.jpg")
        #expect(
            after["resource_id"] == before["resource_id"] && after["created"] == before["created"]
                && after["modified"] != before["modified"]
        )
        #expect(after["size"] == 3 && after["exif"] == [:])
    }

    @Test("two uploads to one name: the second is refused and the first stays")
    func race() throws {
        let links = [try link("disk:/a.txt"), try link("disk:/a.txt")]
        #expect(try put(links[0], [1]).status == .created)
        let second = try put(links[1], [2])
        #expect(second.status == .conflict)
        #expect(try bench.content("disk:/a.txt") == [1])
    }

    @Test("a link ends after half an hour, and by control")
    func expiry() throws {
        let late = try link("disk:/a.txt")
        try bench.control(.post, "clock", #"{"advance_s":1801}"#)
        #expect(try put(late, [1]).status == .gone)
        let ended = try link("disk:/a.txt")
        try bench.control(.post, "links/expire")
        #expect(try put(ended, [1]).status == .gone && !bench.exists("disk:/a.txt"))
        #expect(bench.send(.put, "/yandex_uploader/upload-target/none", body: [1]).status == .gone)
        #expect(bench.send(.get, "/yandex_uploader/upload-target/none").status == .methodNotAllowed)
    }

    @Test("too much is 413 or 507, a part of a file is 412; nothing is stored")
    func tooMuch() throws {
        try bench.control(.put, "quota", #"{"max_file_size":10}"#)
        let link = try link("disk:/a.txt")
        #expect(try put(link, [UInt8](repeating: 0, count: 11)).status == .contentTooLarge)
        #expect(try put(link, [1], headers: [.contentRange: "bytes 0-0/5"]).status == .preconditionFailed)
        let used = try #require(try bench.json(.get, "")["used_space"]?.double)
        try bench.control(.put, "quota", #"{"total_space":\#(Int(used) + 5),"max_file_size":1000}"#)
        #expect(try put(link, [UInt8](repeating: 0, count: 6)).status.code == 507)
        #expect(!bench.exists("disk:/a.txt"))
        #expect(
            try put(link, [UInt8](repeating: 0, count: 5)).status == .created,
            "what fits is taken, by the same link"
        )
    }

    @Test("an upload from a URL is taken and fails: the sandbox fetches nothing")
    func fromURL() throws {
        let response = bench.call(.post, "/resources/upload", ["url": "https://example.org/a", "path": "disk:/a.txt"])
        #expect(response.status == .accepted)
        let id = try #require(try response.object()["href"]?.string?.suffix(64))
        #expect(try bench.json(.get, "/operations/\(id)")["status"] == "failed" && !bench.exists("disk:/a.txt"))
        #expect(bench.call(.post, "/resources/upload", ["path": "disk:/a.txt"]).failure == "400 FieldValidationError")
    }
}

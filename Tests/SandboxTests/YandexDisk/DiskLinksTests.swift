import Foundation
import HTTPTypes
import JSONValues
import Testing

@testable import Sandbox

@Suite struct DiskLinksTests {
    private let bench = DiskBench()

    private func link(_ path: String = "disk:/Горы.jpg") throws -> String {
        try #require(try bench.resource(path, fields: "file")["file"]?.string)
    }

    @Test("a link opens the file without a token, with its name, type and tag")
    func whole() throws {
        let file = try bench.resource("disk:/Горы.jpg")
        let response = bench.send(.get, try link())
        #expect(
            response.status == .ok && response.headers[.contentType] == "image/jpeg"
                && response.headers[.acceptRanges] == "bytes"
        )
        #expect(response.headers[.contentDisposition] == "attachment; filename*=UTF-8''%D0%93%D0%BE%D1%80%D1%8B.jpg")
        #expect(response.headers[.eTag] == file["md5"]?.string.map { "\"\($0)\"" })
        #expect(ReceivedBody(try response.bytes()).sha256 == file["sha256"]?.string)
        #expect(try link().hasPrefix("http://127.0.0.1:4711/yandex_downloader/disk/"))
        #expect(try link().contains("&etag=\(file["md5"]?.string ?? "-")"))
        let condition: HTTPFields = [.ifNoneMatch: try #require(response.headers[.eTag])]
        #expect(bench.send(.get, try link(), headers: condition).status == .notModified)
    }

    @Test(
        "a range is a part of the file",
        arguments: [
            ("bytes=0-0", 0..<1), ("bytes=10-19", 10..<20), ("bytes=100-", 100..<Int.max), ("bytes=-7", -7..<Int.max),
            ("bytes=5-999999999", 5..<Int.max),
        ]
    )
    func ranges(field: String, expected: Range<Int>) throws {
        let whole = try bench.content("disk:/Горы.jpg")
        let first = expected.lowerBound < 0 ? whole.count + expected.lowerBound : expected.lowerBound
        let last = min(expected.upperBound, whole.count)
        let response = bench.send(.get, try link(), headers: [.range: field])
        #expect(
            response.status == .partialContent
                && response.headers[.contentRange] == "bytes \(first)-\(last - 1)/\(whole.count)"
        )
        #expect(try response.bytes() == Array(whole[first..<last]))
    }

    @Test("a range that is none is ignored, one past the end is 416, one of another version is the whole")
    func otherRanges() throws {
        for field in ["bytes=3-1", "bytes=a-b", "lines=1-2", "bytes=0-1,4-5", "bytes=-"] {
            #expect(bench.send(.get, try link(), headers: [.range: field]).status == .ok, "\(field)")
        }
        let past = bench.send(.get, try link(), headers: [.range: "bytes=99999999-"])
        #expect(past.status == .rangeNotSatisfiable && past.headers[.contentRange]?.hasPrefix("bytes */") == true)
        #expect(bench.send(.get, try link(), headers: [.range: "bytes=0-1", .ifRange: "\"other\""]).status == .ok)
    }

    @Test("the large file is made where it is read, and each place has bytes of its own")
    func endless() throws {
        let file = try bench.resource("disk:/Архив/Образ диска 2 ГБ.img")
        #expect(file["size"] == 2_254_857_830 && file["media_type"] == "diskimage")
        let url = try link("disk:/Архив/Образ диска 2 ГБ.img")
        let response = bench.send(.get, url, headers: [.range: "bytes=2147483640-2147483659"])
        #expect(
            response.status == .partialContent
                && response.headers[.contentRange] == "bytes 2147483640-2147483659/2254857830"
        )
        // 2^31 is where block 32768 begins.
        #expect(try Array(response.bytes()[8..<16]) == [0, 0, 0, 0, 0, 0, 0x80, 0])
        #expect(bench.send(.get, url).length == 2_254_857_830)
    }

    @Test("generated content is the same at any cut, and as another program makes it")
    func endlessDigest() {
        let source = EndlessBytes(count: 200_000)
        let whole = ReceivedBody(source.bytes(in: 0..<200_000))
        // By a script of its own in Python.
        #expect(whole.md5 == "be1b1d842683ec59070ea8acf225127f")
        #expect(whole.sha256 == "3873babaf176d262dd91009385eefda1230c1517fbb41fbfe09d7ef746b93d3d")
        let cuts = [0, 1, 7, 8, 9, 65_535, 65_536, 65_540, 65_544, 131_072, 199_999, 200_000]
        let pieces = zip(cuts, cuts.dropFirst()).flatMap { source.bytes(in: $0..<$1) }
        #expect(ReceivedBody(pieces).sha256 == whole.sha256)
    }

    @Test("a link ends with its time", arguments: [(14_400, 200), (14_401, 500)])
    func expiry(seconds: Int, status: Int) throws {
        let link = try link()
        try bench.control(.post, "clock", #"{"advance_s":\#(seconds)}"#)
        let response = bench.send(.get, link)
        #expect(response.status.code == status)
        if status == 500 {
            #expect(
                response.headers[.contentType] == "text/html"
                    && String(decoding: response.body, as: UTF8.self).contains("nginx")
            )
        }
        #expect(bench.send(.get, try self.link()).status == .ok, "a new one opens")
    }

    @Test("a control ends a link, with the requested status")
    func expired() throws {
        let link = try link()
        try bench.control(.put, "links", #"{"stale_status":410}"#)
        #expect(bench.send(.get, link).status == .ok)
        try bench.control(.post, "links/expire")
        let response = bench.send(.get, link)
        #expect(
            response.status == .gone
                && String(decoding: response.body, as: UTF8.self).contains("500 Internal Server Error")
        )
    }

    @Test("a link of a file that has changed or gone, and one that was altered, are stale")
    func stale() throws {
        let old = try link()
        let altered = old.replacing("/disk/0", with: "/disk/1")
        #expect(bench.send(.get, altered).status == .internalServerError)
        let signature = try #require(old.firstMatch(of: /\/disk\/[0-9a-f]{64}\/([0-9a-f]+)\//))
        let later = old.replacing(
            "/\(signature.1)/",
            with: "/\(String(try #require(Int(signature.1, radix: 16)) + 1, radix: 16))/"
        )
        #expect(later != old && bench.send(.get, later).status == .internalServerError)
        try bench.control(.put, "files", #"{"path":"disk:/Горы.jpg","text":"новые"}"#)
        #expect(bench.send(.get, old).status == .internalServerError)
        let new = try link()
        try bench.control(.post, "remove", #"{"path":"disk:/Горы.jpg"}"#)
        #expect(bench.send(.get, new).status == .internalServerError)
        #expect(
            bench.send(.post, new).status == .methodNotAllowed
                && bench.send(.get, "/yandex_downloader/x").status == .notFound
        )
    }

    @Test("by control a link leads to another host, or over a redirect")
    func elsewhere() throws {
        try bench.control(.put, "links", #"{"host":"localhost","redirects":true}"#)
        let link = try link()
        #expect(link.hasPrefix("http://localhost:4711/yandex_downloader/disk/"))
        let response = bench.send(.get, link.replacing("localhost", with: "127.0.0.1"))
        let location = try #require(response.headers[.location])
        #expect(response.status == .found && location.hasPrefix("http://localhost:4711/yandex_downloader/rdisk/"))
        #expect(bench.send(.get, location.replacing("localhost", with: "127.0.0.1")).status == .ok)
    }

    @Test(
        "a preview has the size that its link says",
        arguments: [
            ("S", false, 150, 112), ("XXXS", false, 50, 37), ("XXXL", false, 640, 480), ("120x90", true, 120, 90),
            ("100x", false, 100, 75),
            ("x60", false, 80, 60),
        ]
    )
    func preview(size: String, crop: Bool, width: Int, height: Int) throws {
        let file = try bench.json(
            .get,
            "/resources",
            ["path": "disk:/Горы.jpg", "preview_size": size, "preview_crop": "\(crop)"]
        )
        let response = bench.send(.get, try #require(file["preview"]?.string))
        #expect(response.status == .ok && response.headers[.contentType] == "image/jpeg")
        let picture = try DecodedJPEG(response.body)
        #expect(picture.width == width && picture.height == height)
    }

    @Test("previews do not expire, and by control need the owner's token")
    func previewToken() throws {
        let url = try #require(try bench.resource("disk:/Проекты/Проект А/Отчёт.pdf")["preview"]?.string)
        try bench.control(.post, "clock", #"{"advance_s":1000000}"#)
        #expect(bench.send(.get, url).status == .ok)
        try bench.control(.put, "links", #"{"previews_need_token":true}"#)
        #expect(bench.send(.get, url).status == .unauthorized)
        #expect(bench.send(.get, url, headers: [.authorization: "OAuth sandbox-token"]).status == .ok)
        #expect(bench.send(.get, url.replacing("/inf/", with: "/inf/x")).status == .internalServerError)
    }
}

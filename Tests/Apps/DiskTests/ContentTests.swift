import Concurrency
import Foundation
import GRDB
import HTTP
import HTTPTypes
import NIOCore
import Screens
import Storage
import Synchronization
import TestKit
import Testing
import Upstream

@testable import Disk

@Suite("Files, their content and their pictures over HTTP")
struct ContentTests {
    private static let large = (0..<700_001).map { UInt8(truncatingIfNeeded: $0 &* 31) }

    @Test("DISK-21 the file view has name, date, viewer and the actions share, link, delete, rename")
    func view() async throws {
        let disk = FakeYandexDisk()
        for name in ["a.pdf", "b.docx", "c.jpg", "d.zip"] { disk.put("disk:/\(name)") }
        try await DiskHarness.run(disk) { app, token in
            for (name, viewer) in [
                ("a.pdf", "pdf"), ("b.docx", "office"), ("c.jpg", "image"), ("d.zip", "unsupported"),
            ] {
                let response = try await app.get("/v1/disk/file?path=/\(name)", as: token)
                response.expectScreen("disk.file")
                #expect(response["data.name"] == .string(name))
                #expect(response["data.created_text"] == "21.04.2024 10:57")
                #expect(response["data.viewer"] == .string(viewer))
                let ids = response.all("id", in: "data.actions")
                #expect(ids == ["share", "download", "link", "delete", "rename", "move", "copy", "keep_offline"])
                #expect(response.all("enabled", in: "data.actions").allSatisfy { $0 == true })
                #expect((response["data.alert.title"] == "Not supported format") == (viewer == "unsupported"))
                #expect(
                    response["data.actions.3.confirm.message"]
                        == (viewer == "image" ? "Current image will be deleted" : "Current file will be deleted")
                )
            }
            _ = try await app.get("/v1/disk/files", as: token)
            disk.goAway()
            let offline = try await app.get("/v1/disk/file?path=/a.pdf&refresh=1", as: token)
            #expect(offline["meta.offline"] == true)
            // Actions that the outbox takes are enabled; the others say why they cannot be done.
            let enabled = offline.all("enabled", in: "data.actions")
            #expect(enabled == [false, false, true, true, true, true, false, true])
            #expect(offline["data.actions.2.headers.Prefer"] == "respond-async")
            #expect(offline["data.actions.1.disabled_reason"] == "Yandex Disk cannot be reached now.")
            try await app.get("/v1/disk/file?path=/never.pdf", as: token).expectProblem("upstream-unavailable", 503)
        }
    }

    @Test(
        "Text that names no charset is said to be UTF-8, from the API and from the store, unless it can name its own",
        arguments: [
            ("text/plain", "text/plain; charset=utf-8"), ("text/markdown", "text/markdown; charset=utf-8"),
            ("text/plain;charset=koi8-r", "text/plain;charset=koi8-r"), ("text/html", "text/html"),
            ("TEXT/XML", "TEXT/XML"), ("image/png", "image/png"), (nil, "application/octet-stream"),
        ] as [(String?, String)]
    )
    func charset(mimeType: String?, type: String) async throws {
        let disk = FakeYandexDisk()
        disk.put("disk:/a.txt", bytes: Array("Прочти".utf8), mimeType: mimeType)
        try await DiskHarness.run(disk) { app, token in
            for _ in 0..<2 {
                let response = try await app.get("/v1/disk/file/content?path=/a.txt", as: token)
                #expect(response.headerFields[.contentType] == type)
                #expect(Array(response.body) == Array("Прочти".utf8))
            }
        }
    }

    @Test(
        "DISK-22 content is byte-exact, with type, name, version and length; the second time it comes from the store",
        arguments: [0, 1, 90_000, 700_001]
    )
    func content(length: Int) async throws {
        let disk = FakeYandexDisk()
        let bytes = Array(Self.large.prefix(length))
        disk.put("disk:/a b.pdf", bytes: bytes, mimeType: "application/pdf")
        try await DiskHarness.run(disk) { app, token in
            let first = try await app.get("/v1/disk/file/content?path=/a%20b.pdf", as: token)
            #expect(first.status == 200)
            #expect(Array(first.body) == bytes)
            #expect(first.headerFields[.contentType] == "application/pdf")
            #expect(first.headerFields[.contentLength] == "\(length)")
            #expect(first.headerFields[.acceptRanges] == "bytes")
            #expect(first.headerFields[.eTag] == "\"\(FakeYandexDisk.md5(bytes))\"")
            #expect(
                first.headerFields[.contentDisposition] == #"inline; filename="a b.pdf"; filename*=UTF-8''a%20b.pdf"#
            )
            #expect(first.cacheStatus == "larder; fwd=uri-miss; stored")
            let links = disk.asked.count { $0.contains("/resources/download") }
            let second = try await app.get("/v1/disk/file/content?path=/a%20b.pdf", as: token)
            #expect(Array(second.body) == bytes)
            #expect(second.cacheStatus == "larder; hit")
            #expect(disk.asked.count { $0.contains("/resources/download") } == links)
            #expect(try await app.get("/v1/disk/files", as: token)["data.items.0.downloaded"] == true)
            let head = try await app.ask(.head, "/v1/disk/file/content?path=/a%20b.pdf", as: token)
            #expect(head.status == 200 && head.body.isEmpty && head.headerFields[.contentLength] == "\(length)")
            let tag = try #require(first.headerFields[.eTag])
            #expect(
                try await app.get("/v1/disk/file/content?path=/a%20b.pdf", as: token, [.ifNoneMatch: tag]).status == 304
            )
        }
    }

    @Test(
        "DISK-22 a range gets 206, stored or not, from an upstream that supports ranges or not",
        arguments: [true, false],
        [true, false]
    )
    func ranges(isStored: Bool, knowsRanges: Bool) async throws {
        let disk = FakeYandexDisk()
        disk.put("disk:/a.bin", bytes: Self.large)
        try await DiskHarness.run(disk) { app, token in
            if isStored { _ = try await app.get("/v1/disk/file/content?path=/a.bin", as: token) }
            if !knowsRanges {
                disk.intercept { (request) in
                    request.url.hasPrefix("https://downloader.test")
                        ? IncomingResponse(status: .ok, body: Self.large) : nil
                }
            }
            for (range, expected) in [
                ("bytes=100-299999", 100..<300_000), ("bytes=-5", 699_996..<700_001),
                ("bytes=700000-", 700_000..<700_001),
            ] {
                let response = try await app.get("/v1/disk/file/content?path=/a.bin", as: token, [.range: range])
                #expect(response.status == 206)
                #expect(Array(response.body) == Array(Self.large[expected]))
                #expect(
                    response.headerFields[.contentRange]
                        == "bytes \(expected.lowerBound)-\(expected.upperBound - 1)/700001"
                )
            }
            let beyond = try await app.get("/v1/disk/file/content?path=/a.bin", as: token, [.range: "bytes=700001-"])
            beyond.expectProblem("bad-range", 416)
            #expect(beyond.headerFields[.contentRange] == "bytes */700001")
            #expect(
                try await app.get("/v1/disk/files", as: token)["data.items.0.downloaded"] == .bool(isStored),
                "a part is not the whole"
            )
        }
    }

    /// Heads of responses that cannot be to a request for the first ten bytes of a PDF of 700,001 bytes.
    private static let foreignParts: [(HTTPResponse.Status, HTTPFields)] = [
        (.ok, [.contentType: "text/html; charset=utf-8"]), (.ok, [.contentLength: "19"]),
        (.partialContent, [.contentRange: "bytes 0-9/700002"]), (.partialContent, [.contentRange: "bytes 0-8/700001"]),
        (.partialContent, [.contentRange: "bytes 1-9/700001"]), (.partialContent, [:]), (.noContent, [:]),
        (.init(code: 203), [:]),
    ]

    @Test(
        "DISK-22 TRUST-06 a response that cannot be the range, or the file, is 502 before its first byte",
        arguments: Self.foreignParts,
        [true, false]
    )
    func foreign(head: (status: HTTPResponse.Status, fields: HTTPFields), isRange: Bool) async throws {
        // The whole may come with any range that is not asked for, if it is the whole.
        guard isRange || head.status != .partialContent else { return }
        let disk = FakeYandexDisk()
        disk.put("disk:/a.pdf", bytes: Self.large, mimeType: "application/pdf")
        try await DiskHarness.run(disk) { app, token in
            disk.intercept { (request) in
                guard request.url.hasPrefix("https://downloader.test") else { return nil }
                return IncomingResponse(status: head.status, headerFields: head.fields, body: Array("<html>".utf8))
            }
            let fields: HTTPFields = isRange ? [.range: "bytes=0-9"] : [:]
            let response = try await app.get("/v1/disk/file/content?path=/a.pdf", as: token, fields)
            response.expectProblem("upstream-bad-response", 502)
            disk.intercept(nil)
            let whole = try await app.get("/v1/disk/file/content?path=/a.pdf", as: token)
            #expect(Array(whole.body) == Self.large)
        }
    }

    @Test("DISK-24 a stored file opens offline; same-named files of two folders do not mix; a changed one is refetched")
    func versions() async throws {
        let disk = FakeYandexDisk()
        for folder in ["x", "y"] {
            disk.makeFolder("disk:/\(folder)")
            disk.put("disk:/\(folder)/same.txt", "of \(folder)")
        }
        try await DiskHarness.run(disk) { app, token in
            for folder in ["x", "y"] {
                #expect(
                    try await app.get("/v1/disk/file/content?path=/\(folder)/same.txt", as: token).text
                        == "of \(folder)"
                )
            }
            disk.put("disk:/x/same.txt", "changed")
            app.clock.advance(by: .seconds(6))
            #expect(try await app.get("/v1/disk/file/content?path=/x/same.txt", as: token).text == "changed")
            disk.goAway()
            app.clock.advance(by: .seconds(6))
            for (folder, text) in [("x", "changed"), ("y", "of y")] {
                let response = try await app.get("/v1/disk/file/content?path=/\(folder)/same.txt", as: token)
                #expect(response.text == text)
                #expect(response.cacheStatus == "larder; hit; detail=offline")
            }
        }
    }

    @Test(
        "a link that does not work any more is asked for once again; twice is a problem",
        arguments: [(1, 410), (1, 500), (1, 403), (2, 410), (2, 500)]
    )
    func staleLink(failures: Int, status: Int) async throws {
        try await DiskHarness.run(FakeYandexDisk("disk:/a.txt")) { app, disk, token in
            let left = Counter(failures)
            disk.intercept { (request) in
                guard request.url.hasPrefix("https://downloader.test"), left.take() else { return nil }
                return IncomingResponse(
                    status: .init(code: status),
                    headerFields: [.contentType: "text/html"],
                    body: Array("<html>".utf8)
                )
            }
            let response = try await app.get("/v1/disk/file/content?path=/a.txt", as: token)
            if failures == 1 {
                #expect(response.text == "text")
            } else {
                response.expectProblem("upstream-bad-response", 502)
            }
            #expect(disk.asked.count { $0.contains("/resources/download") } == 2)
            #expect(!response.text.contains("tknv="))
        }
    }

    @Test(
        "links lead to listed hosts only",
        arguments: [
            "https://evil.test/x", "http://169.254.169.254/latest", "file:///etc/passwd",
            "https://downloader.test@evil.test/",
        ]
    )
    func foreignLink(href: String) async throws {
        try await DiskHarness.run(FakeYandexDisk("disk:/a.txt")) { app, disk, token in
            disk.intercept { (request) in
                request.url.contains("/resources/download") ? .json(#"{"href":"\#(href)"}"#) : nil
            }
            try await app.get("/v1/disk/file/content?path=/a.txt", as: token).expectProblem(
                "upstream-bad-response",
                502
            )
            #expect(!disk.requests.contains { $0.url.hasPrefix(href) })
        }
    }

    @Test(
        "what breaks off, is too short, or is another file than was announced, is not stored",
        arguments: ["short", "other", "broken"]
    )
    func damaged(kind: String) async throws {
        let disk = FakeYandexDisk()
        disk.put("disk:/a.bin", bytes: Self.large)
        try await DiskHarness.run(disk) { (app, token) async throws in
            disk.change { state in
                state.bodyParts = { url, bytes in
                    guard url.contains("downloader.test/disk/") else { return ByteStream(ByteBuffer(bytes: bytes)) }
                    switch kind {
                    case "short": return ByteStream(ByteBuffer(bytes: bytes.dropLast()))
                    case "other": return ByteStream(ByteBuffer(bytes: bytes.reversed()))
                    default: return BodyFixture.breaking(after: bytes.prefix(300_000))
                    }
                }
            }
            let response = try? await app.get("/v1/disk/file/content?path=/a.bin", as: token)
            #expect(response?.body != Data(Self.large))
            #expect(try await app.get("/v1/disk/file?path=/a.bin", as: token)["data.downloaded"] == false)
            disk.change { $0.bodyParts = nil }
            #expect(try await app.get("/v1/disk/file/content?path=/a.bin", as: token).body == Data(Self.large))
            #expect(try app.database.blobs.fileNames().filter { $0.hasSuffix(".part") } == [])
        }
    }

    @Test("DISK-22 a file that the cache has no room for passes all the same, and is not stored")
    func beyondBudget() async throws {
        let disk = FakeYandexDisk()
        disk.put("disk:/a.bin", bytes: Self.large)
        try await DiskHarness.run(disk, DiskHarness.Settings(budget: CacheBudget(bytes: 500_000))) { app, token in
            for _ in 0..<2 {
                let response = try await app.get("/v1/disk/file/content?path=/a.bin", as: token)
                #expect(Array(response.body) == Self.large)
                #expect(response.cacheStatus == "larder; fwd=uri-miss")
            }
        }
    }

    @Test("DISK-11 a preview is proxied and stored by version; a failed one is a placeholder that is not stored")
    func preview() async throws {
        let disk = FakeYandexDisk()
        disk.put("disk:/a.jpg", mediaType: "image")
        disk.put("disk:/plain.txt")
        try await DiskHarness.run(disk) { app, token in
            _ = try await app.get("/v1/disk/files", as: token)
            disk.intercept { (request) in
                request.url.contains("downloader.test/preview/") ? IncomingResponse(status: .init(code: 500)) : nil
            }
            let failed = try await app.get("/v1/disk/file/preview?path=/a.jpg", as: token)
            #expect(failed.status == 200 && failed.headerFields[.cacheControl] == "no-store")
            #expect(failed.cacheStatus?.contains("detail=placeholder") == true)
            disk.intercept(nil)
            let first = try await app.get("/v1/disk/file/preview?path=/a.jpg", as: token)
            let picture = FakeYandexDisk.preview("120x120", crop: true)
            #expect(Array(first.body) == picture && first.headerFields[.contentType] == "image/jpeg")
            #expect(first.cacheStatus == "larder; fwd=uri-miss; stored")
            #expect(disk.asked.contains { $0.contains("preview_size=120x120") && $0.contains("preview_crop=true") })
            disk.goAway()
            let stored = try await app.get("/v1/disk/file/preview?path=/a.jpg", as: token)
            #expect(Array(stored.body) == picture && stored.cacheStatus == "larder; hit")
            #expect(
                try await app.get("/v1/disk/file/preview?path=/a.jpg&size=L", as: token).cacheStatus?.contains(
                    "placeholder"
                ) == true
            )
            disk.intercept(nil)
            app.clock.advance(by: .seconds(2))
            #expect(
                try await app.get("/v1/disk/file/preview?path=/plain.txt", as: token).cacheStatus?.contains(
                    "placeholder"
                ) == true
            )
            try await app.get("/v1/disk/file/preview?path=/none.jpg", as: token).expectProblem("not-found", 404)
        }
    }

    @Test("DISK-22 a changed file whose metadata is slow: the present content, not the announcement of the old one")
    func slowMetadata() async throws {
        try await DiskHarness.run(FakeYandexDisk(["disk:/a.txt": "old text"])) { app, disk, token in
            _ = try await app.get("/v1/disk/files", as: token)
            disk.put("disk:/a.txt", "new")
            app.clock.advance(by: .seconds(10))
            let gate = Gate()
            disk.onTheWay { request in
                if request.url.contains("/resources?path") { try await gate.passUnlessCancelled() }
            }
            async let content = app.get("/v1/disk/file/content?path=/a.txt", as: token)
            await app.clock.sleepers(of: .seconds(2))
            app.clock.advance(by: .seconds(2))
            await app.clock.noSleepers(of: .seconds(2))
            // Most of the time the read has the outdated row by now, and waits for the present one.
            for _ in 0..<1000 { await Task.yield() }
            #expect(!disk.asked.contains { $0.contains("/resources/download") })
            gate.open()
            let response = try await content
            #expect(response.status == 200 && response.text == "new")
            #expect(response.headerFields[.eTag]?.contains(FakeYandexDisk.md5(Array("new".utf8))) == true)
        }
    }

    @Test("DISK-22 a changed file whose metadata fails at first is requested again, and sent in its current version")
    func failingMetadata() async throws {
        try await DiskHarness.run(FakeYandexDisk(["disk:/a.txt": "old text"])) { app, disk, token in
            _ = try await app.get("/v1/disk/files", as: token)
            disk.put("disk:/a.txt", "new")
            app.clock.advance(by: .seconds(10))
            let left = Counter(1)
            disk.intercept { (request) in
                request.url.contains("/resources?path") && left.take() ? .page(500) : nil
            }
            let response = try await app.get("/v1/disk/file/content?path=/a.txt", as: token)
            #expect(response.status == 200 && response.text == "new")
            #expect(response.headerFields[.eTag]?.contains(FakeYandexDisk.md5(Array("new".utf8))) == true)
            #expect(left.isSpent)
        }
    }

    @Test("other apps read and write files of an account by functions")
    func exchange() async throws {
        let disk = FakeYandexDisk()
        disk.put("disk:/a.bin", bytes: Self.large)
        try await DiskHarness.run(disk) { app, token in
            let files = DiskFiles(disk: app.app.disk)
            let credential = SessionCredentials([.authorization: "Bearer \(token)"])
            let session = try await app.sessions.session(of: credential, app: DiskApp.name)
            for _ in 0..<2 {
                let content = try await files.content("/a.bin", session)
                var bytes: [UInt8] = []
                for try await part in try content.parts(0..<content.length) { bytes += part.readableBytesView }
                #expect(bytes == Self.large && content.length == Self.large.count && content.fileName == "a.bin")
            }
            #expect(
                try await files.upload(ByteStream(ByteBuffer(string: "new")), length: 3, to: "disk:/new.txt", session)
            )
            #expect(disk.change { $0.nodes["disk:/new.txt"]?.bytes } == Array("new".utf8))
            await #expect(throws: Problem.self) {
                try await files.upload(ByteStream(ByteBuffer(string: "x")), length: 1, to: "disk:/new.txt", session)
            }
        }
    }
}

/// So many times.
final class Counter: Sendable {
    private let left: Mutex<Int>

    init(_ count: Int) {
        left = Mutex(count)
    }

    func take() -> Bool {
        left.withLock { left in
            left -= 1
            return left >= 0
        }
    }

    var isSpent: Bool { left.withLock { $0 <= 0 } }
}

/// Bodies that end badly, or wait.
enum BodyFixture {
    struct Broken: Error {}

    static func breaking(after bytes: some Collection<UInt8>) -> ByteStream {
        let buffer = ByteBuffer(bytes: bytes)
        return ByteStream {
            var isFirst = true
            return {
                guard isFirst else { throw Broken() }
                isFirst = false
                return buffer
            }
        }
    }

    /// Returns the first half, then waits for the gate.
    static func waiting(_ bytes: [UInt8], at gate: Gate) -> ByteStream {
        ByteStream {
            var step = 0
            return {
                step += 1
                switch step {
                case 1: return ByteBuffer(bytes: bytes.prefix(bytes.count / 2))
                case 2:
                    try await gate.passUnlessCancelled()
                    return ByteBuffer(bytes: bytes.dropFirst(bytes.count / 2))
                default: return nil
                }
            }
        }
    }
}

import Foundation
import HTTP
import HTTPTypes
import Screens
import TestKit
import Testing

@testable import Disk
@testable import Media

@Suite("Files as pictures and as PDFs over HTTP")
struct PagesTests {
    /// The engine with the programs of this machine.
    private static func engine(in folder: TemporaryFolder, without missing: MediaTool? = nil) throws -> MediaEngine {
        let found = MediaTools.find(
            searchPath: ProcessInfo.processInfo.environment["PATH"] ?? "",
            executable: CommandLine.arguments[0]
        )
        let paths = found.paths.filter { $0.key != missing }
        return try MediaEngine(tools: MediaTools(paths: paths), folder: folder.url)
    }

    /// One page of 200 by 100 points with a rectangle on it.
    private static let pdf: [UInt8] = {
        let stream = "0.8 0.2 0.2 rg 20 20 100 50 re f"
        let objects = [
            "<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 100] /Contents 4 0 R >>",
            "<< /Length \(stream.utf8.count) >>\nstream\n\(stream)\nendstream",
        ]
        var text = "%PDF-1.4\n"
        var offsets: [Int] = []
        for (index, object) in objects.enumerated() {
            offsets.append(text.utf8.count)
            text += "\(index + 1) 0 obj\n\(object)\nendobj\n"
        }
        let start = text.utf8.count
        text += "xref\n0 5\n0000000000 65535 f \n"
        for offset in offsets {
            text += String(repeating: "0", count: 10 - String(offset).count) + "\(offset) 00000 n \n"
        }
        return Array((text + "trailer\n<< /Size 5 /Root 1 0 R >>\nstartxref\n\(start)\n%%EOF\n").utf8)
    }()

    @Test("DISK-25 a page of a PDF is a picture, stored by version and there offline; a missing page is 404")
    func pdfPage() async throws {
        let disk = FakeYandexDisk()
        disk.put("disk:/a.pdf", bytes: Self.pdf, mimeType: "application/pdf")
        let work = TemporaryFolder.unmade()
        defer { withExtendedLifetime(work) {} }
        try await DiskHarness.run(disk, DiskHarness.Settings(media: try Self.engine(in: work))) { app, token in
            let first = try await app.get("/v1/disk/file/page?path=/a.pdf&width=100", as: token)
            #expect(first.status == 200 && first.headerFields[.contentType] == "image/jpeg")
            #expect(first.cacheStatus == "larder; fwd=uri-miss; stored")
            #expect(try await app.get("/v1/disk/file/page?path=/a.pdf&width=100", as: token).body == first.body)
            try await app.get("/v1/disk/file/page?path=/a.pdf&page=2", as: token).expectProblem("not-found", 404)
            disk.goAway()
            let offline = try await app.get("/v1/disk/file/page?path=/a.pdf&width=100&refresh=1", as: token)
            #expect(offline.body == first.body && offline.cacheStatus == "larder; hit; detail=offline")
        }
    }

    @Test("TRUST-10 a page of a file that cannot be drawn is not tried again, at whatever width; later it is")
    func failing() async throws {
        let disk = FakeYandexDisk()
        disk.put("disk:/a.pdf", bytes: Self.pdf, mimeType: "application/pdf")
        let folder = try TemporaryFolder()
        let program = folder.url.appending(path: "pdftoppm")
        let found = MediaTools.find(
            searchPath: ProcessInfo.processInfo.environment["PATH"] ?? "",
            executable: CommandLine.arguments[0]
        )
        let real = try found.path(of: .pdftoppm)
        @Sendable func become(_ script: String) throws {
            try "#!/bin/sh\n\(script)\n".write(to: program, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program.path)
        }
        let engine = try MediaEngine(
            tools: MediaTools(paths: found.paths.merging([.pdftoppm: program.path]) { $1 }),
            folder: folder.url.appending(path: "jobs")
        )
        try await DiskHarness.run(disk, DiskHarness.Settings(media: engine)) { app, token in
            try become("kill -SEGV $$")
            let target = "/v1/disk/file/page?path=/a.pdf&width="
            try await app.get(target + "100", as: token).expectProblem("unsupported-media-type", 415)
            try become("exec '\(real)' \"$@\"")
            try await app.get(target + "200", as: token).expectProblem("unsupported-media-type", 415)
            app.clock.advance(by: .seconds(DrawingFailures.lifetime + 1))
            #expect(try await app.get(target + "200", as: token).status == 200)
        }
    }

    @Test("DISK-25 without LibreOffice an office file says so, in its view and in response to a request for its PDF")
    func withoutOffice() async throws {
        let disk = FakeYandexDisk()
        disk.put("disk:/a.docx")
        let work = TemporaryFolder.unmade()
        defer { withExtendedLifetime(work) {} }
        try await DiskHarness.run(disk, DiskHarness.Settings(media: try Self.engine(in: work, without: .soffice))) {
            app in
            let token = try await app.logIn()
            let view = try await app.get("/v1/disk/file?path=/a.docx", as: token)
            #expect(view["data.document.available"] == false)
            for screen in ["pdf", "page"] {
                let response = try await app.get("/v1/disk/file/\(screen)?path=/a.docx", as: token)
                response.expectProblem("tool-missing", 501)
                #expect(response.text.contains("LibreOffice is not installed"))
            }
        }
    }

    @Test("DISK-25 files without pages say so; misnamed ones are refused by the children, not by a crash")
    func unsupported() async throws {
        let disk = FakeYandexDisk()
        for name in ["a.zip", "a.pdf", "a.png", "none"] { disk.put("disk:/\(name)", "not what it seems") }
        let work = TemporaryFolder.unmade()
        defer { withExtendedLifetime(work) {} }
        try await DiskHarness.run(disk, DiskHarness.Settings(media: try Self.engine(in: work))) { app, token in
            for name in ["a.zip", "a.pdf", "a.png", "none"] {
                try await app.get("/v1/disk/file/page?path=/\(name)", as: token).expectProblem(
                    "unsupported-media-type",
                    415
                )
            }
            try await app.get("/v1/disk/file/pdf?path=/a.zip", as: token).expectProblem("unsupported-media-type", 415)
            for query in ["page=0", "page=x", "width=15", "width=2001"] {
                try await app.get("/v1/disk/file/page?path=/a.pdf&\(query)", as: token).expectProblem(
                    "invalid-parameter",
                    400
                )
            }
        }
    }

    @Test("OUT-03 a small picture of an upload that waits is made here")
    func queuedPicture() async throws {
        let text = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
        let pixel = try #require(Data(base64Encoded: text))
        let disk = FakeYandexDisk()
        let work = TemporaryFolder.unmade()
        defer { withExtendedLifetime(work) {} }
        try await DiskHarness.run(disk, DiskHarness.Settings(media: try Self.engine(in: work))) { app, token in
            _ = try await app.get("/v1/disk/files", as: token)
            disk.goAway()
            _ = try await app.get("/v1/disk/files?refresh=1", as: token)
            var pictures: [Data] = []
            for (name, bytes) in [("a.png", Array(pixel)), ("bad.png", FakeYandexDisk.png)] {
                let target = "/v1/disk/file/content?path=/\(name)"
                let left = try await app.ask(.put, target, as: token, [.prefer: "respond-async"], bytes: bytes)
                #expect(left.status == 202, "\(left.text)")
                let shown = try await app.get("/v1/disk/file/preview?path=/\(name)", as: token)
                #expect(shown.status == 200)
                pictures.append(shown.body)
            }
            #expect(PictureType(of: pictures[0]) != nil && pictures[0] != pictures[1])
        }
    }
}

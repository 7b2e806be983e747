import Concurrency
import Foundation
import HTTPTypes
import NIOCore
import Storage
import TestKit
import Testing
import Upstream

@testable import Screens

/// Files as responses: whole, in part, not at all.
struct ScreenResponseContentTests {
    private static let bytes = Data("0123456789".utf8)
    private static let changed = Date(timeIntervalSince1970: 1_700_000_000)

    private func harness(fileName: String? = nil, disposition: FileContent.Disposition = .inline) throws
        -> ScreenHarness
    {
        let content = FileContent(
            bytes: Self.bytes,
            type: "application/pdf",
            version: "v1",
            lastModified: Self.changed,
            fileName: fileName,
            disposition: disposition
        )
        return try ScreenHarness([
            Route(.get, "/v1/file", "file") { try .content(content, to: $0, now: Self.changed) }.query("disposition")
        ])
    }

    @Test("SRV-06 A file leaves whole, with its length, version, date and what a browser may do with it")
    func whole() async throws {
        let served = try await harness().serve(.get, "/v1/file")
        #expect(served.status == .ok)
        #expect(served.body == Self.bytes)
        #expect(served.fields[.contentLength] == "10")
        #expect(served.fields[.contentType] == "application/pdf")
        #expect(served.fields[.eTag] == "\"v1\"")
        #expect(served.fields[.lastModified] == "Tue, 14 Nov 2023 22:13:20 GMT")
        #expect(served.fields[.acceptRanges] == "bytes")
        #expect(served.fields[.contentDisposition] == "inline")
        #expect(served.fields[.contentSecurityPolicy] == "sandbox")
        #expect(served.fields[.contentTypeOptions] == "nosniff")
        #expect(served.fields[.cacheControl] == "private, no-cache")
        #expect(served.fields[.contentRange] == nil)
        #expect(served.fields[.contentEncoding] == nil)
    }

    @Test("A client says whether a browser shows a file or saves it; shown, it has no rights either")
    func disposition() async throws {
        for standard in [FileContent.Disposition.inline, .attachment] {
            let harness = try harness(fileName: "a.pdf", disposition: standard)
            for asked in ["inline", "attachment"] {
                let served = try await harness.serve(.get, "/v1/file?disposition=\(asked)")
                #expect(served.fields[.contentDisposition]?.hasPrefix("\(asked); filename=") == true)
                #expect(served.fields[.contentSecurityPolicy] == "sandbox")
                #expect(served.fields[.contentTypeOptions] == "nosniff")
            }
            for other in ["", "INLINE", "inline;x=1", "form-data"] {
                let served = try await harness.serve(.get, "/v1/file?disposition=\(other)")
                #expect(try served.code() == "invalid-parameter", "\(other)")
            }
        }
    }

    @Test(
        "SRV-06 A range gives those bytes and says which",
        arguments: [
            ("bytes=0-3", "0123", "bytes 0-3/10"), ("bytes=7-", "789", "bytes 7-9/10"),
            ("bytes=-2", "89", "bytes 8-9/10"),
            ("bytes=4-99", "456789", "bytes 4-9/10"),
        ]
    )
    func part(range: String, text: String, contentRange: String) async throws {
        let served = try await harness().serve(.get, "/v1/file", [.range: range])
        #expect(served.status == .partialContent)
        #expect(served.text == text)
        #expect(served.fields[.contentRange] == contentRange)
        #expect(served.fields[.contentLength] == String(text.utf8.count))
    }

    @Test(
        "SRV-06 A range that is not understood, or several, may be disregarded",
        arguments: ["bytes=5-2", "lines=1-2", "bytes=0-1,3-4", "bytes=x"]
    )
    func disregarded(range: String) async throws {
        let served = try await harness().serve(.get, "/v1/file", [.range: range])
        #expect(served.status == .ok)
        #expect(served.body == Self.bytes)
    }

    @Test("SRV-06 A range behind the end is 416 with the length")
    func outside() async throws {
        let served = try await harness().serve(.get, "/v1/file", [.range: "bytes=10-"])
        #expect(served.status == .rangeNotSatisfiable)
        #expect(try served.code() == "bad-range")
        #expect(served.fields[.contentRange] == "bytes */10")
    }

    @Test(
        "SRV-06 If-Range with another version gives the whole: parts of two versions never mix",
        arguments: ["\"v0\"", "W/\"v1\"", "Tue, 14 Nov 2023 22:13:21 GMT"]
    )
    func changedMeanwhile(condition: String) async throws {
        let served = try await harness().serve(.get, "/v1/file", [.range: "bytes=0-3", .ifRange: condition])
        #expect(served.status == .ok)
        #expect(served.body == Self.bytes)
    }

    @Test("SRV-06 If-Range with this version gives the part", arguments: ["\"v1\"", "Tue, 14 Nov 2023 22:13:20 GMT"])
    func sameVersion(condition: String) async throws {
        let served = try await harness().serve(.get, "/v1/file", [.range: "bytes=0-3", .ifRange: condition])
        #expect(served.status == .partialContent)
    }

    @Test("SRV-06 A client that has this version gets 304 without a body, whatever the range")
    func notModified() async throws {
        let served = try await harness().serve(.get, "/v1/file", [.ifNoneMatch: "\"v0\", \"v1\"", .range: "bytes=0-3"])
        #expect(served.status == .notModified)
        #expect(served.body.isEmpty)
        #expect(served.fields[.eTag] == "\"v1\"")
        #expect(served.fields[.contentLength] == nil)
        #expect(served.fields[.contentType] == nil)
    }

    @Test("SRV-06 HEAD returns the head of GET, without reading")
    func head() async throws {
        let served = try await harness().serve(.head, "/v1/file")
        #expect(served.status == .ok)
        #expect(served.body.isEmpty)
        #expect(served.fields[.eTag] == "\"v1\"")
        #expect(served.fields[.contentLength] == "10")
    }

    @Test("DISK-22 Names leave in a form for old clients and as they are (RFC 6266), and cannot break the field")
    func names() async throws {
        let served = try await harness(fileName: "Отчёт \"1\"\r\n100% a/b'.pdf", disposition: .attachment).serve(
            .get,
            "/v1/file"
        )
        let expected =
            "attachment; filename=\"_____ _1___100_ a_b'.pdf\"; "
            + "filename*=UTF-8''%D0%9E%D1%82%D1%87%D1%91%D1%82%20%221%22%0D%0A100%25%20a%2Fb%27.pdf"
        #expect(served.fields[.contentDisposition] == expected)
    }

    @Test("DISK-22 A large blob is read in parts as it is sent, never whole")
    func blob() async throws {
        let database = try LarderDatabase.temporary()
        let bytes = Data((0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let reader = try database.blobs.reader(try database.blobs.write(bytes))
        let content = FileContent(blob: reader, type: "image/jpeg", version: "b")
        var sizes: [Int] = []
        var read = Data()
        for try await part in try content.parts(100_000..<700_000) {
            sizes.append(part.readableBytes)
            read.append(contentsOf: part.readableBytesView)
        }
        #expect(read == bytes[100_000..<700_000])
        // Each part ends with a block that has a checksum, so that no block is read twice.
        #expect(sizes == [162_144, 262_144, 175_712])
    }

    @Test(
        "SRV-06 A profile has a plain name; without one it is local",
        arguments: [(nil, "local"), ("test-1.a_B", "test-1.a_B")] as [(String?, String)]
    )
    func profile(name: String?, expected: String) async throws {
        let served = try await profiles().serve(.get, "/v1/profile", name.map { [.larderProfile: $0] } ?? [:])
        #expect(served.text == expected)
        #expect(served.fields[.vary] == "Larder-Profile")
    }

    @Test(
        "SRV-06 Any other profile is refused",
        arguments: ["", "a b", "Иван", String(repeating: "a", count: 65), "a/b"]
    )
    func badProfile(name: String) async throws {
        let served = try await profiles().serve(.get, "/v1/profile", [.larderProfile: name])
        #expect(served.status == .badRequest)
        #expect(try served.code() == "invalid-parameter")
    }

    private func profiles() throws -> ScreenHarness {
        try ScreenHarness([
            Route(.get, "/v1/profile", "profile") { request in
                ScreenResponse(body: .bytes(Data(try request.profile().utf8), type: "text/plain"), hasValidator: false)
                    .byProfile()
            }
        ])
    }
}

@Suite struct MediaTypeTests {
    @Test("Text is worth compressing, pictures are not")
    func types() {
        for type in [MediaType.json, MediaType.problem, "text/html", "IMAGE/SVG+XML", "application/javascript"] {
            #expect(MediaType.isCompressible(type))
        }
        for type in ["image/png", "application/zip", "application/pdf", "video/mp4", ""] {
            #expect(!MediaType.isCompressible(type))
        }
    }
}

@Suite struct PictureTypeTests {
    @Test("A picture is detected by its first bytes")
    func known() {
        #expect(PictureType(of: [0xFF, 0xD8, 0xFF, 0xE0, 0, 0]) == .jpeg)
        #expect(PictureType(of: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0]) == .png)
        #expect(PictureType(of: Array("GIF89a...".utf8)) == .gif)
        #expect(PictureType(of: Array("RIFF\u{1}\u{2}\u{3}\u{4}WEBPVP8 ".utf8)) == .webp)
    }

    @Test(
        "What is none is none",
        arguments: ["", "G", "<html>", "<svg xmlns=", "RIFF....WAVE", "%PDF-1.4", "BM", "\u{89}PNG"]
    )
    func unknown(text: String) {
        #expect(PictureType(of: Array(text.utf8)) == nil)
    }
}

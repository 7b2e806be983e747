import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import TestKit
import Testing

/// Photos to PDF with the real programs behind the real server.
@Suite(.timeLimit(.minutes(10))) struct DocumentTests {
    /// A JPEG of 16 × 8 black pixels.
    static let photo = Data(base64Encoded: Self.base64) ?? Data()
    private static let base64 = """
        /9j/2wBDABALDA4MChAODQ4SERATGCgaGBYWGDEjJR0oOjM9PDkzODdASFxOQERXRTc4UG1RV19iZ2hnPk1xeXBkeFxlZ2P/wAALCAAIABABAR\
        EA/8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKBkaEII0Kx\
        wRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKTlJWWl5iZmqKjpK\
        Wmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/9oACAEBAAA/APP6K//Z
        """

    @Test("PDF-02 PDF-03 PDF-05 PDF-08 PDF-10 a PDF has its photo's bytes unchanged; changes, a merge outlive kill -9")
    func wholeWay() async throws {
        let data = try TemporaryFolder()
        let first = try await RunningLarder.start(data: data)
        let one = try await first.client.document(of: [Self.photo, Self.photo])
        let file = try await first.client.get("\(one)/file")
        #expect(file.body.starts(with: Data("%PDF-".utf8)) && file.body.firstRange(of: Self.photo) != nil)
        #expect(file["Content-Disposition"]?.hasPrefix("attachment; filename=\"Document ") == true)
        let pages = try await first.client.get(one).json.data.pages
        let page = try #require(pages[0].id.string)
        #expect(!pages[0].width.isNull && pages.elements.count == 2)
        let turned = try await first.client.send("PATCH", "\(one)/pages/\(page)", body: #"{"rotate_by":-90}"#).json
        #expect(turned.data.pages[0].rotation.int == 270)
        let text = try await first.client.post("\(one)/pages", #"{"text":"Привет, мир!","locale":"ru"}"#)
        #expect(text.status == 201, "\(text.text)")
        #expect(try text.json.data.missing_characters.strings == [])
        let two = try await first.client.document(of: [Self.photo])
        for href in [one, two] { #expect(try await first.client.post("\(href)/save", "{}").status == 200) }
        let merged = try await first.client.post(
            "/v1/pdf/merge",
            #"{"first":"\#(one.suffix(16))","second":"\#(two.suffix(16))"}"#
        )
        #expect(merged.status == 201, "\(merged.text)")
        let third = try #require(try merged.json.data.href.string)
        let before = try await first.client.get("\(third)/file").body
        let textPage = try #require(try merged.json.data.pages[2].id.string)
        let thumbnail = try await first.client.get("\(third)/pages/\(textPage)/thumbnail?width=100")
        #expect(thumbnail.status == 200 && thumbnail["Content-Type"] == "image/jpeg")
        await first.kill9()

        let second = try await RunningLarder.start(data: data)
        #expect(
            try await second.client.get("/v1/pdf/documents").json.data.items.elements.map(\.href.string) == [
                third, two, one,
            ]
        )
        #expect(try await second.client.get("\(third)/file").body == before)
        #expect(try await second.client.get(third).json.data.pages.elements.map(\.rotation.int) == [270, 0, 0, 0])
        #expect(
            try await second.client.get(third).json.data.pages.elements.map(\.kind.string) == [
                "image", "image", "text", "image",
            ]
        )
    }

    @Test("PDF-13 a kill during a change leaves the document as it was and no other file; the change works afterwards")
    func killInTheMiddle() async throws {
        let (data, tools) = (try TemporaryFolder(), try TemporaryFolder())
        let (worker, hold) = (tools.url.appending(path: "worker"), tools.url.appending(path: "hold"))
        let real = URL(filePath: RunningProcess.executable).deletingLastPathComponent().appending(
            path: "larder-pdf-worker"
        ).path
        try "#!/bin/sh\nwhile [ -e '\(hold.path)' ]; do /bin/sleep 0.05; done\nexec '\(real)' \"$@\"\n".write(
            to: worker,
            atomically: true,
            encoding: .utf8
        )
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: worker.path)
        let first = try await RunningLarder.start(data: data, ["--media-pdf-worker", worker.path])
        let href = try await first.client.document(of: [Self.photo, Self.photo])
        _ = try await first.client.post("\(href)/save", "{}")
        let (shown, file) = (try await first.client.get(href), try await first.client.get("\(href)/file"))
        let page = try #require(try shown.json.data.pages[0].id.string)
        let events = try await EventListener.open(first.client.base + "/v1/events")
        try Data().write(to: hold)
        let client = first.client
        let change = Task { try? await client.send("DELETE", "\(href)/pages/\(page)", ["X-Request-Id": "change-1"]) }
        let creation = Task { try? await client.document(of: [Self.photo]) }
        // The job has begun, and cannot end.
        while let event = try await events.next("job"), event.data.id.string != "change-1" {}
        await first.kill9()
        _ = await (change.value, creation.value)

        let second = try await RunningLarder.start(data: data)
        #expect(try await second.client.get(href).body == shown.body)
        #expect(try await second.client.get("\(href)/file").body == file.body)
        #expect(try await second.client.get("/v1/pdf/documents").json.data.items.elements.count == 1)
        for folder in ["uploads", "work"] {
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: data.url.appending(path: folder).path) == [],
                "\(folder)"
            )
        }
        let blobs = try FileManager.default.contentsOfDirectory(atPath: data.url.appending(path: "blobs").path)
        #expect(blobs.count { $0 != ".identity" } == 1, "\(blobs)")
        #expect(try await second.client.delete("\(href)/pages/\(page)").status == 200)
        await second.kill9()
        let third = try await RunningLarder.start(data: data)
        #expect(try await third.client.get(href).json.data.page_count.int == 1)
        let last = try #require(try await third.client.get(href).json.data.pages[0].id.string)
        #expect(try await third.client.delete("\(href)/pages/\(last)").status == 409)
    }

    @Test("PDF-07 TRUST-02 after kill -9 during changes the list has as many documents as it says")
    func counted() async throws {
        let data = try TemporaryFolder()
        let first = try await RunningLarder.start(data: data)
        let client = first.client
        let acknowledged = await withTaskGroup(of: [String].self) { group in
            for writer in 1...3 {
                group.addTask {
                    var saved: [String] = []
                    for number in 1... {
                        guard let created = try? await client.upload([Self.photo]), created.status == 201,
                            let href = try? created.json.data.href.string,
                            let response = try? await client.post("\(href)/save", "{}"), response.status == 200
                        else { break }
                        saved.append(href)
                        if number.isMultiple(of: 3) { _ = try? await client.delete(saved.removeFirst()) }
                        if writer == 1, number == 7 { await first.kill9() }
                    }
                    return saved
                }
            }
            return await group.reduce(into: [String]()) { $0 += $1 }
        }
        #expect(acknowledged.count >= 5)
        let second = try await RunningLarder.start(data: data)
        var (seen, totals, next) = ([String](), Set<Int?>(), String?.some("/v1/pdf/documents?limit=2"))
        while let path = next {
            let page = try await second.client.get(path).json
            seen += page.data.items.elements.compactMap { $0.href.string }
            totals.insert(page.meta.page.total.int)
            next = page.links.next.string
        }
        #expect(totals == [seen.count] && Set(seen).count == seen.count)
        #expect(Set(seen).isSuperset(of: acknowledged))
    }

    @Test("Without the programs all that needs none works; the rest names the package, and readiness reports it")
    func noPrograms() async throws {
        let data = try TemporaryFolder()
        let larder = try await RunningLarder.start(
            data: data,
            ["--media-pdf-worker", "/nowhere"],
            environment: ["PATH": "/nowhere"]
        )
        let ready = try await larder.client.get("/health/ready")
        #expect(ready.status == 200 && ready.text.contains("poppler-utils") && ready.text.contains("libvips-tools"))
        let refused = try await larder.client.upload([Self.photo])
        #expect(refused.status == 501, "\(refused.text)")
        #expect(
            try refused.json.code.string == "tool-missing" && refused.json.detail.string?.contains("on Debian") == true
        )
        #expect(try await larder.client.get("/v1/pdf/documents").json.meta.state.string == "empty")
        #expect(try await larder.client.put("/v1/pdf/welcome", #"{"seen":true}"#).status == 200)
        #expect(try FileManager.default.contentsOfDirectory(atPath: data.url.appending(path: "uploads").path) == [])
    }

    @Test("PDF-04 an interrupted upload leaves nothing")
    func abortedUpload() async throws {
        let data = try TemporaryFolder()
        let larder = try await RunningLarder.start(data: data)
        var request = HTTPClientRequest(url: larder.client.base + "/v1/pdf/documents")
        request.method = .POST
        let form = MultipartForm([Client.photo(number: 1, bytes: Self.photo)])
        request.headers.add(name: "Content-Type", value: form.contentType)
        struct Broken: Error {}
        // All but the end of the form.
        let head = ByteBuffer(bytes: form.body.dropLast("--limit--\r\n".utf8.count))
        let parts = AsyncThrowingStream<ByteBuffer, any Error> { continuation in
            continuation.yield(head)
            continuation.finish(throwing: Broken())
        }
        request.body = .stream(parts, length: .unknown)
        let sent = request
        await #expect(throws: (any Error).self) { _ = try await Client.http.execute(sent, timeout: Client.timeout) }
        // The server stops only when everything has ended that was under way.
        #expect(await larder.stop() == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: data.url.appending(path: "uploads").path) == [])
    }
}

extension Client {
    /// Sends files as a form.
    func upload(_ files: [Data]) async throws -> ReceivedResponse {
        try await send(
            "POST",
            "/v1/pdf/documents",
            MultipartForm(files.enumerated().map { Self.photo(number: $0.offset, bytes: $0.element) })
        )
    }

    static func photo(number: Int, bytes: Data) -> FormFile {
        FormFile("\(number).jpg", bytes, type: "image/jpeg")
    }

    /// A draft of these photos; its address.
    func document(of photos: [Data]) async throws -> String {
        let response = try await upload(photos)
        return try #require(try response.json.data.href.string, "\(response.text)")
    }
}

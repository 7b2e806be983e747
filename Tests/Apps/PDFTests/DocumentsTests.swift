import Concurrency
import Foundation
import HTTPTypes
import Media
import NIOCore
import Screens
import Storage
import TestKit
import Testing

@testable import PDF

@Suite("Documents of one server and of several", .timeLimit(.minutes(5))) struct DocumentsTests {
    /// A client that acts at random, with a transcript of its responses.
    private final class Script {
        private static let words = ["Straße", "ёлка 12.50", "大学 report", "C++ notes", "report e\u{301}te\u{301}", "a"]
        private let app: PDFHarness
        private var chance: SeededRandom
        private var documents: [String] = []
        private var trashed: [String] = []
        private var identities: [Substring: Int] = [:]
        private(set) var transcript: [String] = []

        init(_ app: PDFHarness, seed: Int) {
            (self.app, chance) = (app, SeededRandom(seed: UInt64(seed)))
        }

        private func pick(_ among: [String]) -> String? { among.randomElement(using: &chance) }

        private func word() -> String { Self.words[Int.random(in: 0..<Self.words.count, using: &chance)] }

        private func ask(
            _ method: HTTPRequest.Method,
            _ path: String,
            _ fields: HTTPFields = [:],
            _ json: String? = nil
        )
            async throws -> Exchanged
        {
            let response = try await app.ask(method, path, fields, json: json)
            note("\(method) \(path)", response)
            return response
        }

        /// Notes a response, with numbers in place of identities, and without cursors, which have numbers of rows.
        private func note(_ request: String, _ response: Exchanged) {
            var text = "\(request) → \(response.status) \(response.text)"
            text = text.replacing(#/cursor=[^"&]*/#, with: "cursor")
            text = text.replacing(#/[0-9a-f]{16}/#) { match in
                let known = identities[match.output, default: identities.count]
                identities[match.output] = known
                return "#\(known)"
            }
            transcript.append(text)
        }

        private func create() async throws {
            let photos = (0..<Int.random(in: 1...3, using: &chance)).map { PDFHarness.photo("p\($0)") }
            let response = try await app.create(photos, query: Bool.random(using: &chance) ? "" : "?mode=separate")
            note("create", response)
            for id in response.strings("id", in: "data.documents") {
                documents.append(id)
                guard Int.random(in: 0..<4, using: &chance) > 0 else { continue }
                _ = try await ask(.post, "/v1/pdf/documents/\(id)/save", [:], #"{"name":"\#(word())"}"#)
            }
        }

        private func change(_ id: String) async throws {
            let href = "/v1/pdf/documents/\(id)"
            let shown = try await ask(.get, href)
            let pages = shown.strings("id", in: "data.pages")
            let tag: HTTPFields = Bool.random(using: &chance) ? [:] : [.ifMatch: shown.headerFields[.eTag] ?? "\"0\""]
            switch (Int.random(in: 0..<9, using: &chance), pick(pages)) {
            case (0, let page?): _ = try await ask(.delete, "\(href)/pages/\(page)", tag)
            case (1, let page?): _ = try await ask(.patch, "\(href)/pages/\(page)", tag, #"{"rotate_by":90}"#)
            case (2, let page?):
                let response = try await ask(.post, "\(href)/extract", tag, #"{"pages":["\#(page)"]}"#)
                if response.status == 201 { documents.append(try response.string("data.id")) }
            case (3, _):
                let order = pages.reversed().map { "\"\($0)\"" }.joined(separator: ",")
                _ = try await ask(.put, "\(href)/pages/order", tag, #"{"pages":[\#(order)]}"#)
            case (4, _): _ = try await ask(.patch, href, [.ifMatch: #""99-x""#], #"{"name":"late"}"#)
            case (5, _):
                if try await ask(.delete, href, tag).status == 200 { trashed.append(id) }
                documents.removeAll { $0 == id }
            case (6, _):
                _ = try await ask(.delete, "\(href)?permanently=true", tag)
                documents.removeAll { $0 == id }
            default: _ = try await ask(.patch, href, tag, #"{"name":"\#(word())"}"#)
            }
            note("file", try await app.get("\(href)/file", [.range: "bytes=2-40"]))
        }

        private func recycle(_ id: String) async throws {
            switch Int.random(in: 0..<4, using: &chance) {
            case 0: _ = try await ask(.delete, "/v1/pdf/trash/\(id)")
            case 1 where trashed.count > 3: _ = try await ask(.delete, "/v1/pdf/trash")
            default:
                if try await ask(.post, "/v1/pdf/trash/\(id)/restore").status == 200 { documents.append(id) }
            }
            trashed.removeAll { $0 == id }
        }

        private func read(_ path: String) async throws {
            var target: String? = path
            while let next = target {
                let page = try await ask(.get, next)
                target = try? page.string("links.next")
            }
        }

        func step() async throws {
            switch (Int.random(in: 0..<10, using: &chance), pick(documents), pick(trashed)) {
            case (0...2, _, _): try await create()
            case (3...5, let id?, _): try await change(id)
            case (6, _, let id?): try await recycle(id)
            case (7, let first?, _):
                let body = #"{"first":"\#(first)","second":"\#(pick(documents) ?? first)"}"#
                let response = try await ask(.post, "/v1/pdf/merge", [:], body)
                if response.status == 201 { documents.append(try response.string("data.id")) }
            case (8, _, _):
                app.clock.advance(by: .seconds(Int.random(in: 0...30_000, using: &chance)))
                let purged = try await app.documents.purgeDrafts(at: app.clock.now)
                let before = app.clock.now.addingTimeInterval(-90_000)
                let due = try await app.documents.purgeTrash(.max, upTo: before, profile: "local")
                transcript.append("purged \(purged), \(due.count) \(due.revision)")
            default:
                _ = try await ask(.put, "/v1/pdf/welcome", [:], #"{"seen":\#(Bool.random(using: &chance))}"#)
                _ = try await ask(.get, "/v1/pdf/launch")
            }
            try await read("/v1/pdf/documents?limit=5")
            let query = word().addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            try await read("/v1/pdf/documents?limit=2&q=\(query)")
            try await read("/v1/pdf/trash?limit=2")
            transcript.append("\(try app.documents.usage(profile: "local"))")
        }
    }

    @Test(
        "SCALE-02 The same requests have the same responses on a server by itself and on one of several",
        arguments: 1...2
    )
    func transcripts(seed: Int) async throws {
        var transcripts: [[String]] = []
        for kind in StoreKind.allCases {
            let found = Watched<[String]>([])
            try await PDFHarness.run(settings: .standard.with(PDFApp.quota, 60_000), shared: try await kind.documents())
            {
                app in
                let script = Script(app, seed: seed)
                for _ in 0..<24 { try await script.step() }
                let transcript = script.transcript
                found.update { $0 = transcript }
            }
            transcripts.append(found.value)
        }
        #expect(transcripts[0].count == transcripts[1].count)
        for (one, other) in zip(transcripts[0], transcripts[1]) where one != other {
            Issue.record("\(one)\n\(other)")
            break
        }
        let made = transcripts[0].count { $0.contains("→ 20") }
        let refused = transcripts[0].count { $0.contains("→ 4") }
        #expect(made > 80 && refused > 0, "much was tried: \(made), \(refused)")
    }

    @Test("SCALE-02 A document of 20 MB comes back byte for byte, whole and in ranges", arguments: StoreKind.allCases)
    func largeContent(kind: StoreKind) async throws {
        let shared = try await kind.documents()
        try await PDFHarness.run(shared: shared) { app in
            var chance = SeededRandom(seed: 20)
            let words = (0..<2_500_001).map { _ in UInt64.random(in: 0...UInt64.max, using: &chance) }
            let bytes = words.withUnsafeBytes { Data($0) }
            let document = try await app.insert(bytes, name: "large", pages: 700)
            let file = "\(app.href(document))/file"
            let whole = try await app.get(file)
            #expect(whole.status == 200 && whole.body == bytes)
            let head = try await app.ask(.head, file)
            #expect(head.headerFields[.contentLength] == "\(bytes.count)" && head.body.isEmpty)
            #expect(head.headerFields[.eTag] == whole.headerFields[.eTag])
            let mebibyte = 1 << 20
            let ranges = [
                0..<1, 5..<mebibyte, mebibyte..<mebibyte + 1, mebibyte - 1..<mebibyte + 1,
                mebibyte - 7..<3 * mebibyte + 9, 19 * mebibyte..<bytes.count, bytes.count - 1..<bytes.count,
            ]
            for range in ranges {
                let field = "bytes=\(range.lowerBound)-\(range.upperBound - 1)"
                let part = try await app.get(file, [.range: field])
                #expect(part.status == 206 && part.body == bytes.subdata(in: range), "\(field)")
            }
            try await app.get(file, [.range: "bytes=\(bytes.count)-"]).expectProblem("bad-range", 416)
            let found = try app.documents.document(document.id, profile: "local", at: app.clock.now)
            #expect(found == document, "also the sizes of 700 pages")
            let copy = try await app.documents.file(of: document, in: app.app.pdf.scratch)
            #expect(try Data(contentsOf: URL(filePath: copy.path)) == bytes, "for programs, at a path")
            #expect(try app.documents.usage(profile: "local").bytes == bytes.count + 4096)
            #expect(try await shared?.contentCounts() ?? [1, 20] == [1, 20])
            #expect(try await app.ask(.delete, "\(app.href(document))?permanently=true").status == 200)
            #expect(try await shared?.contentCounts() ?? [0, 0] == [0, 0])
            #expect(try app.blobFiles == 0)
        }
    }

    @Test("A file that is replaced while it is sent is sent to its end", arguments: StoreKind.allCases)
    func replaced(kind: StoreKind) async throws {
        try await PDFHarness.run(shared: try await kind.documents()) { app in
            let bytes = Data(repeating: 7, count: 3 << 20)
            let document = try await app.insert(bytes, name: "first")
            let content = try await app.documents.content(of: document)
            let parts = try content.parts(0..<content.length).makeAsyncIterator()
            var read = try #require(try await parts.next()).readableBytes
            let changed = try await app.documents.replace(
                document,
                file: try app.stage(Data("%PDF-other".utf8)),
                pages: document.pages,
                draftUntil: app.clock.now,
                effect: .change,
                app.history()
            )
            #expect(changed.revision == 2 && changed.document.version == 2)
            while let part = try await parts.next() { read += part.readableBytes }
            #expect(read == bytes.count)
            #expect(try await app.get("\(app.href(document))/file").text == "%PDF-other")
            await #expect(throws: DocumentStore.Gone.self, "it was changed since it was read") {
                _ = try await app.documents.replace(
                    document,
                    file: try app.stage(Data("%PDF-late".utf8)),
                    pages: [],
                    draftUntil: app.clock.now,
                    effect: .change,
                    app.history()
                )
            }
        }
    }
}

@Suite struct ProblemMediaErrorTests {
    @Test("An error of a client's file names the file and its position")
    func named() throws {
        let problem = try #require(
            Problem(MediaError.OfInput(index: 1, error: .encrypted), titles: ["a.pdf", "b.pdf"])
        )
        let detail = Text("b.pdf is protected by a password.", ru: "b.pdf — файл защищён паролем.")
        #expect(problem.code == .encrypted && problem.detail == detail)
        #expect(problem.errors == [.field("/files/1", "encrypted", detail)])
    }

    @Test(
        "Every error that the client can act on has its problem",
        arguments: [
            (MediaError.damaged(""), ProblemCode.damaged), (.crashed(.vips, signal: 11), .damaged),
            (.encrypted, .encrypted), (.tooLarge(.bytes(limit: 1)), .tooLarge),
            (.tooLarge(.pixels(limit: 1)), .tooLarge),
            (.tooLarge(.memory(limit: 1)), .tooLarge), (.tooManyPages(limit: 1), .tooManyPages),
            (.timedOut(.vips), .timedOut), (.noGlyphs, .validationFailed), (.overloaded, .overloaded),
            (.toolMissing(.vips), .toolMissing), (.unsupported(""), .damaged),
            (.undecodable("HEIC"), .unsupportedMediaType),
            (.failed(.vips, ""), .processingUnavailable), (.unavailable(""), .processingUnavailable),
            (.storageFull(""), .storageFull),
        ]
    )
    func codes(error: MediaError, code: ProblemCode) {
        #expect(Problem(error)?.code == code)
        let named = Problem(MediaError.OfInput(index: 0, error: error), titles: ["a"])
        #expect(named?.code == (error == .unsupported("") ? .unsupportedMediaType : code))
    }

    @Test("PDF-18 a picture that the decoder is too old for is named as such, and not as damaged")
    func undecodable() throws {
        let problem = try #require(
            Problem(MediaError.OfInput(index: 0, error: .undecodable("HEIC")), titles: ["IMG_0876.HEIC"])
        )
        #expect(
            problem.detail.english
                == "IMG_0876.HEIC is of a kind of HEIC that this server cannot read; the file is not damaged."
        )
        #expect(problem.errors.first?.code == "unsupported-media-type")
    }

    @Test("An error that only the log can explain has none")
    func internalErrors() {
        let errors: [any Error] = [
            MediaError.noSuchPage(1), MediaError.unconfined(.soffice), CancellationError(),
        ]
        for error in errors { #expect(Problem(error, titles: ["a"]) == nil) }
    }
}

import Foundation
import GRDB
import HTTPTypes
import Screens
import Storage
import TestKit
import Testing

@testable import Cluster
@testable import PDF

@Suite("Undo of changes", .timeLimit(.minutes(10))) struct DocumentUndoTests {
    private func undo(_ href: String, _ app: PDFHarness, _ fields: HTTPFields = [:]) async throws -> Exchanged {
        try await app.ask(.post, "\(href)/undo", fields)
    }

    /// The action `undo` of a reader.
    private func action(_ response: Exchanged) throws -> Int {
        try #require(response.strings("id", in: "data.actions").firstIndex(of: "undo"))
    }

    private func list(_ pages: [String]) -> String {
        #"{"pages":[\#(pages.map { "\"\($0)\"" }.joined(separator: ","))]}"#
    }

    private func versions(_ app: PDFHarness) throws -> Int? {
        try app.database.integer("SELECT count(*) FROM pdf_version")
    }

    @Test(
        "PDF-23 Each change of a document is undone, the last one first: its pages, its file and its name are as before",
        arguments: StoreKind.allCases
    )
    func each(kind: StoreKind) async throws {
        try await PDFHarness.run(shared: try await kind.documents()) { app in
            let href = try await app.saved("one", "two", "three", name: "Trip")
            let pages = try await app.pages(href)
            let changes: [(HTTPRequest.Method, String, String?)] = [
                (.patch, "/pages/\(pages[0])", #"{"rotate_by":90}"#), (.delete, "/pages/\(pages[1])", nil),
                (.put, "/pages/order", list([pages[2], pages[0]])), (.post, "/pages", #"{"text":"Hello"}"#),
                (.patch, "", #"{"name":"Holidays"}"#), (.post, "/save", #"{"name":"Another"}"#),
                (.post, "/pages/delete", list([pages[0], pages[2]])),
            ]
            var states: [(name: String, pages: [String], paper: [String])] = []
            for (index, (method, path, json)) in changes.enumerated() {
                let before = try await app.get(href)
                let ids = before.strings("id", in: "data.pages")
                states.append((try before.string("data.name"), ids, try await app.paper(href)))
                let changed = try await app.ask(method, href + path, json: json)
                #expect([200, 201].contains(changed.status), "\(path): \(changed.text)")
                let place = try action(changed)
                #expect(changed["data.actions.\(place).enabled"] == true)
                #expect(changed["data.actions.\(place).headers.If-Match"] == .string("\"\(index + 3)\""))
            }
            #expect(try await app.paper(href) == ["text Hello 0"])
            for state in states.reversed() {
                let undone = try await undo(href, app)
                undone.expectPDF("pdf.reader")
                #expect(undone["data.name"] == .string(state.name))
                #expect(undone.strings("id", in: "data.pages") == state.pages)
                #expect(try await app.paper(href) == state.paper)
                #expect(undone.headerFields[.eTag] == (try await app.get(href)).headerFields[.eTag])
            }
            let last = try await app.get(href)
            #expect(last["data.actions.\(try action(last)).enabled"] == false)
            #expect(last["data.version"] == .number(Double(2 + 2 * changes.count)))
            try await undo(href, app).expectProblem("nothing-to-undo", 409)
            #expect(try await app.get("/v1/pdf/documents?q=trip")["meta.page.total"] == 1)
            #expect(try await app.get("/v1/pdf/documents?q=another")["meta.page.total"] == 0)
            #expect(try app.blobFiles == 1 && versions(app) == 0)
            let event = app.events.published.filter { $0.kind == "screen-changed" }.last
            #expect(event?.json == #"{"app":"pdf","screen":"pdf.list","revision":15}"#)
        }
    }

    @Test("PDF-23 Undo is conditional on the version, and extends a draft")
    func conditional() async throws {
        try await PDFHarness.run { app in
            try await undo("/v1/pdf/documents/0123456789abcdef", app).expectProblem("not-found", 404)
            let href = try await app.draft("one", "two")
            try await undo(href, app).expectProblem("nothing-to-undo", 409)
            let page = try await app.pages(href)[0]
            for _ in 0..<2 { _ = try await app.ask(.patch, "\(href)/pages/\(page)", json: #"{"rotate_by":90}"#) }
            try await undo(href, app, [.ifMatch: "\"2\""]).expectProblem("precondition-failed", 412)
            app.clock.advance(by: .seconds(3600))
            let undone = try await undo(href, app, [.ifMatch: "\"3\""])
            #expect(undone.status == 200 && undone["data.draft_until"] == "2026-01-06T11:00:00Z", "\(undone.text)")
            #expect(try await app.paper(href) == ["jpeg one 90", "jpeg two 0"])
            #expect(try await app.get(href)["data.version"] == 4)
        }
    }

    @Test("PDF-23 The name given when a draft is saved is taken back before the changes of the draft, not with them")
    func firstName() async throws {
        try await PDFHarness.run { app in
            let href = try await app.draft("one", "two")
            let (name, page) = (try await app.get(href).string("data.name"), try await app.pages(href)[0])
            _ = try await app.ask(.patch, "\(href)/pages/\(page)", json: #"{"rotate_by":90}"#)
            #expect(try await app.ask(.post, "\(href)/save", json: #"{"name":"Trip"}"#).status == 200)
            for rotation in [90, 0] {
                let undone = try await undo(href, app)
                #expect(undone["data.name"] == .string(name) && undone["data.status"] == "saved", "\(undone.text)")
                #expect(try await app.paper(href) == ["jpeg one \(rotation)", "jpeg two 0"])
            }
            try await undo(href, app).expectProblem("nothing-to-undo", 409)
        }
    }

    @Test("PDF-23 A page that is deleted permanently is in no earlier version")
    func permanently() async throws {
        try await PDFHarness.run { app in
            let href = try await app.saved("one", "two")
            let pages = try await app.pages(href)
            _ = try await app.ask(.patch, "\(href)/pages/\(pages[1])", json: #"{"rotate_by":90}"#)
            #expect(try versions(app) == 1 && app.blobFiles == 2)
            let deleted = try await app.ask(.delete, "\(href)/pages/\(pages[0])?permanently=true")
            #expect(deleted.strings("id", in: "data.pages") == [pages[1]], "\(deleted.text)")
            #expect(deleted["data.actions.\(try action(deleted)).enabled"] == false)
            #expect(try versions(app) == 0 && app.blobFiles == 1)
            await app.database.maintain()
            for file in ["larder.sqlite", "larder.sqlite-wal"] {
                let bytes = try Data(contentsOf: URL(filePath: "\(app.database.directory.path)/\(file)"))
                #expect(bytes.firstRange(of: Data(pages[0].utf8)) == nil, "\(file) has the page")
            }
            try await undo(href, app).expectProblem("nothing-to-undo", 409)
        }
    }

    @Test("PDF-23 A version whose file is lost takes the place of no document")
    func lostFile() async throws {
        try await PDFHarness.run { app in
            let href = try await app.saved("one", "two")
            let files = try app.database.blobs.fileNames()
            #expect(try await app.ask(.delete, "\(href)/pages/\(try await app.pages(href)[0])").status == 200)
            let folder = app.database.directory.blobsPath
            for file in files { try FileManager.default.removeItem(atPath: "\(folder)/\(file)") }
            try await undo(href, app).expectProblem("storage-failed", 500)
            #expect(try await app.paper(href) == ["jpeg two 0"])
            #expect(try await app.get(href)["data.version"] == 3)
        }
    }

    @Test("PDF-23 A document with more than 5000 pages has no versions, nor those of before it had so many")
    func long() async throws {
        try await PDFHarness.run { app in
            var document = try await app.insert(Data("%PDF 0".utf8), name: "long", pages: 5001)
            for (count, expected) in [(5000, 0), (4999, 1), (5001, 1), (4000, 0), (3999, 1)] {
                let file = try app.stage(Data("%PDF \(count)".utf8))
                var pages = Array(document.pages.prefix(count))
                while pages.count < count { pages.append(document.pages[0].copy()) }
                document = try await app.documents.replace(
                    document,
                    file: file,
                    pages: pages,
                    draftUntil: app.clock.now,
                    effect: .change,
                    app.history()
                ).document
                #expect(try versions(app) == expected && document.canUndo == (expected > 0), "\(count)")
            }
        }
    }

    @Test("PDF-23 Several pages are deleted by one change, but not all, and none that is unknown or named twice")
    func severalPages() async throws {
        try await PDFHarness.run { app in
            let href = try await app.saved("one", "two", "three")
            let pages = try await app.pages(href)
            let path = "\(href)/pages/delete"
            try await app.ask(.post, path, json: list(pages)).expectProblem("last-page", 409)
            for refused in [[], [pages[0], pages[0]], ["0123456789abcdef"]] {
                try await app.ask(.post, path, json: list(refused)).expectProblem("validation-failed", 422)
            }
            let version = try await app.get(href)["data.version"]
            let deleted = try await app.ask(.post, path, json: list([pages[2], pages[0]]))
            #expect(deleted.strings("id", in: "data.pages") == [pages[1]])
            #expect(version == 2 && deleted["data.version"] == 3)
            #expect(try await undo(href, app).strings("id", in: "data.pages") == pages)
        }
    }

    @Test("PDF-23 SRV-18 Earlier versions fill the room that documents leave of the quota; the oldest go first")
    func quota() async throws {
        let quota = 4 * DocumentStore.bytesBeside + 4000
        try await PDFHarness.run(settings: .standard.with(PDFApp.quota, quota)) { app in
            let href = try await app.saved("one", "two")
            let page = try await app.pages(href)[0]
            for count in [1, 2, 3, 3, 3] {
                let turned = try await app.ask(.patch, "\(href)/pages/\(page)", json: #"{"rotate_by":90}"#)
                #expect(turned.status == 200)
                #expect(try versions(app) == count)
            }
            for count in [2, 1, 0] {
                _ = try await app.saved("more")
                #expect(try versions(app) == count)
            }
            try await undo(href, app).expectProblem("nothing-to-undo", 409)
            #expect(try await app.ask(.patch, "\(href)/pages/\(page)", json: #"{"rotate_by":90}"#).status == 200)
            #expect(try versions(app) == 0)
            #expect(try app.blobFiles == 4)
        }
    }

    @Test("PDF-23 Changes can be undone for the days of the trash, not beyond 50 of them, and never with none")
    func lifetime() async throws {
        try await PDFHarness.run(settings: .standard.with(PDFApp.trashLifetime, .seconds(1000))) { app in
            let href = try await app.saved("one", "two")
            let page = try await app.pages(href)[0]
            for _ in 0..<52 { _ = try await app.ask(.patch, "\(href)/pages/\(page)", json: #"{"rotate_by":90}"#) }
            #expect(try versions(app) == 50)
            app.clock.advance(by: .seconds(999))
            _ = try await app.ask(.patch, "\(href)/pages/\(page)", json: #"{"rotate_by":90}"#)
            #expect(try await app.documents.purgeVersions(upTo: app.clock.now.addingTimeInterval(-1000)) == 0)
            let revision = try app.documents.revision(profile: "local")
            #expect(try await app.documents.purgeVersions(upTo: app.clock.now.addingTimeInterval(-999)) == 49)
            #expect(try app.documents.revision(profile: "local") == revision + 1, "other servers are told")
            #expect(try await undo(href, app).status == 200)
            try await undo(href, app).expectProblem("nothing-to-undo", 409)
            #expect(try app.blobFiles == 1)
        }
        try await PDFHarness.run(settings: .standard.with(PDFApp.trashLifetime, .zero)) { app in
            let href = try await app.saved("one", "two")
            let deleted = try await app.ask(.delete, "\(href)/pages/\(try await app.pages(href)[0])")
            #expect(deleted["data.actions.\(try action(deleted)).enabled"] == false)
            #expect(try app.blobFiles == 1)
        }
    }

    @Test("PDF-23 Versions are in the trash with their document, come back with it, and go with it for good")
    func trash() async throws {
        try await PDFHarness.run { app in
            let href = try await app.saved("one", "two")
            #expect(try await app.ask(.delete, "\(href)/pages/\(try await app.pages(href)[0])").status == 200)
            _ = try await app.ask(.delete, href)
            try await undo(href, app).expectProblem("not-found", 404)
            #expect(try await app.ask(.post, "/v1/pdf/trash/\(href.suffix(16))/restore").status == 200)
            #expect(try await undo(href, app).status == 200)
            #expect(try await app.paper(href) == ["jpeg one 0", "jpeg two 0"])
            #expect(try await app.ask(.delete, "\(href)/pages/\(try await app.pages(href)[0])").status == 200)
            #expect(try app.blobFiles == 2)
            #expect(try await app.ask(.delete, "\(href)?permanently=true").status == 200)
            #expect(try app.blobFiles == 0 && versions(app) == 0)
        }
    }

    @Test("PDF-23 SCALE-02 A change on one server is undone on another, with the file that only the store has")
    func servers() async throws {
        let shared = try await ClusterAccess.temporary()
        try await PDFHarness.run(shared: shared) { one in
            try await PDFHarness.run(shared: shared.otherServer()) { other in
                let href = try await one.saved("one", "two")
                let pages = try await one.pages(href)
                #expect(try await one.ask(.delete, "\(href)/pages/\(pages[0])").status == 200)
                #expect(try await other.paper(href) == ["jpeg two 0"])
                #expect(try await shared.contentCounts() == [2, 2])
                let undone = try await undo(href, other)
                #expect(undone.strings("id", in: "data.pages") == pages, "\(undone.text)")
                for app in [one, other] {
                    #expect(try await app.paper(href) == ["jpeg one 0", "jpeg two 0"])
                    try await undo(href, app).expectProblem("nothing-to-undo", 409)
                }
                #expect(try await one.ask(.delete, "\(href)/pages/\(pages[1])").status == 200)
                #expect(try await other.ask(.delete, "\(href)?permanently=true").status == 200)
                _ = try await one.get("/v1/pdf/documents")
                for app in [one, other] { #expect(try app.blobFiles == 0 && versions(app) == 0) }
                _ = try await one.documents.users.shared?.journal.removeContents(unusedFor: .zero)
                #expect(try await shared.contentCounts() == [0, 0])
            }
        }
    }
}

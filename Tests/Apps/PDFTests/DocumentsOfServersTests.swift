import Foundation
import GRDB
import HTTPTypes
import Screens
import Storage
import TestKit
import Testing

@testable import Cluster
@testable import PDF

/// The app on servers whose files follow one journal.
@Suite("Documents of several servers", .timeLimit(.minutes(10)))
struct DocumentsOfServersTests {
    /// Runs a test against two servers of one store.
    private func run(
        on server: RunningPostgres? = nil,
        _ test: @escaping @Sendable (_ one: PDFHarness, _ other: PDFHarness, ClusterAccess) async throws -> Void
    ) async throws {
        let shared = try await ClusterAccess.temporary(on: server)
        try await PDFHarness.run(shared: shared) { one in
            try await PDFHarness.run(shared: shared.otherServer()) { other in try await test(one, other, shared) }
        }
    }

    /// Rotates the first page of a document.
    private func rotate(_ href: String, at app: PDFHarness, _ fields: HTTPFields = [:]) async throws -> Exchanged {
        let page = try await app.pages(href)[0]
        return try await app.ask(.patch, "\(href)/pages/\(page)", fields, json: #"{"rotate_by":90}"#)
    }

    @Test("SCALE-15 Two changes on two servers at once are both made; of two with one version one is 412")
    func changes() async throws {
        try await run { one, other, _ in
            let href = try await one.saved("one", "two", name: "before")
            let tag = try #require(try await other.get(href).headerFields[.eTag])
            one.paper.hold()
            async let rotation = rotate(href, at: one)
            await one.paper.isHolding(1)
            let renamed = try await other.ask(.patch, href, json: #"{"name":"after"}"#)
            #expect(renamed.status == 200, "\(renamed.text)")
            one.paper.release()
            let rotated = try await rotation
            #expect(rotated.status == 200 && rotated["data.name"] == "after", "\(rotated.text)")
            #expect(rotated["data.pages.0.rotation"] == 90 && rotated["data.version"] == 4)
            #expect(try await other.get(href).body == rotated.body)
            #expect(try await other.paper(href) == ["jpeg one 90", "jpeg two 0"])
            try await rotate(href, at: other, [.ifMatch: tag]).expectProblem("precondition-failed", 412)

            let current = try #require(rotated.headerFields[.eTag])
            one.paper.hold()
            async let late = rotate(href, at: one, [.ifMatch: current])
            await one.paper.isHolding(1)
            #expect(try await rotate(href, at: other, [.ifMatch: current]).status == 200)
            one.paper.release()
            try await late.expectProblem("precondition-failed", 412)
            #expect(try await one.paper(href) == ["jpeg one 180", "jpeg two 0"])
        }
    }

    @Test("SCALE-15 Documents are merged and extracted as they were when it began, whatever another server does")
    func copies() async throws {
        try await run { one, other, _ in
            let (first, second) = (try await other.saved("one", name: "A"), try await other.saved("two", name: "B"))
            one.paper.hold()
            let body = #"{"first":"\#(first.suffix(16))","second":"\#(second.suffix(16))"}"#
            async let merging = one.ask(.post, "/v1/pdf/merge", json: body)
            await one.paper.isHolding(1)
            #expect(try await rotate(first, at: other).status == 200)
            #expect(try await other.ask(.delete, "\(second)?permanently=true").status == 200)
            one.paper.release()
            let merged = try await merging
            #expect(merged.status == 201 && merged["data.name"] == "A + B", "\(merged.text)")
            #expect(try await other.paper(try merged.string("data.href")) == ["jpeg one 0", "jpeg two 0"])
            let page = try await one.pages(first)[0]
            let extracted = try await one.ask(.post, "\(first)/extract", json: #"{"pages":["\#(page)"]}"#)
            #expect(try await other.paper(try extracted.string("data.href")) == ["jpeg one 90"])
        }
    }

    @Test("SCALE-02 What one server has made is listed, found, changed, deleted and restored on another")
    func elsewhere() async throws {
        try await run { one, other, shared in
            let href = try await one.saved("one", "two", name: "Report")
            #expect(try await other.listed() == [String(href.suffix(16))])
            #expect(try await other.get("/v1/pdf/documents?q=epor")["meta.page.total"] == 1)
            #expect(try await other.get("\(href)/thumbnail").text == "jpeg one 0 at 320")
            #expect(try await one.get("\(href)/thumbnail").text == "jpeg one 0 at 320")
            let tag = try #require(try await other.get(href).headerFields[.eTag])
            #expect(try await other.ask(.patch, href, [.ifMatch: tag], json: #"{"name":"x"}"#).status == 200)
            #expect(try await one.get("/v1/pdf/documents?q=epor")["meta.page.total"] == 0)
            #expect(try await one.get("/v1/pdf/documents?q=x")["meta.page.total"] == 1)
            try await one.ask(.delete, href, [.ifMatch: tag]).expectProblem("precondition-failed", 412)
            #expect(try await one.ask(.delete, href).status == 200)
            try await other.get(href).expectProblem("not-found", 404)
            #expect(try await other.get("/v1/pdf/documents?q=x")["meta.page.total"] == 0)
            #expect(try await other.ask(.post, "/v1/pdf/trash/\(href.suffix(16))/restore").status == 200)
            #expect(try await one.paper(href) == ["jpeg one 0", "jpeg two 0"])
            #expect(try await one.get("/v1/pdf/documents?q=x")["meta.page.total"] == 1)
            #expect(try await one.ask(.put, "/v1/pdf/welcome", json: #"{"seen":true}"#).status == 200)
            #expect(try await other.get("/v1/pdf/welcome")["data.seen"] == true)
            #expect(try one.documents.usage(profile: "local") == other.documents.usage(profile: "local"))
            #expect(try await one.ask(.delete, "\(href)?permanently=true").status == 200)
            _ = try await other.get("/v1/pdf/documents")
            for app in [one, other] {
                #expect(try app.thumbnails == 0, "pictures of a deleted page go everywhere")
                #expect(try app.blobFiles == 0)
                #expect(try app.documents.usage(profile: "local").bytes == 0)
            }
            // Those of the draft and of the former name stay in PostgreSQL a while, for those who read them.
            _ = try await one.documents.users.shared?.journal.removeContents(unusedFor: .zero)
            #expect(try await shared.contentCounts() == [0, 0])
        }
    }

    @Test("SCALE-15 A document whose default name another server has taken meanwhile is made again, with the next one")
    func defaultNames() async throws {
        try await run { one, other, _ in
            one.paper.hold()
            async let late = one.create([PDFHarness.photo("late")])
            await one.paper.isHolding(1)
            let first = try await other.create([PDFHarness.photo("first")])
            #expect(first["data.name"] == "Document 2026-01-05 10-00")
            one.paper.release()
            let second = try await late
            #expect(second.status == 201 && second["data.name"] == "Document 2026-01-05 10-00 2", "\(second.text)")
            let href = try second.string("data.href").prefix { $0 != "?" }
            let file = try await one.get("\(href)/file")
            #expect(StubDocumentEngine.title(in: file.text) == "Document 2026-01-05 10-00 2")
            #expect(one.paper.calls == ["pages", "pages"])
        }
    }

    @Test("SCALE-04 Documents that two servers make at once, of two profiles and of one, are all there, in one order")
    func ids() async throws {
        try await run { one, other, _ in
            try await (0..<24).concurrentMap { number in
                let app = number % 2 == 0 ? one : other
                let profile = number % 3 == 0 ? "local" : "eve"
                _ = try await app.insert(Data("%PDF \(number)".utf8), name: "\(number)", profile: profile)
            }
            for (profile, count) in [("local", 8), ("eve", 16)] {
                let fields: HTTPFields = [.larderProfile: profile]
                let listed = try await one.listed(fields)
                #expect(Set(listed).count == count)
                #expect(try await other.listed(fields) == listed)
                #expect(try await other.get("/v1/pdf/documents", fields)["meta.revision"] == .number(Double(count)))
            }
        }
    }

    @Test("SCALE-07 A server that was away has the documents of others with its first response, also from a snapshot")
    func away() async throws {
        let shared = try await ClusterAccess.temporary()
        let directory = try DataDirectory.temporary()
        try await PDFHarness.run(directory: directory, shared: shared) { one in
            for name in ["first", "gone", "binned"] { _ = try await one.saved(name, name: name) }
        }
        try await PDFHarness.run(shared: shared.otherServer()) { other in
            let ids = try await other.listed()
            #expect(try await other.ask(.delete, "/v1/pdf/documents/\(ids[1])?permanently=true").status == 200)
            #expect(try await other.ask(.delete, "/v1/pdf/documents/\(ids[0])").status == 200)
            _ = try await other.saved("second", name: "second")
            try await shared.cutJournal(for: other.database, DocumentStore.replicated)
        }
        try await PDFHarness.run(directory: directory, shared: shared.otherServer()) { one in
            let files = try one.blobFiles
            #expect(files == 3)
            #expect(try await one.get("/v1/pdf/documents").strings("name", in: "data.items") == ["second", "first"])
            let kept = try one.blobFiles
            #expect(kept == 2, "those of the first and of the deleted one, which can be restored")
            #expect(try await one.get("/v1/pdf/documents?q=second")["meta.page.total"] == 1)
            #expect(try await one.get("/v1/pdf/documents?q=gone")["meta.page.total"] == 0)
            #expect(try await one.get("/v1/pdf/trash")["data.count"] == 1)
            for id in try await one.listed() { #expect(try await one.paper("/v1/pdf/documents/\(id)").count == 1) }
        }
    }

    @Test("SCALE-23 While PostgreSQL is away documents are shown, stale with a text, and not changed; then all goes on")
    func storeAway() async throws {
        let postgres = try await RunningPostgres.start()
        try await run(on: postgres) { one, other, _ in
            let href = try await one.saved("one", name: "Report")
            let draft = try await one.draft("two")
            #expect(try await other.get("\(href)/thumbnail").text == "jpeg one 0 at 320")
            #expect(try await other.get(draft).status == 200)
            try postgres.stop("immediate")
            let screens = ["documents", "documents?q=report", "drafts", "trash", "launch", "welcome"]
            for path in screens.map({ "/v1/pdf/\($0)" }) + [href, draft] {
                try await other.get(path).expectStaleStore(path)
            }
            #expect(try await other.get("\(href)/thumbnail").text == "jpeg one 0 at 320")
            #expect(try await other.get("\(href)/thumbnail?width=9").text == "jpeg one 0 at 9", "the file is here")
            #expect(try await other.paper(href) == ["jpeg one 0"])
            try await other.get("\(draft)/file").expectProblem("store-unavailable", 503)
            #expect(try await one.paper(draft) == ["jpeg two 0"])
            let calls = one.paper.calls.count
            let merge = #"{"first":"\#(href.suffix(16))","second":"\#(draft.suffix(16))"}"#
            for refused in [
                try await one.create([PDFHarness.photo("three")]), try await rotate(href, at: one),
                try await one.ask(.post, "\(draft)/save", json: "{}"), try await one.ask(.delete, href),
                try await one.ask(.patch, href, json: #"{"name":"x"}"#),
                try await one.ask(.post, "/v1/pdf/merge", json: merge), try await one.ask(.delete, "/v1/pdf/trash"),
                try await one.ask(.put, "/v1/pdf/welcome", json: #"{"seen":true}"#),
            ] { refused.expectStoreUnavailable() }
            #expect(one.paper.calls.count == calls, "no work was done for them")
            try postgres.restart()
            try await BoundedWait.poll(for: "the store") {
                try await one.get("/v1/pdf/documents")["meta.stale"] == false
            }
            #expect(try await one.ask(.post, "\(draft)/save", json: #"{"name":"again"}"#).status == 200)
            try await BoundedWait.poll(for: "the document") {
                try await other.get("/v1/pdf/documents").strings("name", in: "data.items") == ["again", "Report"]
            }
            #expect(try await other.paper(draft) == ["jpeg two 0"])
        }
    }

    /// Has the store end the connection of each client that inserts such a row.
    private func kill(_ table: String, when condition: String, deferred: Bool, _ shared: ClusterAccess) async throws {
        let kind = deferred ? "CONSTRAINT TRIGGER" : "TRIGGER"
        let moment = deferred ? "DEFERRABLE INITIALLY DEFERRED" : ""
        try await shared.execute(
            """
            CREATE OR REPLACE FUNCTION end_connection() RETURNS trigger LANGUAGE plpgsql AS
            'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN new; END'
            """,
            """
            CREATE \(kind) killed AFTER INSERT ON \(table) \(moment)
            FOR EACH ROW WHEN (\(condition)) EXECUTE FUNCTION end_connection()
            """
        )
    }

    @Test(
        "PDF-13 A connection that ends in a write leaves nothing: among the parts, with the document, in the commit",
        arguments: [
            ("content_part", "new.number = 3", false), ("journal", "true", false), ("journal", "true", true),
        ]
    )
    func killed(table: String, condition: String, deferred: Bool) async throws {
        try await run { one, other, shared in
            let bytes = Data(repeating: 1, count: 5 << 20)
            let bystander = try await one.insert(bytes, name: "bystander")
            try await kill(table, when: condition, deferred: deferred, shared)
            let error = await #expect(throws: ClusterError.self) { try await one.insert(bytes, name: "lost") }
            #expect(error == .unavailable(.connectionLost))
            #expect(try await shared.contentCounts() == [1, 5])
            #expect(try one.blobFiles == 1)
            #expect(try one.documents.usage(profile: "local").bytes == bytes.count + 4096)
            try await shared.execute("DROP TRIGGER killed ON \(table)")
            _ = try await one.insert(bytes, name: "kept")
            #expect(try await other.get("\(one.href(bystander))/file").body == bytes)
            #expect(try await shared.contentCounts() == [2, 10])
        }
    }

    @Test("What a refused change has stored is removed: no room, a wrong version, too many pages at once")
    func refused() async throws {
        try await run { one, other, shared in
            let document = try await one.insert(Data(repeating: 3, count: 2 << 20), name: "first")
            let file = try one.stage(Data(repeating: 4, count: 3 << 20))
            await #expect(throws: Problem.self) {
                _ = try await one.documents.replace(
                    document,
                    file: file,
                    pages: document.pages,
                    draftUntil: one.clock.now,
                    effect: .addition,
                    one.history(quota: StorageQuota(bytes: 2 << 20, of: .account))
                )
            }
            #expect(try await shared.contentCounts() == [1, 2])
            let now = one.clock.now
            let saved = try await other.documents.save(document, name: "other", file: nil, isSaved: true, one.history())
            let late = try one.stage(Data(repeating: 4, count: 3 << 20))
            await #expect(throws: DocumentStore.Gone.self) {
                let name = "late"
                _ = try await one.documents.save(document, name: name, file: late, isSaved: true, one.history())
            }
            await #expect(throws: (any Error).self) {
                try await one.insert(Data("%PDF".utf8), name: "x", pages: 20_001)
            }
            #expect(try await shared.contentCounts() == [1, 2])
            #expect(try one.blobFiles == 1)
            #expect(try one.documents.document(document.id, profile: "local", at: now) == saved.document)
        }
    }

    @Test("Documents with the most pages are inserted, changed and purged by changes that the journal takes")
    func manyPages() async throws {
        try await run { one, other, shared in
            /// The bytes of the last row of the journal.
            func last() async throws -> Int {
                let sql = "SELECT octet_length(changeset) AS bytes FROM journal ORDER BY number DESC LIMIT 1"
                return try await shared.database.rows(sql) { try $0.value("bytes") as Int }[0]
            }
            let document = try await one.insert(Data("%PDF 1".utf8), name: "1", pages: 500)
            #expect(try await other.pages(one.href(document)).count == 500)
            // 20,000 pages are the most that are inserted by one change, and 5000 that are changed with a version;
            // 30,000 are purged with those of versions. The document and its versions have 3000.
            let most = 4 << 20
            #expect(try await last() * 40 < most)
            var replaced = document
            // The last change also removes the oldest version.
            for number in 2...8 {
                replaced = try await one.documents.replace(
                    replaced,
                    file: try one.stage(Data("%PDF \(number)".utf8)),
                    pages: replaced.pages.reversed().map { $0.turned(by: 90) },
                    draftUntil: one.clock.now,
                    effect: .change,
                    one.history()
                ).document
                #expect(try await last() * 10 < most)
            }
            #expect(try await other.get(one.href(document))["data.page_count"] == 500)
            #expect(replaced.version == 8)
            let count = try one.database.integer("SELECT count(*) FROM pdf_version")
            #expect([4, 5].contains(count ?? 0), "those of 256 KiB")
            #expect(try await other.ask(.delete, "\(one.href(document))?permanently=true").status == 200)
            #expect(try await last() * 10 < most)
            _ = try await one.get("/v1/pdf/documents")
            for app in [one, other] {
                #expect(try app.database.integer("SELECT count(*) FROM pdf_page") == 0)
            }
        }
    }

    @Test("The documents of an archive are those that are saved, with the numbers of their pages and their files")
    func archive() async throws {
        try await run { one, other, _ in
            let bytes = Data(repeating: 5, count: 3 << 20)
            _ = try await one.insert(bytes, name: "large")
            _ = try await one.saved("one", name: "Small")
            _ = try await other.documents.catchUp()
            let listed = try other.documents.savedDocuments(profile: "local")
            #expect(listed.map(\.document.name) == ["Small", "large"] && listed.map(\.pageCount) == [1, 1])
            #expect(try other.documents.savedDocuments(profile: "other").isEmpty)
            #expect(try await other.documents.content(of: listed[1].document).length == bytes.count)
        }
    }
}

extension PDFHarness {
    /// Number of pictures of pages on this server.
    fileprivate var thumbnails: Int {
        get throws { try database.integer("SELECT count(*) FROM pdf_thumbnail") ?? 0 }
    }
}

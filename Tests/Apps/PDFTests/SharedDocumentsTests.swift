import AppInterface
import Foundation
import HTTPTypes
import Screens
import SharedStore
import TestKit
import Testing

@testable import PDF

/// Documents of several servers: what happens at the same time, and what is left when one of them ends.
@Suite(.timeLimit(.minutes(5))) struct SharedDocumentsTests {
    /// Runs a test against two servers of one store.
    private func run(
        _ test: @escaping @Sendable (_ one: PDFHarness, _ other: PDFHarness, SharedStoreAccess) async throws -> Void
    ) async throws {
        let shared = try #require(try await StoreKind.postgresql.shared())
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

    @Test("SCALE-02 What one server has made is listed, changed, deleted and restored on another")
    func elsewhere() async throws {
        try await run { one, other, shared in
            let href = try await one.saved("one", "two", name: "Report")
            #expect(try await other.listed() == [String(href.suffix(16))])
            #expect(try await other.get("/v1/pdf/documents?q=epor")["meta.page.total"] == 1)
            #expect(try await other.get("\(href)/thumbnail").text == "jpeg one 0 at 320")
            #expect(try await one.get("\(href)/thumbnail").text == "jpeg one 0 at 320")
            let tag = try #require(try await other.get(href).headerFields[.eTag])
            #expect(try await other.ask(.patch, href, [.ifMatch: tag], json: #"{"name":"x"}"#).status == 200)
            try await one.ask(.delete, href, [.ifMatch: tag]).expectProblem("precondition-failed", 412)
            #expect(try await one.ask(.delete, href).status == 200)
            try await other.get(href).expectProblem("not-found", 404)
            #expect(try await other.ask(.post, "/v1/pdf/trash/\(href.suffix(16))/restore").status == 200)
            #expect(try await one.paper(href) == ["jpeg one 0", "jpeg two 0"])
            #expect(try await one.ask(.delete, "\(href)?permanently=true").status == 200)
            #expect(try one.thumbnails == 0, "a picture of a deleted page goes at once where it is deleted")
            #expect(try other.thumbnails == 1)
            guard case .shared(let documents) = other.app.storage else { return }
            #expect(try await documents.removeThumbnails() == 1, "and soon after everywhere")
            #expect(try other.thumbnails == 0)
            // Those of the draft and of the former name stay a while, for those who read them.
            _ = try await documents.removeContents(unusedFor: .zero)
            #expect(try await shared.rowCounts() == [0, 0, 0, 0])
        }
    }

    /// Has the store end the connection of whoever inserts such a row.
    private func kill(_ table: String, when condition: String, deferred: Bool = false, _ shared: SharedStoreAccess)
        async throws
    {
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
            ("pdf_content_part", "new.number = 3", false), ("pdf_page", "true", false), ("pdf_page", "true", true),
        ]
    )
    func killed(table: String, condition: String, deferred: Bool) async throws {
        try await run { one, _, shared in
            let bytes = Data(repeating: 1, count: 5 << 20)
            let bystander = try await one.insert(bytes, name: "bystander")
            try await kill(table, when: condition, deferred: deferred, shared)
            let error = await #expect(throws: SharedStoreError.self) { try await one.insert(bytes, name: "lost") }
            #expect(error == (deferred ? .outcomeUnknown : .unavailable(.connectionLost)))
            #expect(try await shared.rowCounts() == [1, 5, 1, 1])
            #expect(try await one.documents.usage(profile: "local").bytes == bytes.count + 4096)
            try await shared.execute("DROP TRIGGER killed ON \(table)")
            _ = try await one.insert(bytes, name: "kept")
            #expect(try await one.get("\(one.href(bystander))/file").body == bytes)
            #expect(try await shared.rowCounts() == [2, 10, 2, 2])
        }
    }

    @Test("PDF-13 What a killed server has stored of a file is removed by another one, once nobody can be storing it")
    func swept() async throws {
        try await run { _, other, shared in
            let kept = try await other.insert(Data(repeating: 2, count: 40 << 20), name: "kept")
            try await shared.execute(
                "INSERT INTO pdf_content (id, length) VALUES ('00000000000000aa', 3000000)",
                "INSERT INTO pdf_content_part SELECT '00000000000000aa', n, '\\x00' FROM generate_series(0, 40) AS n"
            )
            guard case .shared(let documents) = other.app.storage else { return }
            #expect(try await documents.removeContents() == 0, "it may be under way")
            #expect(try await shared.rowCounts() == [2, 81, 1, 1])
            try await shared.execute(
                "UPDATE pdf_content SET unused = now() - interval '11 minutes' WHERE unused < now()"
            )
            #expect(try await documents.removeContents() == 1)
            #expect(try await shared.rowCounts() == [1, 40, 1, 1])
            #expect(try await other.get("\(other.href(kept))/file").body.count == 40 << 20)
        }
    }

    @Test("What a refused change has stored is removed: no room, a wrong version, a document that is gone")
    func refused() async throws {
        try await run { one, other, shared in
            let document = try await one.insert(Data(repeating: 3, count: 2 << 20), name: "first")
            let file = try one.stage(Data(repeating: 4, count: 3 << 20))
            await #expect(throws: Problem.self) {
                _ = try await one.documents.replace(
                    document,
                    file: file,
                    pages: document.pages,
                    profile: "local",
                    draftUntil: one.clock.now,
                    quota: StorageQuota(bytes: 2 << 20, of: .account)
                )
            }
            #expect(try await shared.rowCounts() == [1, 2, 1, 1])
            let now = one.clock.now
            let saved = try await other.documents.save(
                document,
                name: "other",
                file: nil,
                isSaved: true,
                profile: "local",
                at: now
            )
            await #expect(throws: DocumentStore.Gone.self) {
                let file = try one.stage(Data(repeating: 4, count: 3 << 20))
                _ = try await one.documents.save(
                    document,
                    name: "late",
                    file: file,
                    isSaved: true,
                    profile: "local",
                    at: now
                )
            }
            #expect(try await shared.rowCounts() == [1, 2, 1, 1])
            #expect(try await one.documents.document(document.id, profile: "local", at: now) == saved.document)
        }
    }

    @Test("The documents of an archive are those that are saved, with the numbers of their pages")
    func archive() async throws {
        try await run { one, _, _ in
            let bytes = Data(repeating: 5, count: 3 << 20)
            _ = try await one.insert(bytes, name: "large")
            _ = try await one.saved("one", name: "Small")
            guard case .shared(let documents) = one.app.storage else { return }
            let listed = try await documents.savedDocuments(profile: "local")
            #expect(listed.map(\.document.name) == ["Small", "large"] && listed.map(\.pageCount) == [1, 1])
            #expect(try await documents.savedDocuments(profile: "other").isEmpty)
        }
    }
}

extension PDFHarness {
    /// Number of pictures of pages on this server.
    fileprivate var thumbnails: Int {
        get throws { try ThumbnailStore(database: database).contents(after: "", limit: 1000).count }
    }
}

import Foundation
import GRDB
import HTTPTypes
import Screens
import Storage
import TestKit
import Testing

@testable import PDF

@Suite("Pages of documents") struct DocumentStoreListTests {
    private struct Undone: Error {}

    @Test("PDF-07 pages by key: each document once, whatever is saved and deleted between two pages")
    func keys() async throws {
        try await PDFHarness.run { app in
            var all: [String] = []
            for number in 0..<12 {
                all.insert(try await app.saved("\(number)"), at: 0)
                // Documents of one instant are ordered by their sequence.
                if number.isMultiple(of: 3) { app.clock.advance(by: .seconds(1)) }
            }
            var (seen, deleted, target) = ([String](), Set<String>(), String?.some("/v1/pdf/documents?limit=2"))
            while let path = target {
                let page = try await app.get(path)
                #expect(page.status == 200, "\(page.text)")
                let shown = page.strings("href", in: "data.items")
                #expect(shown.count == 2 || page["meta.page.has_more"] == false)
                seen += shown
                target = page["links.next"] == .null ? nil : try page.string("links.next")
                // Deletes the last one of the page and the next one, and adds one before all.
                for href in [shown.last, all.first { !seen.contains($0) && !deleted.contains($0) }].compactMap(\.self)
                where deleted.count < 5 {
                    _ = try await app.ask(.delete, href)
                    deleted.insert(href)
                }
                _ = try await app.saved("new")
                #expect(path.contains("cursor") == (page["meta.page.offset"] == .null))
            }
            #expect(seen == all.filter { seen.contains($0) }, "in order, each once")
            #expect(Set(seen).union(deleted) == Set(all), "what is not seen was deleted before")
        }
    }

    @Test("PDF-07 a cursor page is the page at its offset; with both, or one of another list, it is 400")
    func cursor() async throws {
        try await PDFHarness.run { app in
            for text in ["a", "b", "c"] { _ = try await app.saved(text) }
            let first = try await app.get("/v1/pdf/documents?limit=1")
            #expect(first["meta.page.next_offset"] == 1 && first["meta.page.total"] == 3)
            let next = try first.string("links.next")
            let second = try await app.get(next)
            let byOffset = try await app.get("/v1/pdf/documents?limit=1&offset=1")
            #expect(second["data"] == byOffset["data"] && second["data"] != first["data"])
            #expect(second["meta.page.total"] == 3 && second["links.self"] == .string(next))
            let forged = PagedList("ships.list", key: [.integer, .integer]).cursor(after: [.integer(1), .integer(1)])
            for query in ["&offset=1", "&cursor=x"] {
                try await app.get(next + query).expectProblem("invalid-parameter", 400)
            }
            try await app.get("/v1/pdf/documents?cursor=\(forged)").expectProblem("invalid-parameter", 400)
            let other = try await app.get(next, [.larderProfile: "other"])
            #expect(other["data.items"] == [], "a cursor opens no other profile's list")
        }
    }

    @Test("PDF-07 a search is paged by key, too, and its cursor fits no other search")
    func search() async throws {
        try await PDFHarness.run { app in
            for number in 0..<9 { _ = try await app.saved("\(number)", name: number % 2 == 0 ? "Red" : "Blue") }
            let all = try await app.get("/v1/pdf/documents?q=red").strings("id", in: "data.items")
            var (seen, target) = ([String](), String?.some("/v1/pdf/documents?q=RED&limit=2"))
            while let path = target {
                let page = try await app.get(path)
                seen += page.strings("id", in: "data.items")
                #expect(page["meta.page.total"] == 5)
                target = page["links.next"] == .null ? nil : try page.string("links.next")
            }
            #expect(seen == all && all.count == 5)
            let next = try await app.get("/v1/pdf/documents?q=red&limit=2").string("links.next")
            for other in ["q=blue", "q="] {
                let foreign = next.replacing("q=red", with: other)
                try await app.get(foreign).expectProblem("invalid-parameter", 400)
            }
            _ = try await app.ask(.delete, "/v1/pdf/documents/\(all[1])")
            #expect(try await app.get(next).strings("id", in: "data.items") == Array(all[2..<4]))
        }
    }

    @Test("TRUST-02 what is counted stays what COUNT(*) says, through random changes and those that are undone")
    func counts() async throws {
        try await PDFHarness.run { app in
            var random = SeededRandom(seed: 90)
            var documents: [(href: String, profile: String)] = []
            for step in 0..<150 {
                let profile = Bool.random(using: &random) ? "one" : "two"
                let some = documents.randomElement(using: &random)
                let fields: HTTPFields = [.larderProfile: some?.profile ?? profile]
                switch (Int.random(in: 0..<11, using: &random), some) {
                case (0...2, _), (_, nil):
                    let photos = (0...Int.random(in: 0..<4, using: &random)).map { "\(step) \($0)" }
                    documents.append((try await app.draft(of: photos, profile: profile), profile))
                case (3...4, let some?): _ = try await app.ask(.post, "\(some.href)/save", fields, json: "{}")
                case (5, let some?): _ = try await app.ask(.delete, some.href, fields)
                case (6, let some?):
                    let page = try await app.get(some.href, fields).strings("id", in: "data.pages").first
                    _ = try await app.ask(.delete, "\(some.href)/pages/\(page ?? "none")", fields)
                case (7, let some?):
                    _ = try await app.ask(.post, "/v1/pdf/trash/\(some.href.suffix(16))/restore", fields)
                case (8, _): _ = try await app.ask(.delete, "/v1/pdf/trash", fields)
                case (9, _):
                    app.clock.advance(by: .seconds(20_000))
                    _ = try await app.documents.purgeDrafts(at: app.clock.now)
                default:
                    await #expect(throws: Undone.self) {
                        try await app.database.write { db in
                            try db.execute(sql: "UPDATE pdf_document SET draft_until = NULL")
                            try db.execute(sql: "DELETE FROM pdf_document WHERE sequence % 2 = 0")
                            throw Undone()
                        }
                    }
                }
                try app.expectCounted("\(step)")
            }
            #expect(try await app.get("/v1/pdf/documents", [.larderProfile: "one"])["meta.page.total"] != 0)
        }
    }

    @Test("Documents of an earlier version keep numbers, files and counts when their table is written again")
    func rewritten() async throws {
        let directory = try DataDirectory.temporary()
        do {
            let earlier = try LarderDatabase.withCacheTables(
                in: directory,
                migrations: SessionStore.migrations + DocumentStore.migrations.prefix(6),
                logger: .quiet
            )
            let blobs = earlier.blobs
            try await earlier.write { db in
                for number in 1...3 {
                    let blob = try blobs.write(Data("%PDF \(number)".utf8))
                    try blobs.insert(blob, in: db)
                    try db.execute(
                        sql: """
                            INSERT INTO pdf_document (id, profile, name, folded, created, blob_id, length, page_count)
                            VALUES (?, 'local', ?, ?, ?, ?, ?, 1)
                            """,
                        arguments: [
                            "000000000000000\(number)", "n\(number)", "n\(number)", number, blob.id, blob.length,
                        ]
                    )
                    let page = "INSERT INTO pdf_page VALUES (?, 1, 'p', 'text', 1, 1, 0, ?)"
                    try db.execute(sql: page, arguments: [db.lastInsertedRowID, "c\(number)"])
                }
                try db.execute(sql: "UPDATE pdf_document SET trashed = 9 WHERE sequence = 2")
                try db.execute(sql: "DELETE FROM pdf_document WHERE sequence = 3")
            }
        }
        try await PDFHarness.run(directory: directory) { app in
            try app.expectCounted("after the migration")
            #expect(try await app.get("/v1/pdf/documents/0000000000000001/file").text == "%PDF 1")
            #expect(try await app.get("/v1/pdf/trash").strings("name", in: "data.items") == ["n2"])
            let next = try await app.insert(Data("%PDF 4".utf8), name: "n4")
            #expect(next.sequence == 4, "the number of a deleted document is not given again")
            #expect(try await app.ask(.delete, "/v1/pdf/trash")["data.removed"] == 1)
            #expect(try await app.ask(.delete, "/v1/pdf/documents/0000000000000001?permanently=1").status == 200)
            try app.expectCounted("after changes")
            #expect(try app.blobFiles == 1)
        }
    }

    @Test("Documents of an earlier version are counted when the database is opened")
    func earlier() async throws {
        let directory = try DataDirectory.temporary()
        try await PDFHarness.run(directory: directory) { app in
            _ = (try await app.saved("one"), try await app.saved("two", "three"), try await app.draft("four"))
            try await app.database.write { db in
                try db.execute(sql: "UPDATE pdf_profile SET saved = 0; UPDATE pdf_document SET page_count = 0")
                let migration = try #require(DocumentStore.migrations.first { $0.name.hasPrefix("pdf/003") })
                try db.execute(
                    sql: """
                        DROP TRIGGER pdf_document_inserted; DROP TRIGGER pdf_document_saved;
                        DROP TRIGGER pdf_document_removed; DROP TRIGGER pdf_document_trashed;
                        DROP TRIGGER pdf_document_restored;
                        ALTER TABLE pdf_profile DROP COLUMN saved; ALTER TABLE pdf_document DROP COLUMN page_count;
                        """
                )
                try migration.migrate(db)
            }
            try app.expectCounted("after the migration")
            #expect(try await app.get("/v1/pdf/documents")["meta.page.total"] == 2)
        }
    }
}

extension PDFHarness {
    /// Expects that the stored numbers of documents are those of the rows.
    func expectCounted(_ comment: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let wrong = try database.read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT profile, saved FROM pdf_profile WHERE saved <> (
                        SELECT count(*) FROM pdf_document
                        WHERE pdf_document.profile = pdf_profile.profile AND draft_until IS NULL AND trashed IS NULL
                    )
                    UNION ALL
                    SELECT profile, trashed FROM pdf_profile WHERE trashed <> (
                        SELECT count(*) FROM pdf_document
                        WHERE pdf_document.profile = pdf_profile.profile AND trashed IS NOT NULL
                    )
                    UNION ALL
                    SELECT profile, count(*) FROM pdf_document
                    WHERE draft_until IS NULL AND profile NOT IN (SELECT profile FROM pdf_profile)
                    GROUP BY profile
                    UNION ALL
                    SELECT id, page_count FROM pdf_document
                    WHERE page_count <> (SELECT count(*) FROM pdf_page WHERE document = sequence)
                    """
            )
        }
        #expect(wrong.isEmpty, "\(comment): \(wrong)", sourceLocation: sourceLocation)
    }
}

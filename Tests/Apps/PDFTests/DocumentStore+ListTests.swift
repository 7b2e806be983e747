import Foundation
import GRDB
import HTTPTypes
import Logging
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

@Suite struct DocumentSearchTests {
    @Test("PDF-17 documents are found by words of their names, in any case, newest first, page by page")
    func found() async throws {
        try await PDFHarness.run { app in
            for name in ["Passport Anna", "Visa", "Паспорт Иван", "passport Boris", "Pass"] {
                _ = try await app.saved("one", name: name)
            }
            _ = try await app.draft("passport draft")
            func names(_ query: String) async throws -> [String] {
                try await app.get("/v1/pdf/documents?\(query)").strings("name", in: "data.items")
            }
            #expect(try await names("q=passport") == ["passport Boris", "Passport Anna"])
            #expect(try await names("q=anna+PASS") == ["Passport Anna"])
            #expect(try await names("q=%D0%BF%D0%B0%D1%81%D0%BF%D0%BE%D1%80%D1%82") == ["Паспорт Иван"])
            #expect(try await names("q=+").count == 5)
            let page = try await app.get("/v1/pdf/documents?q=pass&limit=2&offset=1")
            #expect(page.strings("name", in: "data.items") == ["passport Boris", "Passport Anna"])
            #expect(page["meta.page.total"] == 3 && page["meta.page.has_more"] == false)
            #expect(page["data.items.0.actions.3.enabled"] == true, "there are others to merge it with")
        }
    }

    @Test(
        "PDF-17 case is folded fully, and width",
        arguments: [
            ("strasse", "Straße 12"), ("STRASSE", "Straße 12"), ("σίσυφος", "ΣΊΣΥΦΟΣ"), ("full", "Ｆｕｌｌ"),
            ("🎉", "Fest 🎉"), ("👍", "👍🏽 ok"), ("👨", "👨‍👩‍👧 fam"), ("ภาษาที", "ภาษาที่"), ("हिन", "हिन्दी"),
        ]
    )
    func folded(question: String, name: String) async throws {
        try await PDFHarness.run { app in
            _ = try await app.saved("one", name: name)
            let query = question.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            let response = try await app.get("/v1/pdf/documents?q=\(query)")
            #expect(response.strings("name", in: "data.items") == [name])
        }
    }

    @Test("ONE-08 a search that finds no name looks for other words, and the screen says by which")
    func variants() async throws {
        try await PDFHarness.run { app in
            for name in ["Passport Anna", "Счёт за лампы", "Contract 2025"] {
                _ = try await app.saved("one", name: name)
            }
            for (text, name, used) in [
                ("pasport", "Passport Anna", "typo"), ("contracts 2025", "Contract 2025", "stem"),
                ("лампу", "Счёт за лампы", "stem"), ("schet", "Счёт за лампы", "transliteration"),
                ("рфззщке", nil, nil), ("зфыызщке", "Passport Anna", "layout"), ("visa", nil, nil),
            ] as [(String, String?, String?)] {
                let query = text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
                let response = try await app.get("/v1/pdf/documents?q=\(query)")
                #expect(response.strings("name", in: "data.items") == (name.map { [$0] } ?? []), "\(text)")
                #expect(response["meta.search.used"] == used.map { .array([.string($0)]) }, "\(text)")
            }
            let other = try await app.get("/v1/pdf/documents?q=pasport", [.larderProfile: "other"])
            #expect(other["meta.page.total"] == 0)
        }
    }

    @Test("PDF-22 the lists and the reader have their times in the time zone tz") func timeZone() async throws {
        try await PDFHarness.run { app in
            let href = try await app.saved("one", name: "Passport")
            let draft = try await app.draft("two")
            let zone = "tz=Asia/Kolkata"
            let list = try await app.get("/v1/pdf/documents?\(zone)")
            #expect(try list.string("data.items.0.created_text").contains("January 2026, 15:3"))
            #expect(try list.string("links.self").contains("Kolkata"))
            let reader = try await app.get("\(draft)?\(zone)")
            #expect(try reader.string("data.created_text").contains("January 2026, 15:3"))
            #expect(try reader.string("data.draft_until_text").contains("January 2026, 15:3"))
            _ = try await app.ask(.delete, href)
            let trash = try await app.get("/v1/pdf/trash?\(zone)")
            #expect(try trash.string("data.items.0.deleted_text").contains("January 2026, 15:3"))
            #expect(try await app.get("/v1/pdf/documents?tz=Nowhere").status == 400)
        }
    }

    @Test("PDF-17 what is found follows each change of a name, and of what is saved") func changes() async throws {
        try await PDFHarness.run { app in
            func total(_ query: String) async throws -> JSON? {
                try await app.get("/v1/pdf/documents?q=\(query)")["meta.page.total"]
            }
            let href = try await app.saved("one", name: "Passport")
            let draft = try await app.draft("two")
            _ = try await app.ask(.patch, draft, json: #"{"name":"Passport draft"}"#)
            #expect(try await total("passport") == 1)
            _ = try await app.ask(.patch, href, json: #"{"name":"Visa"}"#)
            #expect(try await total("passport") == 0)
            #expect(try await total("visa") == 1)
            #expect(try await total("isa") == 1)
            _ = try await app.ask(.post, "\(draft)/save", json: "{}")
            #expect(try await total("passport") == 1)
            _ = try await app.ask(.delete, href)
            #expect(try await total("visa") == 0)
            let other = try await app.get("/v1/pdf/documents?q=passport", [.larderProfile: "other"])
            #expect(other["meta.page.total"] == 0)
        }
    }

    @Test("PDF-17 names of an earlier version are found") func earlier() async throws {
        try await PDFHarness.run { app in
            _ = try await app.saved("one", name: "Straße 12 🇩🇪")
            _ = try await app.draft("two")
            try await app.database.write { db in
                try db.execute(sql: "DROP TABLE pdf_term; ALTER TABLE pdf_document DROP COLUMN folded")
                let migration = try #require(DocumentStore.migrations.first { $0.name.hasPrefix("pdf/004") })
                try migration.migrate(db)
            }
            for (query, total) in [("strasse", 1), ("12", 1), ("%F0%9F%87%A9%F0%9F%87%AA", 1), ("%F0%9F%87%A9", 0)] {
                let found = try await app.get("/v1/pdf/documents?q=\(query)")
                #expect(found["meta.page.total"] == .number(Double(total)), "\(query)")
            }
        }
    }

    @Test("PDF-17 a search that finds nothing says so") func nothing() async throws {
        try await PDFHarness.run { app in
            _ = try await app.saved("one", name: "Visa")
            let response = try await app.get("/v1/pdf/documents?q=passport")
            #expect(response["meta.state"] == "empty" && response["data.empty.title"] == "Nothing found")
            try await app.get("/v1/pdf/documents?q=a&q=b").expectProblem("invalid-parameter", 400)
        }
    }
}

/// Searches and the documents that a person expects of them.
@Suite("The graded list of the search of documents") struct GradedDocumentSearchTests {
    private static let names = [
        "Passport Anna", "Passport Boris", "Счёт за лампы", "Договор аренды", "Contract 2025", "Contracts archive",
        "Résumé", "Straße und Haus", "Invoice №12", "Рецепт врача", "Лекции по физике", "Driver's licence",
        "Document 2026-11-21 04-25", "Ёлочные игрушки", "tax return", "Медицинская справка", "T-shirt receipt",
        "Warranty washing machine",
    ]
    private static let queries: [(text: String, expected: [String], used: [String])] = [
        ("passport", ["Passport Anna", "Passport Boris"], []), ("anna passport", ["Passport Anna"], []),
        ("pass", ["Passport Anna", "Passport Boris"], []), ("счет", ["Счёт за лампы"], []),
        ("resume", ["Résumé"], []), ("strasse", ["Straße und Haus"], []), ("12", ["Invoice №12"], []),
        ("2026-11", ["Document 2026-11-21 04-25"], []), ("елочные", ["Ёлочные игрушки"], []),
        ("licence", ["Driver's licence"], []), ("shirt", ["T-shirt receipt"], []),
        ("return tax", ["tax return"], []), ("contract", ["Contract 2025", "Contracts archive"], []),
        ("washing warranty", ["Warranty washing machine"], []),
        ("contracts 2025", ["Contract 2025"], ["stem"]), ("лампу", ["Счёт за лампы"], ["stem"]),
        ("договоры", ["Договор аренды"], ["stem"]), ("рецепты", ["Рецепт врача"], ["stem"]),
        ("лекция", ["Лекции по физике"], ["stem"]), ("invoices", ["Invoice №12"], ["stem"]),
        ("справки", ["Медицинская справка"], ["stem"]), ("receipts", ["T-shirt receipt"], ["stem"]),
        ("pasport", ["Passport Anna", "Passport Boris"], ["typo"]), ("invioce", ["Invoice №12"], ["typo"]),
        ("договр", ["Договор аренды"], ["typo"]), ("warrenty", ["Warranty washing machine"], ["typo"]),
        ("игрушкы", ["Ёлочные игрушки"], ["typo"]), ("tshirt", ["T-shirt receipt"], ["typo"]),
        ("dogovor", ["Договор аренды"], ["transliteration"]), ("schet", ["Счёт за лампы"], ["transliteration"]),
        ("зфыызщке", ["Passport Anna"], ["layout"]), ("ljujdjh", ["Договор аренды"], ["layout"]),
    ]

    @Test("ONE-08 at least 90 % of the expected documents are found, and the screen says by what")
    func graded() async throws {
        try await PDFHarness.run { app in
            for name in Self.names { _ = try await app.saved("one", name: name) }
            var (found, expected, said, lines) = (0, 0, 0, "")
            for query in Self.queries {
                let text = query.text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
                let response = try await app.get("/v1/pdf/documents?q=\(text)")
                let names = response.strings("name", in: "data.items")
                let hits = query.expected.filter(names.contains)
                (found, expected) = (found + hits.count, expected + query.expected.count)
                let used = (response["meta.search.used"]?.elements ?? []).compactMap(\.string)
                said += used == query.used ? 1 : 0
                if hits.count < query.expected.count || used != query.used {
                    lines += "\(query.text): \(names) \(used)\n"
                }
            }
            print("pdf: \(found) of \(expected)\n\(lines)")
            #expect(found * 10 >= expected * 9)
            #expect(said * 10 >= Self.queries.count * 9, "said \(said) of \(Self.queries.count)")
        }
    }
}

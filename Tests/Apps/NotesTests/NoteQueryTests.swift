import Foundation
import GRDB
import HTTP
import HTTPTypes
import Screens
import Storage
import TestKit
import Testing

@testable import Notes

@Suite("Phrases, exclusions and passages in notes", .timeLimit(.minutes(10)))
struct NoteQueryTests {
    private static let bodies = [
        "a dog outside", "outside, a dog", "dogs and a cat", "Счёт №777888", "ﾗｰﾒﾝ 東京都庁",
        "a cat\nfirst\nthe needle is here",
    ]

    private static func found(_ question: String, _ app: NotesHarness, _ token: String, _ more: String = "")
        async throws
        -> Exchanged
    {
        let query = question.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        return try await app.get("/v1/notes?q=\(query)\(more)", as: token)
    }

    @Test(
        "NOTE-15 Phrases, exclusions and parts of signs find what they say",
        arguments: [
            ("\"a dog\"", [0, 1]), ("\"dog outside\"", [0]), ("“DOG, outside”", [0]), ("\"dog out\"", []),
            ("\"dog out", [0]),
            ("dog -outside", []), ("do -outside", []), ("dogs -outside", [2]), ("cat -dogs", [5]),
            ("cat -\"the needle\"", [2]),
            ("-cat -dog", [3, 4]), ("-東京", [0, 1, 2, 3, 5]), ("-東京都庁", [0, 1, 2, 3, 5]), ("777888", [3]),
            ("№777888", [3]),
            ("-777888 -cat -dog", [4]), ("a \"dog outside\" -cat", [0]), ("\"\"", []), ("- dog", [0, 1, 2]), ("--", []),
            ("\"東京 都庁\"", []), ("\"東京都\"", [4]), ("e-mail", []),
        ]
    )
    func finds(question: String, expected: [Int]) async throws {
        try await NotesHarness.run { app, token in
            for body in Self.bodies { try await app.add(body.replacing("\n", with: "\\n"), as: token) }
            let response = try await Self.found(question, app, token)
            let ids = expected.reversed().map { JSON.string("n\($0 + 1)") }
            #expect(response.all("id", in: "data.items") == ids, "\(question)")
            #expect(response["meta.page.total"] == .number(Double(expected.count)))
        }
    }

    @Test("NOTE-15 A row shows the passage of its hit, not the first line; without a search there is none")
    func passages() async throws {
        try await NotesHarness.run { app, token in
            try await app.add("first\\n\(String(repeating: "more words ", count: 30))\\nthe Needle is here", as: token)
            try await app.add("nothing", #"{"lat":1,"lon":1,"name":"Needle Bay"}"#, as: token)
            let response = try await Self.found("\"needle is\" he", app, token)
            #expect(response["data.items.0.first_line"] == "first")
            let parts = response.all("text", in: "data.items.0.passage")
            #expect(parts.contains("Needle") && parts.contains("he") && parts.first == "…", "\(parts)")
            #expect(response.all("hit", in: "data.items.0.passage").count { $0 == .bool(true) } == 3)
            // That of a place has the name of the place.
            let both = try await Self.found("needle", app, token)
            #expect(both["data.items.0.passage"] == nil && both["data.items.1.passage"] != nil)
            #expect(try await app.get("/v1/notes", as: token)["data.items.1.passage"] == nil)
        }
    }

    @Test("NOTE-15 Pages of a search with phrases and exclusions follow their cursor, and keep to the account")
    func pages() async throws {
        try await NotesHarness.run { app in
            let (token, eve) = (try await app.register(), try await app.register("eve"))
            for number in 1...6 { try await app.add(number == 3 ? "a cat, a dog" : "a dog \(number)", as: token) }
            try await app.add("a dog of eve", as: eve)
            for question in ["\"a dog\" -cat", "-cat"] {
                let first = try await Self.found(question, app, token, "&limit=3")
                #expect(first.all("id", in: "data.items") == ["n6", "n5", "n4"] && first["meta.page.total"] == 5)
                let next = try first.string("links.next")
                let second = try await app.get(next, as: token)
                #expect(second.all("id", in: "data.items") == ["n2", "n1"] && second["links.next"] == .null)
                try await app.get(next.replacing("cat", with: "cow"), as: token)
                    .expectProblem("invalid-parameter", 400)
                #expect(try await Self.found(question, app, eve)["meta.page.total"] == 1)
            }
        }
    }

    @Test("NOTE-15 Notes that an earlier version has stored are found by parts of signs after the update")
    func earlier() async throws {
        try await NotesHarness.run { app, token in
            try await app.add("Счёт №777888", as: token)
            try await app.database.write { db in
                try NoteStore.terms.deleteAll(db)
                try NoteStore.migrations.first { $0.name == "notes/014 parts of signs" }?.migrate(db)
            }
            try await NoteIndex.expectExact(in: app.database)
            #expect(try await Self.found("777888", app, token)["meta.page.total"] == 1)
        }
    }

    @Test("NOTE-15 A search with exclusions reads the index in its order, and one of exclusions alone the notes")
    func plans() throws {
        let database = try LarderDatabase.temporary(migrations: NoteStore.migrations)
        let plan = { (question: String) in
            try QueryPlan(NoteStore.selectHits(NoteQuery(question)), in: database).steps
        }
        let found = try plan("\"a dog\" -cat")
        #expect(found.first?.hasPrefix("SCAN note_term VIRTUAL TABLE INDEX") == true, "\(found)")
        #expect(found.contains("SEARCH note USING INDEX note_by_revision (account=? AND revision=?)"), "\(found)")
        let others = try plan("-cat")
        #expect(others.first == "SEARCH note USING COVERING INDEX note_by_revision (account=?)", "\(others)")
        #expect(!(found + others).contains { $0.contains("TEMP B-TREE") })
    }
}

@Suite("Searches of notes by other words")
struct NoteVariantsTests {
    private static func encoded(_ text: String) -> String { PercentEncoding.encode(text, allowed: .unreserved) }

    @Test("ONE-08 notes that lack the words are found by others, page by page, and the screen says by which")
    func variants() async throws {
        try await NotesHarness.run { app in
            let (token, other) = (try await app.register(), try await app.register("eve"))
            let bodies = ["Купить лампу в спальню", "Running shoes for the park", "Лампы и кроссовки", "a dog outside"]
            for body in bodies { try await app.add(body, as: token) }
            try await app.add("лампада", as: other)
            for (text, lines, used) in [
                ("лампами", [bodies[2], bodies[0]], ["stem"]), ("shoe run", [bodies[1]], []), ("run", [bodies[1]], nil),
                ("кросовки", [bodies[2]], ["typo"]), ("krossovki lampy", [bodies[2]], ["transliteration"]),
                ("ljv", [], []), ("ljuf", [], []), ("вщп", [bodies[3]], ["layout"]), ("cat", [], []), ("🐈", [], []),
            ] as [(String, [String], [String]?)] {
                let response = try await app.get("/v1/notes?q=\(Self.encoded(text))", as: token)
                #expect(response.strings("first_line", in: "data.items") == lines, "\(text)")
                let expected = used ?? []
                #expect(
                    response["meta.search.used"] == (expected.isEmpty ? nil : .array(expected.map { .string($0) })),
                    "\(text): \(response.text)"
                )
            }
            let first = try await app.get("/v1/notes?q=\(Self.encoded("лампами"))&limit=1", as: token)
            #expect(first["meta.page.total"] == 2 && first["meta.page.has_more"] == true)
            #expect(first["meta.search.for"] == "лампу" && first["meta.search.text"] == "Showing results for “лампу”.")
            let second = try await app.get(first.string("links.next"), as: token)
            #expect(second.strings("first_line", in: "data.items") == [bodies[0]] && second["links.next"] == .null)
        }
    }

    @Test("ONE-08 the words follow every change, deletion and restoration, and go with their account")
    func follows() async throws {
        try await NotesHarness.run { app, token in
            let href = "/v1/notes/" + (try await app.add("keyboard and laptop", as: token))
            func total(_ text: String) async throws -> JSON? {
                try await app.get("/v1/notes?q=\(text)", as: token)["meta.page.total"]
            }
            #expect(try await total("keybord") == 1)
            _ = try await app.ask(.patch, href, as: token, #"{"body":"laptop"}"#)
            #expect(try await total("keybord") == 0)
            #expect(try await total("labtop") == 1)
            _ = try await app.ask(.delete, href, as: token)
            #expect(try await total("labtop") == 0)
            let words = try app.database.read { try String.fetchAll($0, sql: "SELECT word FROM note_word") }
            #expect(words == [])
        }
    }
}

import GRDB
import HTTP
import HTTPTypes
import Screens
import Storage
import TestKit
import Testing

@testable import Notes

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

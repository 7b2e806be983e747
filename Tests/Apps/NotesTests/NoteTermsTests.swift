import Database
import Foundation
import GRDB
import Screens
import TestKit
import Testing

@testable import Notes

@Suite("Words of notes that are longer than a term")
struct NoteTermsTests {
    private static let word = "Donaudampfschifffahrtsgesellschaft"

    private func ids(_ question: String, _ app: NotesHarness, as token: String) async throws -> Int {
        let query = question.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        let response = try await app.get("/v1/notes?q=\(query)", as: token)
        #expect(response["meta.page.total"] == .number(Double(response.all("id", in: "data.items").count)))
        return response.all("id", in: "data.items").count
    }

    @Test(
        "NOTE-09 Every letter of a long word counts, in the middle of a search as at its end",
        arguments: [
            (word, 2), ("\(word)skapitän", 1), ("\(word)x", 0), ("\(word)skap", 1), ("\(word)skap\(word)", 0),
            ("\(word) anna", 1), ("\(word)s anna", 0), ("\(word)skapitän boris", 1),
            ("donaudampfschifffahrtsgesell", 2),
            ("donaudampfschifffahrtsgesell anna", 0), ("DONAUDAMPFSCHIFFFAHRTSGESELLSCHAFT", 2),
        ]
    )
    func letters(question: String, count: Int) async throws {
        try await NotesHarness.run { app in
            let token = try await app.register()
            try await app.add("\(Self.word) Anna", as: token)
            try await app.add("Boris, \(Self.word)skapitän", as: token)
            #expect(try await ids(question, app, as: token) == count)
        }
    }

    @Test("NOTE-09 Long words of notes of an earlier version are found, and no others")
    func earlier() async throws {
        try await NotesHarness.run { app in
            let token = try await app.register()
            try await app.add("\(Self.word) Anna", as: token)
            try await app.add("短いメモ of mine", as: token)
            try await app.database.write { db in
                try db.execute(sql: "DELETE FROM note_passage WHERE text NOT LIKE '%メモ%'")
                let migration = try #require(NoteStore.migrations.first { $0.name.hasPrefix("notes/009") })
                try migration.migrate(db)
            }
            #expect(try await ids(Self.word, app, as: token) == 1)
            #expect(try await ids(Self.word + "en", app, as: token) == 0)
            #expect(try await ids("短いメモ", app, as: token) == 1)
        }
    }
}

import GRDB
import HTTPTypes
import Screens
import Storage
import TestKit
import Testing

@testable import Notes

@Suite("What an account stores, and its quota")
struct NoteStoreUsageTests {
    private static let place = #"{"lat":37.79,"lon":-122.42,"name":"Ål St"}"#
    private static let full = 3 * NoteStore.bytesBeside

    /// The bytes that are counted of all accounts equal those of their rows.
    private func expectCounted(_ database: LarderDatabase, _ when: String) throws {
        let sums = try database.read { db in
            try Row.fetchAll(
                db,
                sql: """
                    WITH row AS (
                        SELECT account, body, location_name, 0 AS trashed FROM note
                        UNION ALL SELECT account, body, location_name, 1 FROM note_trash
                    )
                    SELECT bytes, trash_bytes, (
                        SELECT coalesce(sum(length(CAST(body || location_name AS BLOB)) + 1024), 0)
                        FROM row WHERE account = notes_account.id
                    ), (
                        SELECT coalesce(sum(length(CAST(body || location_name AS BLOB)) + 1024), 0)
                        FROM row WHERE account = notes_account.id AND trashed
                    ) FROM notes_account
                    """
            ).map { [$0[0], $0[1], $0[2], $0[3]] as [Int] }
        }
        #expect(!sums.isEmpty && sums.allSatisfy { $0[0] == $0[2] && $0[1] == $0[3] }, "\(when): \(sums)")
    }

    @Test("SRV-18 The bytes of an account follow each change of its notes and of its trash, and those of before")
    func counted() async throws {
        try await NotesHarness.run { app in
            let (token, other) = (try await app.register("anna"), try await app.register("bob"))
            let first = try await app.add("Собака", Self.place, as: token)
            let second = try await app.add("second", as: token)
            try await app.add("of another account", as: other)
            try expectCounted(app.database, "added")
            let long = #"{"body":"\#(String(repeating: "я", count: 900))","location":{"lat":1,"lon":2,"name":"N"}}"#
            #expect(try await app.ask(.patch, "/v1/notes/\(first)", as: token, long).status == 200)
            try expectCounted(app.database, "changed")
            for id in [first, second] { #expect(try await app.delete("/v1/notes/\(id)", as: token).status == 200) }
            try expectCounted(app.database, "in the trash")
            _ = try await app.ask(.post, "/v1/notes/trash/\(first)/restore", as: token)
            _ = try await app.delete("/v1/notes/\(first)?permanently=true", as: token)
            try expectCounted(app.database, "restored and deleted for good")
            try await app.database.write { db in
                try db.execute(
                    sql: """
                        DROP TRIGGER note_stored; DROP TRIGGER note_resized; DROP TRIGGER note_unstored;
                        DROP TRIGGER note_trash_stored; DROP TRIGGER note_trash_unstored;
                        ALTER TABLE notes_account DROP COLUMN bytes; ALTER TABLE notes_account DROP COLUMN trash_bytes;
                        """
                )
                try #require(NoteStore.migrations.first { $0.name == "notes/011 usage" }).migrate(db)
            }
            try expectCounted(app.database, "after the migration")
            _ = try await app.delete("/v1/notes/trash", as: token)
            try expectCounted(app.database, "purged")
            let account = try await app.ask(.post, "/v1/notes/account/deletion", as: other, #"{"password":"secret"}"#)
            #expect(account.status == 200)
            try expectCounted(app.database, "an account deleted")
        }
    }

    @Test("SRV-18 An account stores no more than its quota: what adds is 507 and changes nothing, what does not works")
    func quota() async throws {
        try await NotesHarness.run(settings: .notes.with(NotesApp.quota, Self.full)) { app in
            let (token, other) = (try await app.register("anna"), try await app.register("bob"))
            let first = try await app.add("first", as: token)
            try await app.add("second", as: token)
            let before = try await app.get("/v1/notes", as: token)
            let refused = try await app.ask(.post, "/v1/notes", as: token, #"{"body":"third"}"#)
            refused.expectProblem("quota-exceeded", 507)
            #expect(refused["href"] == "/v1/usage" && refused["retryable"] == false)
            #expect(refused["dialog.title"] == "No space left")
            let detail = try refused.string("detail")
            #expect(detail.hasPrefix("This account may store 3.1 KB here and has 2.1 KB, so nothing was changed;"))
            #expect(detail.hasSuffix("The server's disk is not the limit."), "nothing is in the trash")
            #expect(try await app.get("/v1/notes", as: token).body == before.body)

            let long = #"{"body":"\#(String(repeating: "x", count: 1100))"}"#
            try await app.ask(.patch, "/v1/notes/\(first)", as: token, long).expectProblem("quota-exceeded", 507)
            #expect(try await app.ask(.patch, "/v1/notes/\(first)", as: token, #"{"body":"1"}"#).status == 200)
            #expect(try await app.ask(.post, "/v1/notes", as: other, #"{"body":"of another"}"#).status == 201)

            // The trash counts until it is emptied.
            #expect(try await app.delete("/v1/notes/\(first)", as: token).status == 200)
            let full = try await app.ask(.post, "/v1/notes", as: token, #"{"body":"third"}"#, language: "ru")
            full.expectProblem("quota-exceeded", 507)
            #expect(try full.string("dialog.message").contains("в корзине, её можно очистить"))
            #expect(try await app.delete("/v1/notes/trash", as: token).status == 200)
            #expect(try await app.ask(.post, "/v1/notes", as: token, #"{"body":"third"}"#).status == 201)
            try expectCounted(app.database, "at the end")
        }
    }

    @Test("SRV-18 Above a quota that was made smaller, notes become shorter and go, and none grows")
    func smallerQuota() async throws {
        let directory = try DataDirectory.temporary()
        let long = #"{"body":"\#(String(repeating: "x", count: 2000))"}"#
        let (token, id) = try await withAccount(in: directory, quota: 1 << 20) { app in
            let token = try await app.register()
            return (token, try await app.ask(.post, "/v1/notes", as: token, long).string("data.id"))
        }
        _ = try await withAccount(in: directory, quota: 0) { app in
            let longer = #"{"body":"\#(String(repeating: "x", count: 2001))"}"#
            try await app.ask(.patch, "/v1/notes/\(id)", as: token, longer).expectProblem("quota-exceeded", 507)
            for body in [long, #"{"body":"short"}"#] {
                #expect(try await app.ask(.patch, "/v1/notes/\(id)", as: token, body).status == 200)
            }
            #expect(try await app.delete("/v1/notes/\(id)", as: token).status == 200)
            #expect(try await app.ask(.post, "/v1/notes/trash/\(id)/restore", as: token).status == 200)
            return ("", "")
        }
    }

    private func withAccount(
        in directory: DataDirectory,
        quota: Int,
        _ body: @escaping @Sendable (NotesHarness) async throws -> (String, String)
    ) async throws -> (String, String) {
        let result = Watched(("", ""))
        try await NotesHarness.run(directory: directory, settings: .notes.with(NotesApp.quota, quota)) { app in
            let value = try await body(app)
            result.update { $0 = value }
        }
        return result.value
    }
}

extension NotesHarness {
    fileprivate func ask(
        _ method: HTTPRequest.Method,
        _ target: String,
        as token: String,
        _ json: String,
        language: String
    ) async throws -> Exchanged {
        try await ask(method, target, as: token, [.acceptLanguage: language], json)
    }
}

import GRDB
import HTTPTypes
import Screens
import ServiceLifecycle
import Storage
import TestKit
import Testing

@testable import Notes

@Suite("The trash of Notes")
struct NoteTrashTests {
    private static let laguna = #"{"lat":37.79,"lon":-122.42,"name":"Laguna St"}"#
    private static let trash = "/v1/notes/trash"

    private func restore(_ id: String, as token: String, _ app: NotesHarness, _ fields: HTTPFields = [:]) async throws
        -> Exchanged
    {
        try await app.ask(.post, "\(Self.trash)/\(id)/restore", as: token, fields)
    }

    @Test("SRV-18 A deleted note is in the trash only, and is restored with all it had to where it was")
    func way() async throws {
        try await NotesHarness.run { app, token in
            let first = try await app.add("A dog outside", Self.laguna, as: token)
            try await app.add("other", as: token)
            let reads = ["/v1/notes/\(first)", "/v1/notes/map", "/v1/notes?q=dog", "/v1/notes/places?q=lag"]
            var before: [Exchanged] = []
            for read in reads { before.append(try await app.get(read, as: token)) }
            app.clock.advance(by: .seconds(60))
            let deleted = try await app.delete("/v1/notes/\(first)", as: token)
            deleted.expectScreen("notes.list")
            #expect(deleted["data.actions.0.href"] == .string("/v1/notes/trash/\(first)/restore"))
            try await app.get(reads[0], as: token).expectProblem("not-found", 404)
            try await app.ask(.patch, reads[0], as: token, #"{"body":"b"}"#).expectProblem("not-found", 404)
            try await app.delete(reads[0], as: token).expectProblem("not-found", 404)
            for read in reads.dropFirst() {
                #expect(try await app.get(read, as: token).text.contains("Laguna") == false, "\(read)")
            }
            #expect(try await app.get("/v1/notes", as: token)["meta.page.total"] == 1)
            try await NoteIndex.expectExact(in: app.database)

            let list = try await app.get(Self.trash, as: token)
            list.expectScreen("notes.trash")
            #expect(list["data.count"] == 1 && list["data.count_text"] == "In the trash: 1")
            #expect(list["data.items.0.id"] == .string(first) && list["data.items.0.first_line"] == "A dog outside")
            #expect(list["data.items.0.location.name"] == "Laguna St")
            #expect(list["data.items.0.deleted_text"] == "Deleted: Today at 10:01")
            #expect(list["data.items.0.expires_at"] == "2026-02-04T10:01:00Z")
            #expect(list["data.items.0.expires_text"] == "Kept until: Feb 4 at 10:01")
            #expect(list.all("id", in: "data.items.0.actions") == ["restore", "purge"])

            let restored = try await restore(first, as: token, app)
            restored.expectScreen("notes.details")
            for (read, response) in zip(reads, before) {
                let after = try await app.get(read, as: token)
                #expect(after["data"] == response["data"], "\(read)")
            }
            #expect(try await app.get(reads[0], as: token).body == before[0].body, "with its version and its tag")
            #expect(restored.headerFields[.eTag] == before[0].headerFields[.eTag])
            let empty = try await app.get(Self.trash, as: token)
            #expect(empty["meta.state"] == "empty" && empty["data.empty.title"] == "The trash is empty")
            try await NoteIndex.expectExact(in: app.database)
        }
    }

    @Test("SRV-18 Restored twice is restored once; what is deleted permanently is not restored")
    func twice() async throws {
        try await NotesHarness.run { app, token in
            let note = try await app.add("a", as: token)
            _ = try await app.delete("/v1/notes/\(note)", as: token)
            let first = try await restore(note, as: token, app)
            let changed = try await app.ask(.patch, "/v1/notes/\(note)", as: token, #"{"body":"b"}"#)
            let second = try await restore(note, as: token, app)
            #expect(first.status == 200 && second.status == 200 && second.body == changed.body, "not as it was then")
            _ = try await app.delete("/v1/notes/\(note)", as: token)
            let purged = try await app.delete("\(Self.trash)/\(note)", as: token)
            purged.expectScreen("notes.trash")
            #expect(purged["data.removed"] == 1 && purged["data.route.href"] == "/v1/notes/trash")
            try await restore(note, as: token, app).expectProblem("not-found", 404)
            try await app.delete("\(Self.trash)/\(note)", as: token).expectProblem("not-found", 404)

            let other = try await app.add("for good", as: token)
            let gone = try await app.delete("/v1/notes/\(other)?permanently=true", as: token)
            #expect(gone.status == 200 && gone["data.actions"] == [])
            try await restore(other, as: token, app).expectProblem("not-found", 404)
        }
    }

    @Test("SRV-18 TRUST-05 Restoring and permanent deletion honour the note's version, emptying that of the trash")
    func preconditions() async throws {
        try await NotesHarness.run { app, token in
            let note = try await app.add("a", as: token)
            _ = try await app.delete("/v1/notes/\(note)", as: token)
            let stale: HTTPFields = [.ifMatch: "\"7\""]
            try await restore(note, as: token, app, stale).expectProblem("precondition-failed", 412)
            try await app.delete("\(Self.trash)/\(note)", as: token, stale).expectProblem("precondition-failed", 412)
            try await app.delete(Self.trash, as: token, stale).expectProblem("precondition-failed", 412)
            let tag = try #require(try await app.get(Self.trash, as: token).headerFields[.eTag])
            #expect(try await restore(note, as: token, app, [.ifMatch: "\"1\""]).status == 200)
            let late = try await app.delete(Self.trash, as: token, [.ifMatch: tag])
            late.expectProblem("precondition-failed", 412)
            let now = try #require(try await app.get(Self.trash, as: token).headerFields[.eTag])
            #expect(try await app.delete(Self.trash, as: token, [.ifMatch: now])["data.removed"] == 0)
        }
    }

    @Test("SRV-18 Another account has its own trash, and deleting an account deletes its trash")
    func separate() async throws {
        try await NotesHarness.run { app in
            let (bob, eve) = (try await app.register("bob"), try await app.register("eve"))
            let note = try await app.add("secret plan", as: bob)
            _ = try await app.delete("/v1/notes/\(note)", as: bob)
            #expect(try await app.get(Self.trash, as: eve)["data.count"] == 0)
            try await restore(note, as: eve, app).expectProblem("not-found", 404)
            try await app.delete("\(Self.trash)/\(note)", as: eve).expectProblem("not-found", 404)
            #expect(try await app.delete(Self.trash, as: eve)["data.removed"] == 0)
            #expect(try await app.get(Self.trash, as: bob)["data.count"] == 1)
            let deletion = #"{"password":"secret"}"#
            #expect(try await app.ask(.post, "/v1/notes/account/deletion", as: bob, deletion).status == 200)
            #expect(try app.rows("note_trash") == 0)
        }
    }

    @Test("SRV-18 The trash is read in pages, the last deleted first, and emptied in steps")
    func many() async throws {
        try await NotesHarness.run { app, token in
            let store = NoteStore(app.database)
            let count = NoteStore.purgeBatch + 3
            for number in 1...count {
                let note = try await store.add("note \(number)", at: .unknown, account: 1, now: app.clock.now)
                _ = try await store.delete(note.id, toTrashAt: app.clock.now, account: 1)
            }
            var (next, ids): (String?, [String]) = ("\(Self.trash)?limit=100", [])
            while let target = next {
                let page = try await app.get(target, as: token)
                #expect(page["meta.page.total"] == .number(Double(count)))
                ids += page.all("id", in: "data.items").compactMap { if case .string(let id) = $0 { id } else { nil } }
                next = try? page.string("links.next")
            }
            #expect(ids == (1...count).reversed().map { "n\($0)" })
            let emptied = try await app.delete(Self.trash, as: token)
            #expect(emptied["data.removed"] == .number(Double(count)))
            #expect(try await app.get(Self.trash, as: token)["data.count"] == 0)
            #expect(try app.rows("note_trash") == 0)
        }
    }

    @Test("SRV-18 What is due is deleted in the background, clients are notified; without days there is no trash")
    func due() async throws {
        try await NotesHarness.run(settings: .notes.with(NotesApp.trashLifetime, .seconds(1000))) { app, token in
            let notes = [try await app.add("a", as: token), try await app.add("b", as: token)]
            _ = try await app.delete("/v1/notes/\(notes[0])", as: token)
            app.clock.advance(by: .seconds(500))
            _ = try await app.delete("/v1/notes/\(notes[1])", as: token)
            let service = try #require(app.app.services.first)
            let running = Task { try await service.run() }
            await app.clock.sleepers(of: .seconds(600))
            #expect(try await app.get(Self.trash, as: token)["data.count"] == 2)
            app.clock.advance(by: .seconds(600))
            await app.clock.sleepers(of: .seconds(600))
            #expect(try await app.get(Self.trash, as: token).all("id", in: "data.items") == [.string(notes[1])])
            #expect(app.events.published.last?.json.contains("notes.trash") == true)
            app.clock.advance(by: .seconds(600))
            await app.clock.sleepers(of: .seconds(600))
            #expect(try await app.get(Self.trash, as: token)["data.count"] == 0)
            running.cancel()
            try await running.value
        }
        try await NotesHarness.run(settings: .notes.with(NotesApp.trashLifetime, .zero)) { app, token in
            let note = try await app.add("a", as: token)
            #expect(try await app.delete("/v1/notes/\(note)", as: token)["data.actions"] == [])
            #expect(try await app.get(Self.trash, as: token)["data.count"] == 0)
        }
    }
}

extension AppHarness<NotesApp, NotesUpstreams> {
    /// Returns the number of rows of a table.
    func rows(_ table: String) throws -> Int {
        try database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM \(table)") ?? 0 }
    }
}

import Cluster
import Foundation
import GRDB
import HTTPTypes
import Screens
import Storage
import TestKit
import Testing

@testable import Notes

@Suite("Accounts over HTTP")
struct NoteAccountsTests {
    private static let path = "/v1/notes/account/password"
    private static let deletion = "/v1/notes/account/deletion"

    @Test("NOTE-11 A password is changed after the present one; all other sessions end")
    func changed() async throws {
        try await NotesHarness.run { app, token in
            let other = try await app.session("login", "bob").string("data.token")
            let response = try await app.ask(
                .put,
                Self.path,
                as: token,
                #"{"password":"secret","new_password":"another"}"#
            )
            response.expectScreen("notes.session")
            #expect(try await app.get("/v1/notes", as: token).status == 200)
            try await app.get("/v1/notes", as: other).expectProblem("session-expired", 401)
            #expect(try await app.session("login", "bob").status == 401)
            #expect(try await app.session("login", "bob", "another").status == 201)
        }
    }

    @Test(
        "NOTE-11 A wrong present password, an empty and an over-long new one change nothing",
        arguments: [
            (#"{"password":"wrong","new_password":"x"}"#, ["/password"]), (#"{}"#, ["/password", "/new_password"]),
            (#"{"password":"secret","new_password":""}"#, ["/new_password"]),
            (#"{"password":"secret"}"#, ["/new_password"]),
            (#"{"password":"secret","new_password":"\#(String(repeating: "x", count: 1025))"}"#, ["/new_password"]),
        ]
    )
    func refused(body: String, pointers: [String]) async throws {
        try await NotesHarness.run { app, token in
            let response = try await app.ask(.put, Self.path, as: token, body)
            response.expectProblem("validation-failed", 422)
            #expect(response.all("pointer", in: "errors") == pointers.map { .string($0) })
            #expect(try await app.session("login", "bob").status == 201)
        }
    }

    @Test("TRUST-05 A part of a password and one of another version of the session are refused")
    func preconditions() async throws {
        try await NotesHarness.run { app, token in
            let body = #"{"password":"secret","new_password":"another"}"#
            try await app.ask(.put, Self.path, as: token, [.contentRange: "bytes 0-1/2"], body)
                .expectProblem("invalid-parameter", 400)
            for fields: HTTPFields in [[.ifMatch: "\"1\""], [.ifNoneMatch: "*"]] {
                try await app.ask(.put, Self.path, as: token, fields, body).expectProblem("precondition-failed", 412)
                try await app.ask(.post, Self.deletion, as: token, fields, #"{"password":"secret"}"#)
                    .expectProblem("precondition-failed", 412)
            }
            #expect(try await app.session("login", "bob").status == 201)
        }
    }

    @Test("NOTE-11 NOTE-01 Wrong present passwords are limited as those of logins are")
    func limited() async throws {
        try await NotesHarness.run(settings: .notes.with(NotesApp.attemptsPerAccount, 2)) { app, token in
            for _ in 1...2 {
                #expect(try await app.ask(.post, Self.deletion, as: token, #"{"password":"x"}"#).status == 422)
            }
            try await app.ask(.post, Self.deletion, as: token, #"{"password":"secret"}"#)
                .expectProblem("rate-limited", 429)
        }
    }

    @Test("NOTE-11 An account is deleted after its password with all that is its, and nothing of others")
    func deleted() async throws {
        try await NotesHarness.run { app in
            let (bob, eve) = (try await app.register("bob"), try await app.register("eve"))
            for _ in 1...3 { try await app.add("plan", #"{"lat":1,"lon":2,"name":"Here"}"#, as: bob) }
            try await app.add("plan", #"{"lat":1,"lon":2,"name":"Here"}"#, as: eve)
            try await app.ask(.post, Self.deletion, as: bob, #"{"password":"wrong"}"#)
                .expectProblem("validation-failed", 422)
            #expect(try await app.get("/v1/notes", as: bob)["meta.page.total"] == 3)
            let response = try await app.ask(.post, Self.deletion, as: bob, #"{"password":"secret"}"#)
            response.expectScreen("notes.session")
            #expect(response["data.route.screen"] == "notes.session")
            try await app.get("/v1/notes", as: bob).expectProblem("session-expired", 401)
            #expect(try await app.session("login", "bob").status == 401)
            let counts = try app.database.read { db in
                try ["note", "note_position", "notes_account", "session"].map {
                    try Int.fetchOne(db, sql: "SELECT count(*) FROM \($0)")
                } + [try Int.fetchOne(db, sql: "SELECT count(*) FROM note_cell WHERE account = 1")]
            }
            #expect(counts == [1, 1, 1, 1, 0])
            try await NoteIndex.expectExact(in: app.database)
            #expect(try await app.get("/v1/notes?q=plan", as: eve)["meta.page.total"] == 1)
            #expect(try await app.session("register", "bob").status == 201)
            let again = try await app.register("carl")
            #expect(try await app.get("/v1/notes", as: again)["meta.page.total"] == 0)
        }
    }

    @Test("NOTE-11 A password that is changed while a login is verified opens no session")
    func overtaken() async throws {
        try await NotesHarness.run { app in
            _ = try await app.register()
            let store = NoteStore(app.database)
            let before = try #require(try store.account(try UserName("bob")))
            let hash = try PasswordHash(of: try Password("another"), cost: .scrypt(logarithm: 2))
            #expect(try await store.rehash(before.password, by: hash, of: before.id))
            await #expect(throws: NoteStore.AccountChanged.self) {
                try await app.database.write { try NoteStore.check(before, $0) }
            }
        }
    }

    @Test("NOTE-11 The operator resets a password and ends all sessions")
    func reset() async throws {
        try await NotesHarness.run { app, token in
            let sessions = SessionStore(UserDatabase(app.database))
            let accounts = NoteAccountAdministration(
                store: NoteStore(app.database),
                sessions: sessions,
                cost: .scrypt(logarithm: 2)
            )
            await #expect(throws: AccountAdministrationError.unknownAccount("eve")) {
                try await accounts.resetPassword(of: "eve", to: "x")
            }
            await #expect(throws: AccountAdministrationError.self) {
                try await accounts.resetPassword(of: "bob", to: "")
            }
            #expect(try await app.get("/v1/notes", as: token).status == 200)
            try await accounts.resetPassword(of: "BOB", to: "another")
            #expect(try await app.session("login", "bob").status == 401)
            #expect(try await app.session("login", "bob", "another").status == 201)
            let credential = SessionCredentials([.authorization: "Bearer \(token)"])
            #expect(try await sessions.knownSession(of: credential, app: "notes") == nil)
        }
    }
}

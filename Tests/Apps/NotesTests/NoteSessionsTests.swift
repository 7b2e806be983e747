import Foundation
import HTTPTypes
import Screens
import Storage
import TestKit
import Testing

@testable import Notes

@Suite("Accounts and sessions over HTTP")
struct NoteSessionsTests {
    @Test("NOTE-01 Registering opens a session and needs no second login")
    func register() async throws {
        try await NotesHarness.run { app in
            let response = try await app.session("register", " Zoë ")
            response.expectScreen("notes.session", status: 201)
            #expect(response.headerFields[.location] == "/v1/notes/session")
            #expect(
                response["data.name"] == "Zoë" && response["data.kind"] == "user"
                    && response["data.route.screen"] == "notes.list"
            )
            let token = try response.string("data.token")
            let shown = try await app.get("/v1/notes/session", as: token)
            shown.expectScreen("notes.session")
            #expect(shown.names(in: "data") == ["kind", "name", "created_at", "route"])
            #expect(!shown.text.contains(token))
        }
    }

    @Test("WEB-05 SRV-11 A session by cookie is for pages of this server, and for the carrier that it was opened for")
    func byCookie() async throws {
        try await NotesHarness.run { app in
            _ = try await app.register("bob")
            let login = #"{"mode":"login","username":"bob","password":"secret"}"#
            let session = "/v1/notes/session"
            try await app.expectSessionsByCookie(login: login, age: 34_560_000, end: session)
            let (mine, other) = (try await app.enterByCookie(login), try await app.enterByCookie(login))
            let own = HTTPFields.ofOwnPage(mine)
            let change = #"{"password":"secret","new_password":"another"}"#
            let changed = try await app.ask(.put, "/v1/notes/account/password", as: nil, own, json: change)
            #expect(changed.status == 200 && changed.headerFields[.setCookie] == nil, "\(changed.text)")
            #expect(try await app.get(session, as: nil, own).status == 200, "the cookie that asked for it stays")
            #expect(try await app.get(session, as: nil, [.cookie: other]).status == 401)
            let deletion = #"{"password":"another"}"#
            let deleted = try await app.ask(.post, "/v1/notes/account/deletion", as: nil, own, json: deletion)
            #expect(deleted.status == 200 && deleted.headerFields[.setCookie]?.contains("Max-Age=0") == true)
            #expect(deleted.headerFields.contains(.init("Clear-Site-Data")!))
        }
    }

    @Test("NOTE-01 Bad credentials, taken and empty names are distinct problems with the app's texts")
    func faults() async throws {
        try await NotesHarness.run { app in
            _ = try await app.register("Bob")
            let expected: [(mode: String, name: String, password: String, code: String, status: Int, title: String)] = [
                ("register", "Bob", "x", "name-taken", 409, "User name taken."),
                ("register", "bOB", "x", "name-taken", 409, "User name taken."),
                ("register", "", "x", "validation-failed", 422, "User name too short."),
                ("register", "  ", "x", "validation-failed", 422, "User name too short."),
                ("register", "Al", "", "validation-failed", 422, "Password too short."),
                ("register", "A\\u0007l", "x", "validation-failed", 422, "Invalid user name."),
                ("register", "A\\u0000l", "x", "validation-failed", 422, "Invalid user name."),
                ("login", "nobody", "x", "invalid-credentials", 401, "User name not found."),
                ("login", "Bob", "wrong", "invalid-credentials", 401, "Invalid password."),
            ]
            for (mode, name, password, code, status, title) in expected {
                let response = try await app.session(mode, name, password)
                response.expectProblem(code, status)
                #expect(response["dialog.title"] == .string(title), "\(mode) \(name)")
                if case .string(let advice) = response["dialog.message"] {
                    #expect(!advice.isEmpty && !advice.contains("\n"))
                }
                #expect(status != 401 || response.headerFields[.wwwAuthenticate] == "Bearer")
            }
            let both = try await app.session("register", "", "")
            #expect(both.all("pointer", in: "errors") == ["/username", "/password"])
        }
    }

    @Test(
        "NOTE-01 A malformed login is refused with the field named",
        arguments: ["{}", #"{"mode":"root"}"#, #"{"mode":"login","username":1,"password":"x"}"#]
    )
    func malformed(body: String) async throws {
        try await NotesHarness.run { app in
            let response = try await app.ask(.post, "/v1/notes/session", body)
            response.expectProblem("validation-failed", 422)
        }
    }

    @Test("NOTE-01 Names are one account in any case and normal form; passwords are one in any normal form, not case")
    func normalization() async throws {
        try await NotesHarness.run { app in
            #expect(try await app.session("register", "Zoe\u{308}", "pa\u{308}ss").status == 201)
            #expect(try await app.session("register", "zoë", "x").status == 409)
            let login = try await app.session("login", "ZOË", "p\u{E4}ss")
            #expect(login.status == 201 && login["data.name"] == "Zoë")
            #expect(try await app.session("login", "ZOË", "P\u{E4}ss").status == 401)
        }
    }

    @Test("NOTE-01 Of concurrent registrations of one name one succeeds, the others are 409")
    func race() async throws {
        try await NotesHarness.run { app in
            for round in 1...5 {
                let statuses = try await (1...4).concurrentMap { _ in
                    try await app.session("register", "user\(round)").status
                }
                #expect(statuses.sorted() == [201, 409, 409, 409])
            }
        }
    }

    @Test("NOTE-01 After too many wrong passwords this name has to wait, even with the right password")
    func limited() async throws {
        try await NotesHarness.run(
            settings: .notes.with(NotesApp.attemptsPerAccount, 3).with(NotesApp.attemptWindow, .seconds(300))
        ) { app in
            _ = try await app.register("bob")
            _ = try await app.register("eve")
            for _ in 1...3 { #expect(try await app.session("login", "bob", "wrong").status == 401) }
            let refused = try await app.session("login", "BOB")
            refused.expectProblem("rate-limited", 429)
            #expect(refused.headerFields[.retryAfter] == "100" && refused["retryable"] == true)
            #expect(try await app.session("login", "eve").status == 201)
            app.clock.advance(by: .seconds(100))
            #expect(try await app.session("login", "bob").status == 201)
            for _ in 1...3 { #expect(try await app.session("login", "bob", "wrong").status == 401) }
        }
    }

    @Test("NOTE-01 The database contains no password and no unsalted hash: equal passwords are stored differently")
    func stored() async throws {
        try await NotesHarness.run { app in
            _ = try await app.session("register", "bob", "correct horse")
            _ = try await app.session("register", "eve", "correct horse")
            let store = NoteStore(app.database)
            let bob = try #require(try store.account(try UserName("bob")))
            let eve = try #require(try store.account(try UserName("eve")))
            #expect(
                bob.password.salt.count == 16 && bob.password.salt != eve.password.salt
                    && bob.password.digest != eve.password.digest
            )
            #expect(bob.password.cost == .scrypt(logarithm: 2))
        }
    }

    @Test("NOTE-01 A hash of other parameters is accepted and replaced by one of the current parameters")
    func rehashed() async throws {
        let directory = try DataDirectory.temporary()
        try await NotesHarness.run(directory: directory) { app in
            let store = NoteStore(app.database)
            let old = try PasswordHash(of: try Password("secret"), cost: .scrypt(logarithm: 3))
            _ = try await store.register(try UserName("bob"), old, now: app.clock.now)
            #expect(try await app.session("login", "bob", "wrong").status == 401)
            #expect(try store.account(try UserName("bob"))?.password == old)
            #expect(try await app.session("login", "bob").status == 201)
            #expect(try store.account(try UserName("bob"))?.password.cost == .scrypt(logarithm: 2))
            #expect(try await app.session("login", "bob").status == 201)
        }
    }

    @Test("NOTE-02 Launch leads to main with a session, also after a restart, and to the login without")
    func launch() async throws {
        let (directory, box) = (try DataDirectory.temporary(), TokenBox())
        try await NotesHarness.run(directory: directory) { app in
            let cold = try await app.get("/v1/notes/launch")
            cold.expectScreen("notes.launch")
            #expect(cold["data.route.screen"] == "notes.session")
            box.token = try await app.register()
        }
        try await NotesHarness.run(directory: directory) { app in
            let known = try await app.get("/v1/notes/launch", as: box.token)
            let unknown = try await app.get("/v1/notes/launch", as: "x" + box.token)
            #expect(known["data.route.screen"] == "notes.list" && unknown["data.route.screen"] == "notes.session")
        }
    }

    @Test("NOTE-02 Logging out ends the session without a question and keeps the notes")
    func logout() async throws {
        try await NotesHarness.run { app, token in
            let note = try await app.add("kept", as: token)
            let farewell = try await app.delete("/v1/notes/session", as: token)
            farewell.expectScreen("notes.session")
            #expect(farewell["data.route.screen"] == "notes.session" && farewell["data.alert"] == .null)
            try await app.get("/v1/notes", as: token).expectProblem("session-expired", 401)
            #expect(try await app.get("/v1/notes/launch", as: token)["data.route.screen"] == "notes.session")
            let again = try await app.session("login", "bob").string("data.token")
            #expect(try await app.get("/v1/notes/\(note)", as: again)["data.body"] == "kept")
        }
    }

    @Test("NOTE-02 Every route but launch and login needs a session")
    func guarded() async throws {
        try await NotesHarness.run { app in
            for path in ["", "/n1", "/map", "/places?q=a", "/people", "/people/1", "/people/1/avatar", "/session"] {
                try await app.get("/v1/notes\(path)").expectProblem("session-required", 401)
            }
            #expect(app.people.requests.isEmpty)
        }
    }
}

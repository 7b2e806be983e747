import Foundation
import HTTPTypes
import Screens
import Storage
import TestKit
import Testing

@testable import Cluster
@testable import Notes

/// The app on servers whose files follow one journal.
@Suite("Notes of several servers", .timeLimit(.minutes(10)))
struct NotesOfServersTests {
    private static func openings(_ app: NotesHarness, _ token: String, _ query: String = "") async throws
        -> [JSON]
    {
        try await app.get("/v1/notes\(query)", as: token).all("first_line", in: "data.items")
    }

    private static func two(
        _ access: ClusterAccess,
        _ test: @Sendable (NotesHarness, NotesHarness, String) async throws -> Void
    ) async throws {
        try await NotesHarness.run(shared: access) { one in
            try await NotesHarness.run(shared: access.otherServer()) { two in
                try await test(one, two, try await one.register())
            }
        }
    }

    @Test("NOTE-03 Notes written on one server are listed, found, mapped and changed on the other, in both directions")
    func both() async throws {
        try await Self.two(try await .temporary()) { one, two, token in
            let paris = #"{"lat":48.85,"lon":2.35,"name":"Paris"}"#
            let first = try await one.add("Straße 12.50", paris, as: token)
            #expect(try await Self.openings(two, token) == ["Straße 12.50"])
            #expect(try await Self.openings(two, token, "?q=strasse") == ["Straße 12.50"])
            #expect(try await two.get("/v1/notes/map", as: token).all("title", in: "data.pins") == ["Straße 12.50"])
            let second = try await two.add("an elephant", as: token)
            #expect(first != second)
            #expect(try await Self.openings(one, token) == ["an elephant", "Straße 12.50"])
            let change = #"{"body":"a giraffe","location":{"lat":1,"lon":2,"name":"Berlin"}}"#
            #expect(try await two.ask(.patch, "/v1/notes/\(first)", as: token, change).status == 200)
            #expect(try await Self.openings(one, token, "?q=strasse") == [])
            #expect(try await Self.openings(one, token, "?q=giraffe") == ["a giraffe"])
            let near = try await one.get("/v1/notes/map?bbox=1,0,3,2", as: token)
            #expect(near.all("title", in: "data.pins") == ["a giraffe"])
            let places = try await one.get("/v1/notes/places?q=berl", as: token)
            #expect(places["data.items.0.source"] == "notes")
            for app in [one, two] {
                _ = try await app.get("/v1/notes", as: token)
                try await NoteIndex.expectExact(in: app.database)
            }
        }
    }

    @Test("C8 Lists, searches and maps run the statements of a server by itself")
    func costs() async throws {
        let screens = ["", "?q=elephant", "?q=ph", "/map", "/map?bbox=0,0,9,9", "/places?q=pa", "/trash"]
        func ran(_ access: ClusterAccess?) async throws -> [[String]] {
            let ran = Watched<[[String]]>([])
            try await NotesHarness.run(shared: access) { app in
                let token = try await app.register()
                for number in 0..<40 {
                    try await app.add("elephant \(number)", #"{"lat":\#(number),"lon":2,"name":"Paris"}"#, as: token)
                }
                for screen in screens {
                    _ = try await app.get("/v1/notes\(screen)", as: token)
                    let statements = try await app.statements.statements {
                        _ = try await app.get("/v1/notes\(screen)", as: token)
                    }
                    ran.update { $0.append(StatementLog.ofScreen(statements)) }
                }
            }
            return ran.value
        }
        let (alone, shared) = (try await ran(nil), try await ran(.temporary()))
        for (screen, (one, other)) in zip(screens, zip(alone, shared)) {
            #expect(!one.isEmpty, "\(screen)")
            #expect(one == other, "\(screen)")
        }
    }

    @Test("SCALE-04 Notes that two servers insert at once, of two accounts and of one, have different ids")
    func ids() async throws {
        try await Self.two(try await .temporary()) { one, two, token in
            let eve = try await two.register("eve")
            let ids = try await withThrowingTaskGroup(of: String.self) { group in
                for number in 0..<20 {
                    group.addTask {
                        try await (number % 2 == 0 ? one : two).add("\(number)", as: number % 3 == 0 ? eve : token)
                    }
                }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(ids.count == 20)
            for app in [one, two] {
                #expect(try await app.get("/v1/notes", as: token)["meta.page.total"] == 13)
                #expect(try await app.get("/v1/notes", as: eve)["meta.page.total"] == 7)
            }
        }
    }

    @Test("SCALE-15 Of two changes of one version on two servers at once, one is made")
    func versions() async throws {
        try await Self.two(try await .temporary()) { one, two, token in
            let id = try await one.add("text", as: token)
            async let first = one.ask(.patch, "/v1/notes/\(id)", as: token, [.ifMatch: "\"1\""], #"{"body":"1"}"#)
            async let second = two.ask(.patch, "/v1/notes/\(id)", as: token, [.ifMatch: "\"1\""], #"{"body":"2"}"#)
            #expect(try await [first.status, second.status].sorted() == [200, 412])
        }
    }

    @Test("NOTE-13 The trash is one: deleted on one server, a note is restored and purged on the other")
    func trash() async throws {
        try await Self.two(try await .temporary()) { one, two, token in
            let id = try await one.add("text", as: token)
            #expect(try await one.delete("/v1/notes/\(id)", as: token).status == 200)
            #expect(try await two.get("/v1/notes/trash", as: token)["data.count"] == 1)
            #expect(try await two.ask(.post, "/v1/notes/trash/\(id)/restore", as: token, "{}").status == 200)
            #expect(try await Self.openings(one, token, "?q=text") == ["text"])
            #expect(try await two.delete("/v1/notes/\(id)?permanently=1", as: token).status == 200)
            #expect(try await Self.openings(one, token) == [])
            for number in 0..<40 { try await one.add("\(number)", as: token) }
            let body = #"{"password":"secret"}"#
            #expect(try await two.ask(.post, "/v1/notes/account/deletion", as: token, body).status == 200)
            #expect(try await one.session("login", "bob").status == 401)
            #expect(try await one.session("register", "bob").status == 201)
        }
    }

    @Test("SCALE-07 A server that was away has the notes of others with its first response")
    func away() async throws {
        let access = try await ClusterAccess.temporary()
        let directory = try DataDirectory.temporary()
        let token = TokenBox()
        try await NotesHarness.run(directory: directory, shared: access) { one in
            token.token = try await one.register()
            try await one.add("first", as: token.token)
        }
        try await NotesHarness.run(shared: access.otherServer()) { try await $0.add("second", as: token.token) }
        try await NotesHarness.run(directory: directory, shared: access.otherServer()) { one in
            let shown = try await Self.openings(one, token.token)
            #expect(shown == ["second", "first"])
            #expect(try await Self.openings(one, token.token, "?q=second") == ["second"])
        }
    }

    @Test("SCALE-07 A server that was away while the journal was cut has the notes of others, and finds them")
    func cut() async throws {
        let access = try await ClusterAccess.temporary()
        let directory = try DataDirectory.temporary()
        let token = TokenBox()
        try await NotesHarness.run(directory: directory, shared: access) { one in
            token.token = try await one.register()
            for number in 0..<5 { try await one.add("old \(number)", as: token.token) }
        }
        try await NotesHarness.run(shared: access.otherServer()) { two in
            let listed = try await two.get("/v1/notes", as: token.token).all("id", in: "data.items")
            for case .string(let id) in listed.prefix(3) {
                #expect(try await two.delete("/v1/notes/\(id)", as: token.token).status == 200)
            }
            try await two.add("second", #"{"lat":48.85,"lon":2.35,"name":"Paris"}"#, as: token.token)
            try await access.cutJournal(for: two.database, NotesHarness.replicated)
        }
        try await NotesHarness.run(directory: directory, shared: access.otherServer()) { one in
            #expect(try await one.get("/v1/notes", as: token.token)["meta.page.total"] == 3)
            #expect(try await one.get("/v1/notes/trash", as: token.token)["data.count"] == 3)
            #expect(try await Self.openings(one, token.token, "?q=second") == ["second"])
            let near = try await one.get("/v1/notes/map?bbox=2,48,3,49", as: token.token)
            #expect(near.all("title", in: "data.pins") == ["second"])
            try await NoteIndex.expectExact(in: one.database)
            try await one.add("third", as: token.token)
            #expect(try await Self.openings(one, token.token)[0] == "third")
        }
    }

    @Test("SCALE-03 A session is open on both servers; another password ends all others on both at once")
    func sessions() async throws {
        try await Self.two(try await .temporary()) { one, two, token in
            let login = #"{"mode":"login","username":"bob","password":"secret"}"#
            let other = try await one.ask(.post, "/v1/notes/session", json: login).string("data.token")
            for (app, token) in [(one, other), (two, token), (two, other)] {
                #expect(try await app.get("/v1/notes/session", as: token).status == 200)
            }
            let change = #"{"password":"secret","new_password":"another"}"#
            #expect(try await two.ask(.put, "/v1/notes/account/password", as: token, json: change).status == 200)
            for app in [one, two] {
                try await app.get("/v1/notes/session", as: other).expectProblem("session-expired", 401)
                #expect(try await app.get("/v1/notes/session", as: token).status == 200)
            }
            #expect(try await one.delete("/v1/notes/session", as: token).status == 200)
            try await two.get("/v1/notes/session", as: token).expectProblem("session-expired", 401)
        }
    }

    @Test("SCALE-23 While PostgreSQL is away notes are shown, stale with a text, and not changed; then all goes on")
    func storeAway() async throws {
        let postgres = try await RunningPostgres.start()
        try await Self.two(try await .temporary(on: postgres)) { one, two, token in
            let id = try await one.add("text", as: token)
            #expect(try await Self.openings(two, token) == ["text"])
            try postgres.stop("immediate")
            for path in ["", "?q=text", "/map", "/\(id)", "/trash", "/places?q=x"] {
                try await one.get("/v1/notes\(path)", as: token).expectStaleStore(path)
            }
            #expect(try await one.get("/v1/notes/session", as: token).status == 200)
            try await one.get("/v1/notes", as: "unknown").expectProblem("store-unavailable", 503)
            try await one.session("login", "bob").expectProblem("store-unavailable", 503)
            try await one.ask(.post, "/v1/notes", as: token, #"{"body":"x"}"#).expectStoreUnavailable()
            try postgres.restart()
            try await BoundedWait.poll(for: "the store") {
                try await one.get("/v1/notes", as: token)["meta.stale"] == false
            }
            try await one.add("again", as: token)
            try await BoundedWait.poll(for: "the note") { try await Self.openings(two, token) == ["again", "text"] }
        }
    }
}

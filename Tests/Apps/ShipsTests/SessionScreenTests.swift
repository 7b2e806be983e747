import AppTestKit
import Foundation
import HTTPTypes
import Screens
import Storage
import Testing

@testable import Ships

@Suite("Launch and sessions over HTTP")
struct SessionScreenTests {
    private static let login = #"{"mode":"login","username":"example@domain.com","password":"secret"}"#

    @Test("SHIP-01 a cold start shows the login, with a session or without")
    func launch() async throws {
        try await ShipsApp.run { app in
            let answer = try await app.get("/v1/ships/launch")
            answer.expectScreen("ships.launch")
            #expect(answer["data.route"] == "login")
            #expect(answer.names(in: "data") == ["route"])
            #expect(answer["meta.source"] == "local")
            #expect(answer["meta.fetched_at"] == .null)
            #expect(answer["meta.banner"] == .null)
            #expect(answer.cacheStatus == nil)
            #expect(answer.age == nil)
            #expect(try await app.get("/v1/ships/launch", as: app.logIn())["data.route"] == "login")
            #expect(app.transport.requests.isEmpty)
        }
    }

    @Test("SHIP-02 a login opens a session that leads to the list, without asking the upstream")
    func login() async throws {
        try await ShipsApp.run { app in
            let answer = try await app.ask(
                .post,
                "/v1/ships/session",
                body: #"{"mode":"login","username":"  Example@Domain.com\n","password":" "}"#
            )
            answer.expectScreen("ships.session", status: 201)
            #expect(answer.headerFields[.location] == "/v1/ships/session")
            #expect(answer["data.kind"] == "user")
            #expect(answer["data.name"] == "Example@Domain.com")
            #expect(answer["data.route"] == "list")
            #expect(answer["data.created_at"] == "2026-01-05T10:00:00Z")
            guard case .string(let token) = answer["data.token"] else { throw Missing() }
            #expect(token.utf8.count >= 22)
            let shown = try await app.get("/v1/ships/session", as: token)
            shown.expectScreen("ships.session")
            #expect(shown.names(in: "data") == ["kind", "name", "created_at", "route"])
            #expect(!shown.text.contains(token))
            #expect(app.transport.requests.isEmpty)
        }
    }

    private struct Missing: Error {}

    @Test("SHIP-02 a login takes the configured time while others are served")
    func delay() async throws {
        try await ShipsApp.run(options: .init()) { app in
            async let waiting = app.ask(.post, "/v1/ships/session", body: Self.login)
            await app.clock.somebodySleeps(for: .milliseconds(2500))
            #expect(try await app.get("/v1/ships/launch").status == 200)
            let guest = try await app.enterAsGuest()
            #expect(try await app.get("/v1/ships", as: guest).status == 200)
            app.clock.advance(by: .milliseconds(2499))
            #expect(!app.clock.nobodySleeps(for: .milliseconds(2500)))
            app.clock.advance(by: .milliseconds(1))
            let answer = try await waiting
            #expect(answer.status == 201)
        }
    }

    @Test("SHIP-03 a guest enters at once, and leads to the list")
    func guest() async throws {
        try await ShipsApp.run(options: .init()) { app in
            let answer = try await app.ask(.post, "/v1/ships/session", body: #"{"mode":"guest"}"#)
            answer.expectScreen("ships.session", status: 201)
            #expect(answer["data.kind"] == "guest")
            #expect(answer["data.name"] == .null)
            #expect(answer["data.route"] == "list")
            #expect(app.transport.requests.isEmpty)
        }
    }

    @Test(
        "SHIP-02 a malformed login is refused at once, with every field at fault",
        arguments: [
            (#"{"mode":"login","username":"example","password":"x"}"#, ["/username"], ["invalid"]),
            (
                #"{"mode":"login","username":"a@b","password":""}"#, ["/username", "/password"],
                ["invalid", "required"]
            ),
            (#"{"mode":"login"}"#, ["/username", "/password"], ["required", "required"]),
            (
                #"{"mode":"login","username":null,"password":null}"#, ["/username", "/password"],
                ["required", "required"]
            ),
            (#"{"mode":"login","username":"  \t ","password":"x"}"#, ["/username"], ["required"]),
            (#"{"mode":"login","username":"a@b.de"}"#, ["/password"], ["required"]),
            (#"{"mode":"login","username":7,"password":"x"}"#, ["/username"], ["invalid"]),
            (#"{"mode":"login","username":"a@b.de","password":["x"]}"#, ["/password"], ["invalid"]),
            (#"{"mode":"admin"}"#, ["/mode"], ["invalid"]), (#"{"mode":"GUEST"}"#, ["/mode"], ["invalid"]),
            (#"{"mode":1}"#, ["/mode"], ["invalid"]),
            ("{}", ["/mode"], ["required"]), (#"{"mode":null}"#, ["/mode"], ["required"]),
        ]
    )
    func validation(body: String, pointers: [String], codes: [String]) async throws {
        try await ShipsApp.run(options: .init()) { app in
            let answer = try await app.ask(.post, "/v1/ships/session", body: body)
            answer.expectProblem("validation-failed", 422)
            #expect(answer.all("pointer", in: "errors") == pointers.map { .string($0) })
            #expect(answer.all("code", in: "errors") == codes.map { .string($0) })
            #expect(answer["token"] == nil)
            #expect(app.clock.nobodySleeps(for: .milliseconds(2500)))
        }
    }

    @Test("SHIP-02 what the app shows for a wrong login is in the dialog")
    func dialog() async throws {
        try await ShipsApp.run { app in
            let answer = try await app.ask(
                .post,
                "/v1/ships/session",
                body: #"{"mode":"login","username":"example","password":"hunter2"}"#
            )
            #expect(answer["dialog.message"] == "Your email or password do not match.")
            #expect(!answer.text.contains("hunter2"))
        }
    }

    @Test(
        "a body that is no JSON object is 400, one of another type 415, a huge one 413",
        arguments: ["", "{", "[]", "null", "mode=guest", "\u{0}"]
    )
    func malformed(body: String) async throws {
        try await ShipsApp.run { app in
            try await app.ask(.post, "/v1/ships/session", body: body).expectProblem("malformed-json", 400)
            try await app.ask(.post, "/v1/ships/session", [.contentType: "text/xml"], body: Self.login).expectProblem(
                "unsupported-media-type",
                415
            )
            let huge = #"{"mode":"login","username":"a@b.de","password":"\#(String(repeating: "x", count: 70_000))"}"#
            try await app.ask(.post, "/v1/ships/session", body: huge).expectProblem("too-large", 413)
        }
    }

    @Test(
        "SHIP-02 passwords of any kind and length pass, and are kept nowhere",
        arguments: ["p", "пароль 🔑", String(repeating: "long", count: 15_000), #"\" OR 1=1"#]
    )
    func passwords(password: String) async throws {
        try await ShipsApp.run { app in
            let answer = try await app.ask(
                .post,
                "/v1/ships/session",
                body: #"{"mode":"login","username":"ünï@dömain.example","password":"\#(password)"}"#
            )
            #expect(answer.status == 201)
            #expect(answer["data.name"] == "ünï@dömain.example")
            #expect(answer["data.password"] == nil)
        }
    }

    @Test("SHIP-02 a session survives a restart; only the hash of its token is on the disk")
    func restart() async throws {
        let directory = try DataDirectory.temporary()
        let kept = TokenBox()
        try await ShipsApp.run(directory: directory) { app in kept.token = try await app.logIn() }
        let file = try Data(contentsOf: URL(filePath: directory.databasePath))
        #expect(file.range(of: Data("example@domain.com".utf8)) != nil)
        #expect(file.range(of: Data(kept.token.utf8)) == nil)
        try await ShipsApp.run(directory: directory) { app in
            let shown = try await app.get("/v1/ships/session", as: kept.token)
            #expect(shown["data.name"] == "example@domain.com")
            #expect(try await app.get("/v1/ships/launch", as: kept.token)["data.route"] == "login")
        }
    }

    @Test("SHIP-05 a user who leaves goes to the login; the token is of no more use, other sessions and the ships stay")
    func leave() async throws {
        try await ShipsApp.run { app in
            let (token, other) = (try await app.logIn(), try await app.logIn())
            _ = try await app.get("/v1/ships", as: token)
            let answer = try await app.ask(.delete, "/v1/ships/session", as: token)
            answer.expectScreen("ships.session")
            #expect(answer["data.route"] == "login")
            #expect(answer["data.alert"] == .null)
            #expect(answer.names(in: "data") == ["route", "alert"])
            for (method, path) in [
                (HTTPRequest.Method.get, "/v1/ships/session"), (.delete, "/v1/ships/session"), (.get, "/v1/ships"),
            ] {
                try await app.ask(method, path, as: token).expectProblem("session-expired", 401)
            }
            #expect(try await app.get("/v1/ships", as: other)["meta.source"] == "cache")
        }
    }

    @Test("SHIP-05 a guest who leaves is thanked")
    func leaveAsGuest() async throws {
        try await ShipsApp.run { app in
            let answer = try await app.ask(.delete, "/v1/ships/session", as: app.enterAsGuest())
            #expect(answer["data.route"] == "login")
            #expect(answer["data.alert.message"] == "Thank you for trialing this app")
            #expect(answer["data.alert.button"] == "OK")
        }
    }

    @Test(
        "without a session there is no data, not even stored data",
        arguments: [
            (HTTPRequest.Method.get, "/v1/ships"), (.get, "/v1/ships/b0b"), (.get, "/v1/ships/b0b/image"),
            (.delete, "/v1/ships/b0b"),
            (.post, "/v1/ships/restore"),
            (.get, "/v1/ships/session"), (.delete, "/v1/ships/session"),
        ]
    )
    func required(method: HTTPRequest.Method, path: String) async throws {
        try await ShipsApp.run { app in
            _ = try await app.get("/v1/ships", as: app.logIn())
            for fields in [[:], [.authorization: "Basic YTpi"], [.authorization: "Bearer"], [.authorization: ""]]
                as [HTTPFields]
            {
                let answer = try await app.ask(method, path, fields)
                answer.expectProblem("session-required", 401)
                #expect(answer.headerFields[.wwwAuthenticate] == "Bearer")
                #expect(!answer.text.contains("bob"))
            }
            try await app.ask(method, path, as: "unknown").expectProblem("session-expired", 401)
        }
    }

    @Test(
        "methods that a path does not know are 405 with those that it does",
        arguments: [
            ("/v1/ships", "GET, HEAD, OPTIONS"), ("/v1/ships/session", "GET, HEAD, POST, DELETE, OPTIONS"),
            ("/v1/ships/b0b/image", "GET, HEAD, OPTIONS"),
        ]
    )
    func methods(path: String, allowed: String) async throws {
        try await ShipsApp.run { app in
            let answer = try await app.ask(.put, path)
            answer.expectProblem("method-not-allowed", 405)
            #expect(answer.headerFields[.allow] == allowed)
        }
    }
}

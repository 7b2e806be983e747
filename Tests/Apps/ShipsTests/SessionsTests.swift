import Concurrency
import Foundation
import GRDB
import HTTP
import HTTPTypes
import Screens
import Storage
import TestKit
import Testing

@testable import Ships

@Suite("Launch and sessions over HTTP")
struct SessionsTests {
    private static let login = #"{"mode":"login","username":"example@domain.com","password":"secret"}"#

    @Test("SHIP-01 a cold start shows the login, with a session or without")
    func launch() async throws {
        try await ShipsHarness.run { app in
            let response = try await app.get("/v1/ships/launch")
            response.expectScreen("ships.launch")
            #expect(response["data.route.screen"] == "ships.session")
            #expect(response.names(in: "data") == ["route", "actions"])
            #expect(response.strings("id", in: "data.actions") == ["login", "guest"])
            #expect(response["meta.source"] == "local")
            #expect(response["meta.fetched_at"] == .null)
            #expect(response["meta.banner"] == .null)
            #expect(response.cacheStatus == nil)
            #expect(response.age == nil)
            #expect(try await app.get("/v1/ships/launch", as: app.logIn())["data.route.screen"] == "ships.session")
            #expect(app.spaceX.requests.isEmpty)
        }
    }

    @Test("SHIP-02 a login opens a session that leads to the list, without asking the upstream")
    func login() async throws {
        try await ShipsHarness.run { app in
            let response = try await app.ask(
                .post,
                "/v1/ships/session",
                body: #"{"mode":"login","username":"  Example@Domain.com\n","password":" "}"#
            )
            response.expectScreen("ships.session", status: 201)
            #expect(response.headerFields[.location] == "/v1/ships/session")
            #expect(response["data.kind"] == "user")
            #expect(response["data.name"] == "Example@Domain.com")
            #expect(response["data.route.screen"] == "ships.list")
            #expect(response["data.created_at"] == "2026-01-05T10:00:00Z")
            guard case .string(let token) = response["data.token"] else { throw Missing() }
            #expect(token.utf8.count >= 22)
            let shown = try await app.get("/v1/ships/session", as: token)
            shown.expectScreen("ships.session")
            #expect(shown.names(in: "data") == ["kind", "name", "created_at", "route"])
            #expect(!shown.text.contains(token))
            #expect(app.spaceX.requests.isEmpty)
        }
    }

    private struct Missing: Error {}

    @Test(
        "SHIP-14 with accounts that are set, another address or password is invalid-credentials after the delay",
        arguments: [
            ("example@domain.com", "secret"), ("example@domain.com", ""), ("nobody@domain.com", "a:b"),
            ("example@domain.com", "A:B"),
        ]
    )
    func wrongLogin(username: String, password: String) async throws {
        let accounts = [ShipsAccount("Example@Domain.com:a:b"), ShipsAccount("other@domain.com:secret")]
        let settings = SettingValues.standard.with(ShipsApp.accounts, accounts.compactMap(\.self))
        try await ShipsHarness.run(settings: settings) { app in
            let body = #"{"mode":"login","username":"\#(username)","password":"\#(password)"}"#
            guard !password.isEmpty else {
                let response = try await app.ask(.post, "/v1/ships/session", body: body)
                return response.expectProblem("validation-failed", 422)
            }
            async let waiting = app.ask(.post, "/v1/ships/session", [.acceptLanguage: "ru"], body: body)
            await app.clock.sleepers(of: .milliseconds(2500))
            app.clock.advance(by: .milliseconds(2500))
            let refused = try await waiting
            refused.expectProblem("invalid-credentials", 401)
            #expect(refused["dialog.message"] == "Неверный адрес электронной почты или пароль.")
            #expect(!refused.text.contains(username) && app.spaceX.requests.isEmpty)
            let right = #"{"mode":"login","username":"EXAMPLE@domain.com","password":"a:b"}"#
            async let opening = app.ask(.post, "/v1/ships/session", body: right)
            await app.clock.sleepers(of: .milliseconds(2500))
            app.clock.advance(by: .milliseconds(2500))
            #expect(try await opening.status == 201)
            #expect(try await app.ask(.post, "/v1/ships/session", body: #"{"mode":"guest"}"#).status == 201)
        }
    }

    @Test("SHIP-14 the setting takes addresses with passwords; others are refused at start")
    func accountsSetting() {
        let setting = ShipsApp.accounts
        #expect(setting.value(of: "") as? [ShipsAccount] == [])
        let accounts = setting.value(of: "a@b.example:x, c@d.example:y:z") as? [ShipsAccount]
        #expect(accounts?.map(\.password) == ["x", "y:z"])
        for text in ["a@b.example", "a@b.example:", ":x", "nobody:x"] { #expect(setting.value(of: text) == nil) }
    }

    @Test("SHIP-14 the login is a screen: its fields with titles, and the way past it, from one response")
    func loginScreen() async throws {
        try await ShipsHarness.run { app in
            let screen = try await app.get("/v1/ships/launch", as: nil, [.acceptLanguage: "ru"])
            #expect(screen["meta.title"] == "Корабли")
            #expect(screen["data.actions.0.title"] == "Войти")
            #expect(screen.strings("title", in: "data.actions.0.fields") == ["Эл. почта", "Пароль"])
            #expect(screen.strings("kind", in: "data.actions.0.fields") == ["text", "password"])
            #expect(screen["data.actions.1.title"] == "Продолжить как гость")
        }
    }

    @Test("SHIP-02 a login takes the configured time while others are served")
    func delay() async throws {
        try await ShipsHarness.run(settings: .standard) { app in
            async let waiting = app.ask(.post, "/v1/ships/session", body: Self.login)
            await app.clock.sleepers(of: .milliseconds(2500))
            #expect(try await app.get("/v1/ships/launch").status == 200)
            let guest = try await app.enterAsGuest()
            #expect(try await app.get("/v1/ships", as: guest).status == 200)
            app.clock.advance(by: .milliseconds(2499))
            #expect(app.clock.count(of: .milliseconds(2500)) > 0)
            app.clock.advance(by: .milliseconds(1))
            let response = try await waiting
            #expect(response.status == 201)
        }
    }

    @Test("a guest's deletions are removed with the expired session; a user's deletions stay")
    func expiry() async throws {
        try await ShipsHarness.run { app in
            let (guest, user) = (try await app.enterAsGuest(), try await app.logIn())
            for token in [guest, user] {
                _ = try await app.get("/v1/ships", as: token)
                #expect(try await app.ask(.delete, "/v1/ships/b0b", as: token).status == 200)
            }
            let accounts = {
                try app.database.read { try String.fetchAll($0, sql: "SELECT DISTINCT account FROM ship_of_account") }
            }
            #expect(try accounts().count == 2)
            app.clock.advance(by: .seconds(401 * 86_400))
            try await app.sessions.endUnused()
            #expect(try accounts() == ["user:example@domain.com"])
            try await app.get("/v1/ships", as: guest).expectProblem("session-expired", 401)
        }
    }

    @Test("SHIP-03 a guest enters at once, and leads to the list")
    func guest() async throws {
        try await ShipsHarness.run(settings: .standard) { app in
            let response = try await app.ask(.post, "/v1/ships/session", body: #"{"mode":"guest"}"#)
            response.expectScreen("ships.session", status: 201)
            #expect(response["data.kind"] == "guest")
            #expect(response["data.name"] == .null)
            #expect(response["data.route.screen"] == "ships.list")
            #expect(app.spaceX.requests.isEmpty)
        }
    }

    @Test("WEB-05 SRV-11 a session by cookie is for pages of this server, and for the carrier that it was opened for")
    func byCookie() async throws {
        try await ShipsHarness.run { app in
            try await app.expectSessionsByCookie(login: Self.login, age: nil, end: "/v1/ships/session")
            let pair = try await app.enterByCookie(Self.login)
            let list = try await app.get("/v1/ships", as: nil, [.cookie: pair])
            #expect(list.status == 200 && list.headerFields[.vary]?.contains("Cookie") == true)
            let own = HTTPFields.ofOwnPage(pair)
            let image = try await app.get("/v1/ships/b0b/image", as: nil, own)
            #expect(image.status == 200 && image.headerFields[.cacheControl]?.contains("max-age") == false)
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
        try await ShipsHarness.run(settings: .standard) { app in
            let response = try await app.ask(.post, "/v1/ships/session", body: body)
            response.expectProblem("validation-failed", 422)
            #expect(response.all("pointer", in: "errors") == pointers.map { .string($0) })
            #expect(response.all("code", in: "errors") == codes.map { .string($0) })
            #expect(response["token"] == nil)
            #expect(app.clock.count(of: .milliseconds(2500)) == 0)
        }
    }

    @Test(
        "SHIP-02 the dialog says what is wrong with the field, in the language of the user",
        arguments: [
            ("example", "hunter2", "en", "Enter an e-mail address such as example@domain.com."),
            ("example", "", "ru", "Укажите адрес электронной почты, например example@domain.com."),
            ("example@domain.com", "", "en", "Enter your password."),
            ("", "x", "ru", "Укажите адрес электронной почты."),
        ]
    )
    func dialog(username: String, password: String, language: String, message: String) async throws {
        try await ShipsHarness.run { app in
            let response = try await app.ask(
                .post,
                "/v1/ships/session",
                [.acceptLanguage: language],
                body: #"{"mode":"login","username":"\#(username)","password":"\#(password)"}"#
            )
            #expect(response["dialog.message"] == .string(message))
            #expect(response.all("detail", in: "errors").first == .string(message))
            #expect(!response.text.contains("hunter2"))
        }
    }

    @Test(
        "a body that is no JSON object is 400, one of another type 415, a huge one 413",
        arguments: ["", "{", "[]", "null", "mode=guest", "\u{0}"]
    )
    func malformed(body: String) async throws {
        try await ShipsHarness.run { app in
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
        try await ShipsHarness.run { app in
            let response = try await app.ask(
                .post,
                "/v1/ships/session",
                body: #"{"mode":"login","username":"ünï@dömain.example","password":"\#(password)"}"#
            )
            #expect(response.status == 201)
            #expect(response["data.name"] == "ünï@dömain.example")
            #expect(response["data.password"] == nil)
        }
    }

    @Test("SHIP-02 a session survives a restart; only the hash of its token is on the disk")
    func restart() async throws {
        let directory = try DataDirectory.temporary()
        let kept = TokenBox()
        try await ShipsHarness.run(directory: directory) { app in kept.token = try await app.logIn() }
        let file = try Data(contentsOf: URL(filePath: directory.databasePath))
        #expect(file.range(of: Data("example@domain.com".utf8)) != nil)
        #expect(file.range(of: Data(kept.token.utf8)) == nil)
        try await ShipsHarness.run(directory: directory) { app in
            let shown = try await app.get("/v1/ships/session", as: kept.token)
            #expect(shown["data.name"] == "example@domain.com")
            #expect(try await app.get("/v1/ships/launch", as: kept.token)["data.route.screen"] == "ships.session")
        }
    }

    @Test("SHIP-05 logging out leads to the login; the token becomes invalid, other sessions and the ships stay")
    func leave() async throws {
        try await ShipsHarness.run { app in
            let (token, other) = (try await app.logIn(), try await app.logIn())
            _ = try await app.get("/v1/ships", as: token)
            let response = try await app.ask(.delete, "/v1/ships/session", as: token)
            response.expectScreen("ships.session")
            #expect(response["data.route.screen"] == "ships.session")
            #expect(response["data.alert"] == .null)
            #expect(response.names(in: "data") == ["route", "alert", "actions"])
            #expect(response.strings("id", in: "data.actions") == ["login", "guest"])
            for (method, path) in [
                (HTTPRequest.Method.get, "/v1/ships/session"), (.delete, "/v1/ships/session"), (.get, "/v1/ships"),
            ] {
                try await app.ask(method, path, as: token).expectProblem("session-expired", 401)
            }
            #expect(try await app.get("/v1/ships", as: other)["meta.source"] == "upstream")
        }
    }

    @Test("SHIP-05 a guest who leaves is thanked")
    func leaveAsGuest() async throws {
        try await ShipsHarness.run { app in
            let response = try await app.ask(.delete, "/v1/ships/session", as: app.enterAsGuest())
            #expect(response["data.route.screen"] == "ships.session")
            #expect(response["data.alert.message"] == "Thank you for trialing this app")
            #expect(response["data.alert.button"] == "OK")
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
        try await ShipsHarness.run { app in
            _ = try await app.get("/v1/ships", as: app.logIn())
            for fields in [[:], [.authorization: "Basic YTpi"], [.authorization: "Bearer"], [.authorization: ""]]
                as [HTTPFields]
            {
                let response = try await app.ask(method, path, fields)
                response.expectProblem("session-required", 401)
                #expect(response.headerFields[.wwwAuthenticate] == "Bearer")
                #expect(!response.text.contains("bob"))
            }
            try await app.ask(method, path, as: "unknown").expectProblem("session-expired", 401)
        }
    }

    @Test("TRUST-05 a session is opened and closed only if If-Match and If-None-Match hold")
    func preconditions() async throws {
        try await ShipsHarness.run { app, token in
            let tag = try #require(try await app.get("/v1/ships/session", as: token).headerFields[.eTag])
            for fields in [[.ifMatch: "\"1\""], [.ifNoneMatch: tag], [.ifNoneMatch: "*"]] as [HTTPFields] {
                try await app.ask(.delete, "/v1/ships/session", as: token, fields)
                    .expectProblem("precondition-failed", 412)
            }
            try await app.ask(.post, "/v1/ships/session", [.ifMatch: tag], body: Self.login)
                .expectProblem("precondition-failed", 412)
            #expect(try await app.get("/v1/ships", as: token).status == 200)
            #expect(try await app.ask(.delete, "/v1/ships/session", as: token, [.ifMatch: tag]).status == 200)
            try await app.get("/v1/ships", as: token).expectProblem("session-expired", 401)
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
        try await ShipsHarness.run { app in
            let response = try await app.ask(.put, path)
            response.expectProblem("method-not-allowed", 405)
            #expect(response.headerFields[.allow] == allowed)
        }
    }
}

@Suite("E-mail addresses")
struct EmailAddressTests {
    @Test(
        "SHIP-02 addresses of the usual form pass",
        arguments: [
            "example@domain.com", "a@b.c", "first.last+tag@sub.domain.co.uk", "ünï@dömain.example", "名前@例え.テスト",
            "'quoted'@x.org", "👩‍🚀@x.org",
            String(repeating: "a", count: 248) + "@bc.de",
        ]
    )
    func valid(text: String) {
        #expect(EmailAddress.isValid(text))
    }

    @Test(
        "SHIP-02 malformed addresses do not",
        arguments: [
            "", "example", "@domain.com", "example@", "example@domain", "a@b@c.de", "a@@b.de", "a@.de", "a@b..de",
            "a@b.", "a@.b.de", "a b@c.de", "a@b .de",
            " a@b.de",
            "a@b.de\n", "a\u{0}@b.de", "a\u{7F}@b.de", "a\u{85}@b.de", "a\u{A0}b@c.de", "a\u{3000}@b.de",
            "a@\u{301}b.de",
            String(repeating: "a", count: 249) + "@bc.de",
        ]
    )
    func invalid(text: String) {
        #expect(!EmailAddress.isValid(text))
    }

    @Test("the limit of 254 counts bytes, not characters")
    func bytes() {
        #expect(!EmailAddress.isValid(String(repeating: "ü", count: 130) + "@b.de"))
    }
}

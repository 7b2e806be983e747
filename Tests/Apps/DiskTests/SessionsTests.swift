import Concurrency
import Foundation
import GRDB
import HTTPTypes
import Screens
import Storage
import TestKit
import Testing
import Upstream

@testable import Disk

@Suite("Onboarding, login and logout over HTTP")
struct SessionsTests {
    @Test("DISK-01 a first start shows the onboarding with its three pages")
    func coldStart() async throws {
        try await DiskHarness.run { app in
            let launch = try await app.get("/v1/disk/launch")
            launch.expectScreen("disk.launch")
            #expect(launch["data.route.screen"] == "disk.onboarding")
            let onboarding = try await app.get("/v1/disk/onboarding")
            onboarding.expectScreen("disk.onboarding")
            #expect(onboarding.all("id", in: "data.pages") == ["documents", "offline", "sharing"])
            #expect(onboarding["data.button"] == "Next")
            for page in ["documents", "offline", "sharing"] {
                #expect(onboarding.all("image_url", in: "data.pages").contains(.string(Self.picture(of: page))))
                let picture = try await app.get(Self.picture(of: page))
                #expect(picture.status == 200 && picture.headerFields[.contentType] == "image/png")
                #expect(picture.body.starts(with: FakeYandexDisk.png.prefix(8)))
                #expect(Array(picture.body.suffix(8).prefix(4)) == Array("IEND".utf8))
                let tag = try #require(picture.headerFields[.eTag])
                #expect(try await app.get(Self.picture(of: page), [.ifNoneMatch: tag]).status == 304)
            }
            try await app.get(Self.picture(of: "other")).expectProblem("not-found", 404)
            #expect(onboarding["data.route.screen"] == "disk.session")
            #expect(app.disk.requests.isEmpty)
        }
    }

    @Test("WEB-05 WEB-06 SRV-11 a session by cookie is for pages of this server; browsers ask for each picture again")
    func byCookie() async throws {
        let disk = FakeYandexDisk()
        disk.put("disk:/photo.png", bytes: Array(FakeYandexDisk.png))
        try await DiskHarness.run(disk) { app in
            let login = #"{"mode":"oauth_token","access_token":"good"}"#
            try await app.expectSessionsByCookie(login: login, age: 34_560_000, end: "/v1/disk/session?confirm=true")
            let own = HTTPFields.ofOwnPage(try await app.enterByCookie(login))
            for path in ["file/content?path=/photo.png", "file?path=/photo.png", "profile/chart.svg"] {
                let response = try await app.get("/v1/disk/\(path)", as: nil, own)
                #expect(response.status == 200 && response.headerFields[.cacheControl] == "private, no-cache")
                #expect(response.headerFields[.vary]?.hasPrefix("Authorization, Cookie") == true)
            }
            let unasked = try await app.ask(.delete, "/v1/disk/session", as: nil, own)
            #expect(unasked.status == 409 && unasked.headerFields[.setCookie] == nil, "it only asks first")
        }
    }

    private static func picture(of page: String) -> String { "/v1/disk/onboarding/\(page)/image" }

    @Test("TRUST-05 changes of the onboarding honour If-Match and If-None-Match; Content-Range is refused")
    func onboardingPreconditions() async throws {
        try await DiskHarness.run { app in
            let unseen = try #require(try await app.get("/v1/disk/onboarding").headerFields[.eTag])
            func put(_ fields: HTTPFields, _ method: HTTPRequest.Method = .put) async throws -> Exchanged {
                try await app.ask(method, "/v1/disk/onboarding", fields, json: #"{"seen":true}"#)
            }
            for fields in [[.ifMatch: "\"bogus\""], [.ifNoneMatch: "*"], [.ifNoneMatch: unseen]] as [HTTPFields] {
                for method in [HTTPRequest.Method.put, .delete] {
                    try await put(fields, method).expectProblem("precondition-failed", 412)
                }
            }
            try await put([.contentRange: "bytes 0-1/2"]).expectProblem("invalid-parameter", 400)
            #expect(try await app.get("/v1/disk/onboarding")["data.seen"] == false)
            #expect(try await put([.ifMatch: unseen]).status == 200)
            try await put([.ifMatch: unseen], .delete).expectProblem("precondition-failed", 412)
            #expect(try await app.get("/v1/disk/onboarding")["data.seen"] == true)
        }
    }

    @Test("TRUST-05 what opens a session, ends it, or begins a download honours If-Match and If-None-Match")
    func sessionPreconditions() async throws {
        try await DiskHarness.run(FakeYandexDisk("disk:/a.txt")) { app, token in
            let tag = try #require(try await app.get("/v1/disk/session", as: token).headerFields[.eTag])
            let login = #"{"mode":"oauth_token","access_token":"good"}"#
            try await app.ask(.post, "/v1/disk/session", [.ifMatch: tag], json: login)
                .expectProblem("precondition-failed", 412)
            let download = #"{"path":"/a.txt"}"#
            try await app.ask(.post, "/v1/disk/downloads", as: token, [.ifMatch: "*"], json: download)
                .expectProblem("precondition-failed", 412)
            let close = "/v1/disk/session?confirm=true"
            for fields in [[.ifMatch: "\"1\""], [.ifNoneMatch: tag], [.ifNoneMatch: "*"]] as [HTTPFields] {
                try await app.ask(.delete, close, as: token, fields).expectProblem("precondition-failed", 412)
            }
            #expect(try await app.get("/v1/disk/files", as: token).status == 200)
            #expect(try await app.ask(.delete, close, as: token, [.ifMatch: tag]).status == 200)
            try await app.get("/v1/disk/files", as: token).expectProblem("session-expired", 401)
        }
    }

    @Test("DISK-02 once seen, never again: not after a restart, not after a logout; a reset shows it again")
    func seen() async throws {
        let temporary = TemporaryFolder.unmade()
        defer { withExtendedLifetime(temporary) {} }
        let folder = temporary.url
        try await DiskHarness.run(.init(), DiskHarness.Settings(directory: try DataDirectory(at: folder))) { app in
            let response = try await app.ask(.put, "/v1/disk/onboarding", json: #"{"seen":true}"#)
            #expect(response["data.seen"] == true)
            #expect(try await app.get("/v1/disk/launch")["data.route.screen"] == "disk.session")
            let token = try await app.logIn()
            #expect(try await app.get("/v1/disk/launch", as: token)["data.route.screen"] == "disk.recent")
            #expect(try await app.ask(.delete, "/v1/disk/session?confirm=true", as: token).status == 200)
            #expect(try await app.get("/v1/disk/launch", as: token)["data.route.screen"] == "disk.session")
        }
        try await DiskHarness.run(.init(), DiskHarness.Settings(directory: try DataDirectory(at: folder))) { app in
            let before = try await app.get("/v1/disk/launch")
            #expect(before["data.route.screen"] == "disk.session")
            #expect(try await app.ask(.delete, "/v1/disk/onboarding")["data.seen"] == false)
            #expect(try await app.get("/v1/disk/launch")["data.route.screen"] == "disk.onboarding")
        }
    }

    @Test(
        "what is no flag is refused and changes nothing",
        arguments: [(#"{}"#, 422), (#"{"seen":1}"#, 422), (#"{"seen":"true"}"#, 422), ("[]", 400), ("", 400)]
    )
    func malformedOnboarding(body: String, status: Int) async throws {
        try await DiskHarness.run { app in
            let response = try await app.ask(.put, "/v1/disk/onboarding", json: body)
            #expect(response.status == status)
            #expect(try await app.get("/v1/disk/onboarding")["data.seen"] == false)
        }
    }

    @Test("DISK-03 every other route responds with 401 without a session, and no data, stored or not")
    func closed() async throws {
        try await DiskHarness.run { app in
            app.disk.put("disk:/secret.txt")
            let token = try await app.logIn()
            #expect(try await app.get("/v1/disk/files", as: token).status == 200)
            for route in app.app.routes where route.sessionApp != nil {
                let query = route.input.parameters.contains("path") ? "?path=/secret.txt" : ""
                let response = try await app.ask(route.method, route.path.replacing("{id}", with: "x") + query)
                response.expectProblem("session-required", 401)
                #expect(response.headerFields[.wwwAuthenticate] == "Bearer")
                #expect(!response.text.contains("secret"))
                try await app.ask(route.method, route.path.replacing("{id}", with: "x"), as: "wrong").expectProblem(
                    "session-expired",
                    401
                )
            }
            let open = app.app.routes.filter { $0.sessionApp == nil }.map {
                "\($0.method) \($0.path)"
            }
            #expect(
                open == [
                    "GET /v1/disk/launch", "GET /v1/disk/onboarding", "PUT /v1/disk/onboarding",
                    "DELETE /v1/disk/onboarding", "GET /v1/disk/onboarding/{id}/image",
                    "POST /v1/disk/session/authorization", "POST /v1/disk/session",
                ]
            )
        }
    }

    @Test("a session that is not used for 400 days ends with its token; the last one with all of its account")
    func lifetime() async throws {
        try await DiskHarness.run { app in
            let count = { (table: String) in
                try app.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM \(table)") ?? 0 }
            }
            let tokens = { try app.store.database.read { try DiskStore.tokenNames(of: "1130", $0).count } }
            let (unused, used) = (try await app.logIn(), try await app.logIn())
            #expect(try await app.get("/v1/disk/files?path=/", as: used).status == 200)
            let (rows, secrets) = (try count("disk_item"), try count("user_secret"))
            #expect(try rows > 0 && tokens() == 2 && count("disk_login") == 2)
            app.clock.advance(by: .seconds(300 * 86_400))
            #expect(try await app.get("/v1/disk/session", as: used).status == 200)
            app.clock.advance(by: .seconds(101 * 86_400))
            try await app.sessions.endUnused()
            try await app.get("/v1/disk/session", as: unused).expectProblem("session-expired", 401)
            #expect(try await app.get("/v1/disk/session", as: used).status == 200)
            #expect(try count("disk_item") == rows && tokens() == 1 && count("user_secret") == secrets - 1)
            app.clock.advance(by: .seconds(401 * 86_400))
            try await app.sessions.endUnused()
            try await app.get("/v1/disk/session", as: used).expectProblem("session-expired", 401)
            for table in ["disk_account", "disk_cache", "disk_login", "disk_item", "session"] {
                #expect(try count(table) == 0, "\(table)")
            }
            #expect(try count("user_secret") == secrets - 2)
        }
    }

    @Test("DISK-06 a token that the upstream refuses opens nothing: 401; out of reach: 503; nonsense: 502")
    func refusedLogin() async throws {
        try await DiskHarness.run { app in
            let body = #"{"mode":"oauth_token","access_token":"wrong"}"#
            try await app.ask(.post, "/v1/disk/session", json: body).expectProblem("invalid-credentials", 401)
            app.disk.respond(200)
            try await app.ask(.post, "/v1/disk/session", json: body).expectProblem("upstream-bad-response", 502)
            app.disk.respond(403)
            try await app.ask(.post, "/v1/disk/session", json: body).expectProblem("upstream-forbidden", 403)
            app.disk.goAway()
            let offline = try await app.ask(.post, "/v1/disk/session", json: body)
            offline.expectProblem("upstream-unavailable", 503)
            #expect(offline["offline"] == true)
            let rows = "SELECT (SELECT count(*) FROM session) + (SELECT count(*) FROM disk_account)"
            #expect(try app.database.integer(rows) == 0)
        }
    }

    @Test(
        "what is wrong with a login is named",
        arguments: [
            (#"{}"#, "/mode"), (#"{"mode":"password"}"#, "/mode"), (#"{"mode":"oauth_token"}"#, "/access_token"),
            (#"{"mode":"oauth_token","access_token":""}"#, "/access_token"),
            (#"{"mode":"oauth_token","access_token":"a b"}"#, "/access_token"),
            (#"{"mode":"oauth_token","access_token":"a\r\nX: y"}"#, "/access_token"),
            (#"{"mode":"oauth_token","access_token":7}"#, "/access_token"),
            (#"{"mode":"oauth_code","code":"1"}"#, "/mode"),
        ]
    )
    func malformedLogin(body: String, pointer: String) async throws {
        try await DiskHarness.run { app in
            let response = try await app.ask(.post, "/v1/disk/session", json: body)
            response.expectProblem("validation-failed", 422)
            #expect(response["errors.0.pointer"] == .string(pointer))
            #expect(app.disk.requests.isEmpty)
        }
    }

    @Test("DISK-06 a token that is revoked later: 401, also for stored data, offline too, until it is accepted again")
    func revoked() async throws {
        try await DiskHarness.run(FakeYandexDisk("disk:/a.txt")) { app, disk, token in
            for target in ["files", "file/content?path=/a.txt"] {
                #expect(try await app.get("/v1/disk/\(target)", as: token).status == 200)
            }
            disk.change { $0.tokens = [:] }
            app.clock.advance(by: .seconds(10))
            let targets = [
                "files", "recent", "published", "profile", "file?path=/a.txt", "file/content?path=/a.txt",
                "search?q=a", "trash",
            ]
            for target in targets {
                let response = try await app.get("/v1/disk/\(target)", as: token)
                response.expectProblem("upstream-session-expired", 401)
                #expect(!response.text.contains("a.txt"))
            }
            try await app.ask(.delete, "/v1/disk/file?path=/a.txt", as: token).expectProblem(
                "upstream-session-expired",
                401
            )
            disk.goAway()
            try await app.get("/v1/disk/files", as: token).expectProblem("upstream-session-expired", 401)
            try await app.get("/v1/disk/files", as: token).expectProblem("upstream-session-expired", 401)
            disk.intercept(nil)
            disk.change { $0.tokens["good"] = "1130" }
            #expect(try await app.get("/v1/disk/files?refresh=1", as: token).status == 200)
        }
    }

    @Test(
        "DISK-32 logging out asks first, in these words, and unconfirmed removes nothing",
        arguments: ["", "?confirm=false", "?confirm=0"]
    )
    func unconfirmed(query: String) async throws {
        try await DiskHarness.run { app, token in
            let response = try await app.ask(.delete, "/v1/disk/session\(query)", as: token)
            response.expectProblem("confirmation-required", 409)
            #expect(response["dialog.message"] == "Are you sure you want to log out? All local data will be deleted.")
            #expect(response["dialog.buttons"] == ["Yes", "No"])
            #expect(try await app.get("/v1/disk/session", as: token).status == 200)
        }
    }

    @Test("DISK-33 logging out removes all of the account, offline too, and nothing else; the old token opens nothing")
    func logout() async throws {
        let disk = FakeYandexDisk()
        disk.change { $0.tokens["other"] = "2240" }
        disk.put("disk:/mine.png", bytes: Array("content of mine".utf8), mediaType: "image", mimeType: "image/png")
        try await DiskHarness.run(disk) { app in
            _ = try await app.ask(.put, "/v1/disk/onboarding", json: #"{"seen":true}"#)
            let (mine, second, other) = (try await app.logIn(), try await app.logIn(), try await app.logIn("other"))
            for token in [mine, other] {
                for target in [
                    "profile", "files", "recent", "file/content?path=/mine.png", "file/preview?path=/mine.png",
                ] {
                    #expect(try await app.get("/v1/disk/\(target)", as: token).status == 200)
                }
                let download = try await app.ask(.post, "/v1/disk/downloads", as: token, json: #"{"path":"/mine.png"}"#)
                #expect(download.status == 202)
            }
            disk.goAway()
            _ = try await app.get("/v1/disk/files?refresh=1", as: mine)
            let farewell = try await app.ask(.delete, "/v1/disk/session?confirm=true", as: mine)
            farewell.expectScreen("disk.session")
            #expect(farewell["data.route.screen"] == "disk.session")
            for token in [mine, second] {
                try await app.get("/v1/disk/files", as: token).expectProblem("session-expired", 401)
            }
            #expect(try await app.get("/v1/disk/launch", as: mine)["data.route.screen"] == "disk.session")
            for table in ["disk_account", "disk_cache", "disk_login", "disk_item", "disk_download"] {
                let own = try app.database.integer("SELECT count(*) FROM \(table) WHERE account = '1130'")
                let others = try app.database.integer("SELECT count(*) FROM \(table) WHERE account = '2240'") ?? 0
                #expect(own == 0 && others > 0, "\(table)")
            }
            #expect(try app.database.integer("SELECT count(*) FROM page WHERE account = 'disk/1130'") == 0)
            let secrets = "SELECT count(*) FROM user_secret WHERE name LIKE 'disk/token/1130/%'"
            #expect(try app.database.integer(secrets) == 0)
            #expect(try app.database.integer("SELECT count(DISTINCT credential) FROM stored_response") == 1)
            let theirs = try await app.get("/v1/disk/file/content?path=/mine.png", as: other)
            #expect(theirs.text == "content of mine")
            #expect(try await app.get("/v1/disk/files", as: other)["meta.offline"] == true)
            #expect(try await app.get("/v1/disk/onboarding")["data.seen"] == true)
        }
    }

    @Test("two accounts see their own, whatever the other has stored")
    func accounts() async throws {
        let disk = FakeYandexDisk()
        disk.change { $0.tokens["other"] = "2240" }
        disk.put("disk:/shared-name.txt", "mine")
        try await DiskHarness.run(disk) { app in
            let (mine, other) = (try await app.logIn(), try await app.logIn("other"))
            #expect(try await app.get("/v1/disk/file/content?path=/shared-name.txt", as: mine).text == "mine")
            disk.goAway()
            _ = try await app.get("/v1/disk/files?refresh=1", as: mine)
            try await app.get("/v1/disk/file/content?path=/shared-name.txt", as: other).expectProblem(
                "upstream-unavailable",
                503
            )
            try await app.get("/v1/disk/file?path=/shared-name.txt", as: other).expectProblem(
                "upstream-unavailable",
                503
            )
            try await app.get("/v1/disk/files", as: other).expectProblem("upstream-unavailable", 503)
        }
    }

    @Test("DISK-04 the mount of the upstream sends the token of the session's account, and no other")
    func mount() async throws {
        let disk = FakeYandexDisk()
        disk.change { $0.tokens["other"] = "2240" }
        try await DiskHarness.run(disk) { app in
            let (mine, other) = (try await app.logIn(), try await app.logIn("other"))
            #expect(try await app.get("/v1/upstreams/yandex_disk/", as: mine).status == 200)
            #expect(disk.requests.last?.headerFields[.authorization] == "OAuth good")
            _ = try await app.get("/v1/upstreams/yandex_disk/resources?path=disk:/", as: other)
            #expect(disk.requests.last?.headerFields[.authorization] == "OAuth other")
            _ = try await app.get("/v1/upstreams/yandex_disk/resources?path=disk:/")
            #expect(disk.requests.last?.headerFields[.authorization] == nil)
            _ = try await app.ask(.delete, "/v1/disk/session?confirm=true", as: mine)
            _ = try await app.get("/v1/upstreams/yandex_disk/resources?path=disk:/", as: mine)
            #expect(disk.requests.last?.headerFields[.authorization] != "OAuth good")
        }
    }
}

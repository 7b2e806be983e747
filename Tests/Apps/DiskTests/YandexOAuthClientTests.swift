import Crypto
import Foundation
import GRDB
import HTTPTypes
import Screens
import Storage
import Synchronization
import TestKit
import Testing
import Upstream

@testable import Disk

@Suite("Login with a code, refresh and revocation")
struct YandexOAuthClientTests {
    /// Yandex OAuth with one code, one refresh token, and tokens that the Disk knows.
    private static func oauth(_ disk: FakeYandexDisk, expiresIn: Int = 31_536_000) -> ScriptedTransport {
        let issued = Mutex(0)
        return ScriptedTransport { (request) throws(UpstreamError) in
            let form = form(of: request)
            switch (request.url, form["grant_type"]) {
            case ("https://oauth.test/token", "authorization_code"):
                guard form["code"] == "1234567" else {
                    return .json(#"{"error":"bad_verification_code","error_description":"d"}"#, status: .badRequest)
                }
            case ("https://oauth.test/token", "refresh_token"):
                guard form["refresh_token"]?.hasPrefix("refresh") == true else {
                    return .json(#"{"error":"invalid_grant"}"#, status: .badRequest)
                }
            default: return .json(#"{"status":"ok"}"#)
            }
            let number = issued.withLock { count in
                count += 1
                return count
            }
            disk.change { $0.tokens = ["access\(number)": "1130"] }
            return .json(
                #"{"access_token":"access\#(number)","refresh_token":"refresh\#(number)","#
                    + #""expires_in":\#(expiresIn),"token_type":"bearer"}"#
            )
        }
    }

    private static func form(of request: OutgoingRequest) -> [String: String] {
        var items: [String: String] = [:]
        for item in String(decoding: request.body ?? [], as: UTF8.self).split(separator: "&") {
            let parts = item.split(separator: "=", maxSplits: 1)
            items[String(parts[0])] = parts.count > 1 ? String(parts[1]).removingPercentEncoding : ""
        }
        return items
    }

    /// Runs a test with a session that was opened with a code, on a Disk with a file.
    private static func loggedIn(
        expiresIn: Int = 31_536_000,
        _ test:
            @Sendable (
                _ app: DiskHarness, _ disk: FakeYandexDisk, _ oauth: ScriptedTransport, _ token: String
            ) async throws -> Void
    ) async throws {
        let disk = FakeYandexDisk()
        disk.put("disk:/a.txt")
        let oauth = oauth(disk, expiresIn: expiresIn)
        try await DiskHarness.run(disk, DiskHarness.Settings(client: client, oauth: oauth)) { app in
            let login = try await app.ask(.post, "/v1/disk/session", json: #"{"mode":"oauth_code","code":"1234567"}"#)
            try await test(app, disk, oauth, try login.string("data.token"))
        }
    }

    private static let client = YandexOAuthClient.Application(
        id: "client",
        secret: Secret("hush+hush"),
        redirectURI: "https://app.test/back"
    )

    @Test("DISK-05 the code flow: an address with PKCE and state, the exchange, a session; a state works once")
    func codeFlow() async throws {
        let disk = FakeYandexDisk()
        let oauth = Self.oauth(disk)
        try await DiskHarness.run(disk, DiskHarness.Settings(client: Self.client, oauth: oauth)) { app in
            let begun = try await app.ask(.post, "/v1/disk/session/authorization")
            begun.expectScreen("disk.session", status: 201)
            let (address, state) = (try begun.string("data.authorize_url"), try begun.string("data.state"))
            let items = try #require(URLComponents(string: address)).queryItems ?? []
            let query = Dictionary(items.map { ($0.name, $0.value ?? "") }) { first, _ in first }
            #expect(address.hasPrefix("https://oauth.test/authorize?"))
            #expect(
                query["response_type"] == "code" && query["client_id"] == "client" && query["state"] == state
                    && query["code_challenge_method"] == "S256"
            )
            #expect(query["redirect_uri"] == "https://app.test/back")
            #expect(!address.contains("hush"))
            let login = #"{"mode":"oauth_code","code":"1234567","state":"\#(state)"}"#
            let opened = try await app.ask(.post, "/v1/disk/session", json: login)
            #expect(opened.status == 201)
            let form = Self.form(of: try #require(oauth.requests.last))
            let verifier = try #require(form["code_verifier"])
            let challenge = Data(SHA256.hash(data: Data(verifier.utf8))).base64EncodedString().replacing("+", with: "-")
                .replacing("/", with: "_").replacing("=", with: "")
            #expect(query["code_challenge"] == challenge && (43...128).contains(verifier.utf8.count))
            #expect(form["client_secret"] == "hush+hush" && form["grant_type"] == "authorization_code")
            let again = try await app.ask(.post, "/v1/disk/session", json: login)
            again.expectProblem("validation-failed", 422)
            #expect(again["errors.0.pointer"] == "/state")
            for response in [begun, opened, again] {
                for secret in ["access1", "refresh1", "hush", verifier] { #expect(!response.text.contains(secret)) }
            }
            let stored = try app.everythingStored()
            for secret in ["access1", "refresh1", "hush+hush", verifier, state] {
                #expect(stored.firstRange(of: Data(secret.utf8)) == nil, "\(secret)")
            }
            #expect(!app.log.lines.contains { $0.contains("access1") || $0.contains("hush") || $0.contains(verifier) })
        }
    }

    @Test("DISK-05 a code without a state works, too; a wrong one is 401; an old state is unknown")
    func plainCode() async throws {
        let disk = FakeYandexDisk()
        try await DiskHarness.run(disk, DiskHarness.Settings(client: Self.client, oauth: Self.oauth(disk))) { app in
            #expect(
                try await app.ask(.post, "/v1/disk/session", json: #"{"mode":"oauth_code","code":"1234567"}"#).status
                    == 201
            )
            try await app.ask(.post, "/v1/disk/session", json: #"{"mode":"oauth_code","code":"7654321"}"#)
                .expectProblem("invalid-credentials", 401)
            try await app.ask(.post, "/v1/disk/session", json: #"{"mode":"oauth_code"}"#).expectProblem(
                "validation-failed",
                422
            )
            let state = try await app.ask(.post, "/v1/disk/session/authorization").string("data.state")
            app.clock.advance(by: .seconds(601))
            try await app.ask(
                .post,
                "/v1/disk/session",
                json: #"{"mode":"oauth_code","code":"1234567","state":"\#(state)"}"#
            ).expectProblem("validation-failed", 422)
        }
    }

    @Test("WEB-15 SRV-11 the code of a login that began in another browser opens no session by cookie in this one")
    func foreignLogin() async throws {
        let disk = FakeYandexDisk()
        try await DiskHarness.run(disk, DiskHarness.Settings(client: Self.client, oauth: Self.oauth(disk))) { app in
            func begin() async throws -> (state: String, cookie: String) {
                let begun = try await app.ask(.post, Self.authorization, as: nil, [.larderSession: "cookie"])
                let cookie = try #require(begun.headerFields[.setCookie])
                #expect(cookie.hasSuffix("; Path=/v1; HttpOnly; SameSite=Strict; Max-Age=600"))
                return (try begun.string("data.state"), String(cookie.prefix { $0 != ";" }))
            }
            let (mine, theirs) = (try await begin(), try await begin())
            #expect(mine.cookie.hasPrefix(app.sessions.cookies.name(of: "disk-login") + "="))
            func finish(_ state: String, _ cookies: String) async throws -> Exchanged {
                let fields = HTTPFields.ofOwnPage(cookies)
                let login = #"{"mode":"oauth_code","code":"1234567","state":"\#(state)"}"#
                return try await app.ask(
                    .post,
                    "/v1/disk/session",
                    as: nil,
                    fields.merging([.larderSession: "cookie"]),
                    json: login
                )
            }
            for cookies in ["a=b", mine.cookie, "\(theirs.cookie); \(mine.cookie)"] {
                let refused = try await finish(theirs.state, cookies)
                refused.expectProblem("validation-failed", 422)
                #expect(refused["errors.0.pointer"] == "/state" && refused.headerFields[.setCookie] == nil)
            }
            #expect(try await finish(mine.state, mine.cookie).status == 201, "it was not used up")
            let program = #"{"mode":"oauth_code","code":"1234567","state":"\#(theirs.state)"}"#
            #expect(try await app.ask(.post, "/v1/disk/session", json: program).status == 201, "as before")
        }
    }

    private static let authorization = "/v1/disk/session/authorization"

    @Test("without an application there is no code flow, and it says which setting is missing")
    func unconfigured() async throws {
        try await DiskHarness.run { app in
            let response = try await app.ask(.post, "/v1/disk/session/authorization")
            response.expectProblem("validation-failed", 422)
            #expect(response.text.contains("disk.oauth_client_id"))
        }
    }

    @Test(
        "DISK-05 an expired or refused token is refreshed once for all requests, and what was stored is still there",
        arguments: [true, false]
    )
    func refresh(hasRunOut: Bool) async throws {
        try await Self.loggedIn(expiresIn: 3600) { app, disk, oauth, token in
            _ = try await app.get("/v1/disk/files", as: token)
            if hasRunOut { app.clock.advance(by: .seconds(3590)) } else { disk.change { $0.tokens = [:] } }
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for screen in ["recent", "published", "profile", "files?refresh=1", "trash"] {
                    group.addTask { try await app.get("/v1/disk/\(screen)", as: token).status }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses == [200, 200, 200, 200, 200])
            #expect(oauth.requests.count { Self.form(of: $0)["grant_type"] == "refresh_token" } == 1)
            #expect(try app.database.integer("SELECT count(DISTINCT credential) FROM stored_response") == 1)
        }
    }

    @Test("DISK-06 a refused refresh ends the upstream's session: 401; one that fails is 503, and shows nothing stored")
    func refreshRefused() async throws {
        try await Self.loggedIn { app, disk, oauth, token in
            _ = try await app.get("/v1/disk/files", as: token)
            disk.change { $0.tokens = [:] }
            oauth.goAway()
            let unreachable = try await app.get("/v1/disk/files?refresh=1", as: token)
            unreachable.expectProblem("upstream-unavailable", 503)
            #expect(unreachable["upstream.name"] == "yandex_oauth")
            try await app.get("/v1/disk/search?q=a", as: token).expectProblem("upstream-unavailable", 503)
            oauth.always { (_) in .json(#"{"error":"invalid_grant"}"#, status: .badRequest) }
            try await app.get("/v1/disk/files?refresh=1", as: token).expectProblem("upstream-session-expired", 401)
        }
    }

    @Test(
        "DISK-37 a token that expired while OAuth is away leaves what is stored readable, as offline; writes say why",
        arguments: ["away", "500", "429", "page", "nonsense"]
    )
    func expiredWhileAway(failure: String) async throws {
        try await Self.loggedIn(expiresIn: 3600) { app, disk, oauth, token in
            let stored = ["files", "recent", "profile", "file?path=/a.txt"]
            for target in stored { #expect(try await app.get("/v1/disk/\(target)", as: token).status == 200) }
            app.clock.advance(by: .seconds(3590))
            oauth.always { (_) throws(UpstreamError) in
                switch failure {
                case "500": .json("{}", status: .internalServerError)
                case "429": .json("{}", status: .tooManyRequests, headerFields: [.retryAfter: "5"])
                case "page": .page(502)
                case "nonsense": .json("{}")
                default: throw .unreachable(.reset)
                }
            }
            let requests = disk.requests.count
            for target in stored + ["files?limit=1"] {
                let response = try await app.get("/v1/disk/\(target)", as: token)
                #expect(response.status == 200 && response["meta.offline"] == true, "\(target): \(response.text)")
                #expect(response["meta.banner.code"] == "offline" && response["meta.stale"] == true, "\(target)")
            }
            // Never searched before: the rows stored for other screens are searched, and nothing was forwarded.
            let found = try await app.get("/v1/disk/search?q=a", as: token)
            #expect(found["meta.offline"] == true && found["meta.partial"] == true && found.text.contains("a.txt"))
            #expect(found.cacheStatus == "larder; hit; detail=offline", "\(failure)")
            let missing = try await app.get("/v1/disk/files?path=/never", as: token)
            #expect(missing.status >= 429 && missing["upstream.name"] == "yandex_oauth")
            let write = try await app.ask(.delete, "/v1/disk/file?path=/a.txt", as: token)
            #expect(write.status >= 429 && write["upstream.name"] == "yandex_oauth")
            #expect(write.text.contains("Nothing was changed") && !write.text.contains("stored"))
            #expect(disk.requests.count == requests, "nothing is sent without a token")
        }
    }

    @Test("DISK-37 a slow OAuth costs no more than the patience if something is stored, and all it takes if not")
    func slow() async throws {
        try await Self.loggedIn(expiresIn: 3600) { app, disk, oauth, token in
            _ = try await app.get("/v1/disk/files", as: token)
            app.clock.advance(by: .seconds(3590))
            oauth.hold()
            async let stored = app.get("/v1/disk/files", as: token)
            async let missing = app.get("/v1/disk/recent", as: token)
            await app.clock.sleepers(2, of: .seconds(2))
            app.clock.advance(by: .seconds(2))
            let shown = try await stored
            #expect(shown["meta.offline"] == true && DiskHarness.names(shown) == ["a.txt"])
            oauth.release()
            #expect(try await missing.status == 200)
            #expect(oauth.requests.count { Self.form(of: $0)["grant_type"] == "refresh_token" } == 1)
            #expect(try await app.get("/v1/disk/files?refresh=1", as: token)["meta.offline"] == false)
        }
    }

    @Test("DISK-05 logging out revokes the token at Yandex, and does not wait for it nor need it")
    func revocation() async throws {
        try await Self.loggedIn { app, disk, oauth, token in
            oauth.hold()
            #expect(try await app.ask(.delete, "/v1/disk/session?confirm=true", as: token).status == 200)
            await oauth.requestIsHeld()
            let request = try #require(oauth.requests.last)
            #expect(
                request.url == "https://oauth.test/revoke_token" && Self.form(of: request)["access_token"] == "access1"
            )
            oauth.release()
        }
    }
}

@Suite("The token of an account", .timeLimit(.minutes(10)))
struct TokenProviderTests {
    @Test("a token is opened only if a request is sent: what is stored needs none, fresh or offline")
    func opened() async throws {
        try await DiskHarness.run(FakeYandexDisk("disk:/a.txt")) { app, disk, token in
            #expect(try await app.get("/v1/disk/files", as: token).status == 200)
            try await app.database.write { try $0.execute(sql: "DELETE FROM user_secret") }

            #expect(DiskHarness.names(try await app.get("/v1/disk/files", as: token)) == ["a.txt"])
            let requests = disk.requests.count
            try await app.get("/v1/disk/files?refresh=1", as: token).expectProblem("session-expired", 401)
            #expect(disk.requests.count == requests)
        }
    }
}

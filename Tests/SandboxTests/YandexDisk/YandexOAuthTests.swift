import HTTPTypes
import JSONValues
import Testing

@testable import Sandbox

@Suite struct YandexOAuthTests {
    private let bench = DiskBench()
    // RFC 7636 appendix B.
    private static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    private static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

    private func authorize(_ query: KeyValuePairs<String, String>) -> UpstreamResponse {
        bench.send(.get, "/yandex_oauth/authorize?client_id=sandbox-client&\(FormEncoding.query(query))")
    }

    private func post(_ path: String, _ form: KeyValuePairs<String, String>, headers: HTTPFields = [:])
        -> UpstreamResponse
    {
        bench.send(.post, "/yandex_oauth/\(path)", headers: headers, body: Array(FormEncoding.query(form).utf8))
    }

    @Test("DISK-46 a token that lacks a right is refused by the calls that need it, and by no others")
    func rights() throws {
        for (right, allowed) in [("info", ["GET "]), ("read", ["GET /resources"]), ("write", ["PUT /resources"])] {
            let tokens = try bench.control(.post, "tokens", #"{"rights":["\#(right)"]}"#, of: .yandexOAuth)
            let token = try #require(tokens["access_token"]?.string)
            for call in ["GET ", "GET /resources", "PUT /resources", "GET /resources/upload", "DELETE /resources"] {
                let method: HTTPRequest.Method = ["GET": .get, "PUT": .put][call.prefix(3)] ?? .delete
                let path = String(call.drop { $0 != " " }.dropFirst())
                let status = bench.call(method, path, ["path": "disk:/\(right)"], token: token).status.code
                let isWrite = right == "write" && !allowed.contains(call) && call != "GET " && call != "GET /resources"
                #expect((status != 403) == (allowed.contains(call) || isWrite), "\(right), \(call): \(status)")
            }
        }
        #expect(throws: (any Error).self) {
            try bench.control(.post, "tokens", #"{"rights":["all"]}"#, of: .yandexOAuth)
        }
    }

    @Test("DISK-46 a token of an application's folder opens app:/ only, which the first request makes")
    func appFolder() throws {
        let tokens = try bench.control(.post, "tokens", #"{"rights":["app_folder"]}"#, of: .yandexOAuth)
        let token = try #require(tokens["access_token"]?.string)
        let root = bench.call(.get, "/resources", ["path": "app:/"], token: token)
        let shown = try JSONParser.parse(root.body).object
        #expect(root.status == .ok && shown?["path"] == "disk:/Приложения/Larder")
        #expect(bench.call(.put, "/resources", ["path": "app:/new"], token: token).status == .created)
        #expect(bench.call(.get, "/resources", ["path": "disk:/Приложения/Larder/new"]).status == .ok)
        let move: KeyValuePairs = ["from": "app:/new", "path": "app:/old"]
        #expect(bench.call(.post, "/resources/move", move, token: token).status.code < 203)
        for (method, path, query) in [
            (HTTPRequest.Method.get, "/resources", ["path": "disk:/"]),
            (.get, "/resources", ["path": "disk:/Приложения/Larder"]), (.get, "/resources/files", [:]), (.get, "", [:]),
            (.post, "/resources/move", ["from": "disk:/a", "path": "app:/b"]),
            (.get, "/trash/resources", ["path": "trash:/"]),
        ] as [(HTTPRequest.Method, String, KeyValuePairs<String, String>)] {
            #expect(bench.call(method, path, query, token: token).status == .forbidden, "\(method) \(path)")
        }
    }

    private func items(_ response: UpstreamResponse, after separator: Character = "?") throws -> [String: String] {
        let location = try #require(response.headers[.location])
        let index = try #require(location.firstIndex(of: separator))
        return Dictionary(RequestTarget.form(location[location.index(after: index)...]).map { ($0.name, $0.value) }) {
            first,
            _ in first
        }
    }

    private func code(challenge: String? = challenge) throws -> String {
        let response =
            challenge.map {
                authorize([
                    "response_type": "code", "redirect_uri": "app://done", "code_challenge": $0,
                    "code_challenge_method": "S256",
                ])
            }
            ?? authorize(["response_type": "code", "redirect_uri": "app://done"])
        return try #require(try items(response)["code"])
    }

    @Test("consent leads back to the application with code and state; their exchange opens the account")
    func codeFlow() throws {
        let response = authorize([
            "response_type": "code", "redirect_uri": "http://127.0.0.1:1/cb?a=1", "state": "s + &",
            "code_challenge": Self.challenge,
            "code_challenge_method": "S256", "login_hint": "boris",
        ])
        #expect(
            response.status == .found
                && response.headers[.location]?.hasPrefix("http://127.0.0.1:1/cb?a=1&code=") == true
        )
        #expect(try items(response)["state"] == "s + &")
        let code = try #require(try items(response)["code"])
        let token = post(
            "token",
            [
                "grant_type": "authorization_code", "code": code, "client_id": "sandbox-client",
                "code_verifier": Self.verifier,
            ]
        )
        #expect(token.status == .ok && token.headers[.contentType] == "application/json")
        let tokens = try token.object()
        #expect(tokens.members.map(\.name) == ["access_token", "expires_in", "refresh_token", "token_type"])
        #expect(tokens["expires_in"] == 31_536_000 && tokens["token_type"] == "bearer")
        #expect(try bench.json(.get, "", token: tokens["access_token"]?.string)["user"]?.object?["login"] == "boris")
        let again = post(
            "token",
            [
                "grant_type": "authorization_code", "code": code, "client_id": "sandbox-client",
                "code_verifier": Self.verifier,
            ]
        )
        #expect(again.failure == "400 bad_verification_code", "a code is good for one use")
    }

    @Test("a wrong or missing verifier, and a late code, give no token")
    func refusedCodes() throws {
        let wrong = String(repeating: "x", count: 43)
        let first = post(
            "token",
            [
                "grant_type": "authorization_code", "code": try code(), "client_id": "sandbox-client",
                "code_verifier": wrong,
            ]
        )
        #expect(first.failure == "400 invalid_grant")
        #expect(
            post("token", ["grant_type": "authorization_code", "code": try code(), "client_id": "sandbox-client"])
                .failure == "400 invalid_request"
        )
        let late = try code()
        try bench.control(.post, "clock", #"{"advance_s":601}"#)
        let response = post(
            "token",
            [
                "grant_type": "authorization_code", "code": late, "client_id": "sandbox-client",
                "code_verifier": Self.verifier,
            ]
        )
        #expect(response.failure == "400 invalid_grant")
    }

    @Test("without a challenge the client's secret is needed, in the form or by Basic")
    func secret() throws {
        let public1 = post(
            "token",
            ["grant_type": "authorization_code", "code": try code(challenge: nil), "client_id": "sandbox-client"]
        )
        #expect(public1.failure == "400 invalid_request")
        let form: KeyValuePairs = [
            "grant_type": "authorization_code", "code": try code(challenge: nil), "client_id": "sandbox-client",
            "client_secret": "no",
        ]
        #expect(post("token", form).failure == "400 invalid_client")
        // sandbox-client:sandbox-secret
        let basic: HTTPFields = [.authorization: "Basic c2FuZGJveC1jbGllbnQ6c2FuZGJveC1zZWNyZXQ="]
        #expect(
            post("token", ["grant_type": "authorization_code", "code": try code(challenge: nil)], headers: basic).status
                == .ok
        )
        #expect(
            post("token", ["grant_type": "password", "client_id": "sandbox-client"]).failure
                == "400 unsupported_grant_type"
        )
        #expect(post("token", [:]).failure == "400 invalid_request")
    }

    @Test("without an address of its own the application's user reads the code from a page")
    func codePage() throws {
        let response = authorize(["response_type": "code"])
        let location = try #require(response.headers[.location])
        #expect(location.hasPrefix("http://127.0.0.1:4711/yandex_oauth/verification_code?code="))
        let page = bench.send(.get, location)
        let code = try #require(try items(response)["code"])
        #expect(
            page.status == .ok
                && String(decoding: page.body, as: UTF8.self).contains("<code id=\"code\">\(code)</code>")
        )
        #expect(bench.send(.get, "/yandex_oauth/verification_code?code=<script>").status == .badRequest)
    }

    @Test("a user may refuse, and may be asked")
    func consent() throws {
        try bench.control(.put, "consent", #"{"consent":"deny"}"#, of: .yandexOAuth)
        let denied = try items(authorize(["response_type": "code", "redirect_uri": "app://done", "state": "x"]))
        #expect(denied["error"] == "access_denied" && denied["state"] == "x" && denied["code"] == nil)
        try bench.control(.put, "consent", #"{"consent":"ask"}"#, of: .yandexOAuth)
        let page = authorize(["response_type": "code", "redirect_uri": "app://done", "state": "\"><b>"])
        let text = String(decoding: page.body, as: UTF8.self)
        #expect(page.status == .ok && page.headers[.contentType] == "text/html; charset=utf-8" && !text.contains("<b>"))
        let link = String(try #require(text.firstMatch(of: /id="allow" href="([^"]+)"/)).1).replacing(
            "&amp;",
            with: "&"
        )
        #expect(try items(bench.send(.get, link))["state"] == "\"><b>")
    }

    @Test(
        "a malformed request for consent goes nowhere",
        arguments: [
            "response_type=x", "response_type=code&redirect_uri=%2Frelative", "response_type=code&redirect_uri=a%0Ab:c",
            "",
        ]
    )
    func malformed(query: String) {
        let response = bench.send(.get, "/yandex_oauth/authorize?client_id=sandbox-client&\(query)")
        #expect(response.status == .badRequest && response.headers[.location] == nil)
        #expect(bench.send(.get, "/yandex_oauth/authorize?response_type=code&client_id=other").status == .badRequest)
    }

    @Test("an implicit grant comes in the fragment")
    func implicit() throws {
        let response = try items(
            authorize(["response_type": "token", "redirect_uri": "app://done", "state": "x"]),
            after: "#"
        )
        #expect(response["expires_in"] == "31536000" && response["state"] == "x")
        #expect(bench.call(.get, "", token: response["access_token"]).status == .ok)
    }

    @Test("tokens end with their time; a refresh token gives new ones, once")
    func expiry() throws {
        try bench.control(.put, "consent", #"{"lifetime_s":60}"#, of: .yandexOAuth)
        let tokens = try bench.control(.post, "tokens", #"{"account":"boris"}"#, of: .yandexOAuth)
        let access = try #require(tokens["access_token"]?.string)
        #expect(bench.call(.get, "", token: access).status == .ok)
        try bench.control(.post, "clock", #"{"advance_s":60}"#)
        #expect(bench.call(.get, "", token: access).failure == "401 UnauthorizedError")
        let form: KeyValuePairs = [
            "grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]?.string ?? "",
            "client_id": "sandbox-client",
        ]
        let fresh = try post("token", form).object()
        #expect(try bench.json(.get, "", token: fresh["access_token"]?.string)["user"]?.object?["login"] == "boris")
        #expect(fresh["refresh_token"] != tokens["refresh_token"] && post("token", form).failure == "400 invalid_grant")
        #expect(bench.call(.get, "").status == .ok, "the first tokens have no end")
    }

    @Test("a revoked token is refused; revoking twice gives the same response")
    func revoke() throws {
        let form: KeyValuePairs = [
            "access_token": "sandbox-token", "client_id": "sandbox-client", "client_secret": "sandbox-secret",
        ]
        for _ in 0..<2 {
            #expect(String(decoding: post("revoke_token", form).body, as: UTF8.self) == #"{"status":"ok"}"#)
        }
        #expect(
            bench.call(.get, "").failure == "401 UnauthorizedError"
                && bench.call(.get, "", token: "sandbox-token-2").status == .ok
        )
        #expect(
            post("revoke_token", ["access_token": "x", "client_id": "sandbox-client"]).failure == "400 invalid_request"
        )
        try bench.control(.post, "revoke", #"{"account":"boris"}"#, of: .yandexOAuth)
        #expect(bench.call(.get, "", token: "sandbox-token-2").failure == "401 UnauthorizedError")
    }

    private func deviceToken(_ code: String) -> UpstreamResponse {
        post(
            "token",
            [
                "grant_type": "device_code", "code": code, "client_id": "sandbox-client",
                "client_secret": "sandbox-secret",
            ]
        )
    }

    @Test("DISK F13 a device gets its token, once, when the user has typed its code; until then it has to wait")
    func device() throws {
        let response = post("device/code", ["client_id": "sandbox-client", "device_id": "test device 123"])
        #expect(response.status == .ok && response.headers[.contentType] == "application/json")
        let codes = try response.object()
        #expect(
            codes.members.map(\.name) == ["device_code", "expires_in", "interval", "user_code", "verification_url"]
        )
        #expect(codes["expires_in"] == 300 && codes["interval"] == 5)
        let (code, userCode) = (codes["device_code"]?.string ?? "", codes["user_code"]?.string ?? "")
        let pending = deviceToken(code)
        #expect(pending.failure == "400 authorization_pending" && userCode.count == 8)
        #expect(try pending.object()["error_description"] == "User has not yet authorized your application")
        let page = try #require(codes["verification_url"]?.string)
        #expect(bench.send(.get, page).status == .ok)
        #expect(bench.send(.get, "\(page)?user_code=wrong").status == .badRequest)
        #expect(bench.send(.get, "\(page)?user_code=\(userCode)").status == .ok)
        let tokens = try deviceToken(code).object()
        #expect(tokens.members.map(\.name) == ["access_token", "expires_in", "refresh_token", "token_type"])
        #expect(try bench.json(.get, "", token: tokens["access_token"]?.string)["user"]?.object?["login"] == "anna")
        #expect(deviceToken(code).failure == "400 bad_verification_code")
    }

    @Test("DISK F13 a code of a device ends after five minutes, or if the user refuses; an unknown client gets none")
    func refusedDevices() throws {
        #expect(post("device/code", ["client_id": "other"]).failure == "400 invalid_client")
        let late = try post("device/code", ["client_id": "sandbox-client"]).object()["device_code"]?.string ?? ""
        try bench.control(.post, "clock", #"{"advance_s":300}"#)
        #expect(deviceToken(late).failure == "400 invalid_grant")
        try bench.control(.put, "consent", #"{"consent":"ask"}"#, of: .yandexOAuth)
        let codes = try post("device/code", ["client_id": "sandbox-client"]).object()
        let page = "/yandex_oauth/device?user_code=\(codes["user_code"]?.string ?? "")"
        let text = String(decoding: bench.send(.get, page).body, as: UTF8.self)
        #expect(text.contains("decision=deny") && deviceToken(codes["device_code"]?.string ?? "").status == .badRequest)
        #expect(bench.send(.get, "\(page)&decision=deny").status == .ok)
        #expect(deviceToken(codes["device_code"]?.string ?? "").failure == "400 access_denied")
    }
}

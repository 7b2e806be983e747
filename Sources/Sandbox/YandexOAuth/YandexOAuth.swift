import Foundation
import HTTPTypes
import JSONValues

/// Yandex OAuth (`https://oauth.yandex.ru`): consent, codes, tokens, also for devices without a browser.
final class YandexOAuth: SimulatedUpstream {
    let name = SandboxUpstream.yandexOAuth.rawValue
    let accounts: YandexAccounts

    init(accounts: YandexAccounts) { self.accounts = accounts }

    /// Does nothing, because the accounts are reset with the disk.
    func reset() {}

    func respond(to request: UpstreamRequest) -> UpstreamResponse {
        let method = request.method == .head ? .get : request.method
        switch (method, request.path) {
        case (.get, ["authorize"]): return AuthorizePage(request, accounts: accounts).response
        case (.get, ["verification_code"]): return AuthorizePage.codePage(request)
        case (.get, ["device"]): return DevicePage(request, accounts: accounts).response
        case (.post, ["token"]): return call(request, token)
        case (.post, ["revoke_token"]): return call(request, revoke)
        case (.post, ["device", "code"]):
            return call(request) { form throws(OAuthFailure) in try device(form, origin: request.origin) }
        case (_, ["authorize"]), (_, ["verification_code"]), (_, ["token"]), (_, ["revoke_token"]), (_, ["device"]),
            (_, ["device", "code"]):
            return .text(.methodNotAllowed, "Method Not Allowed")
        default: return .text(.notFound, "Not Found")
        }
    }

    private func call(_ request: UpstreamRequest, _ body: (OAuthForm) throws(OAuthFailure) -> JSONValue)
        -> UpstreamResponse
    {
        do throws(OAuthFailure) {
            return .json(.ok, try body(OAuthForm(request)), type: "application/json")
        } catch {
            return error.response
        }
    }

    private func token(_ form: OAuthForm) throws(OAuthFailure) -> JSONValue {
        switch try form.text("grant_type") {
        case "authorization_code":
            let grant = try redeem(form)
            return Self.json(accounts.issue(to: grant.login))
        case "refresh_token":
            try form.requireClient(secret: false)
            let token = try form.text("refresh_token")
            // A refresh token is valid for one use.
            guard let login = accounts.withState({ state, _ in state.refresh.removeValue(forKey: token) }) else {
                throw .badRefreshToken
            }
            return Self.json(accounts.issue(to: login))
        case "device_code":
            try form.requireClient(secret: true)
            return Self.json(accounts.issue(to: try accounts.redeemDevice(try form.text("code"))))
        case let type: throw .grantType(type)
        }
    }

    /// Redeems a code, which is valid for one use, with its proof.
    private func redeem(_ form: OAuthForm) throws(OAuthFailure) -> YandexAccounts.Grant {
        let code = try form.text("code")
        let found = accounts.withState { state, now in (grant: state.codes[code], now: now) }
        guard let grant = found.grant else { throw .badCode }
        // The proof replaces the secret, which a public client does not have.
        try form.requireClient(secret: grant.challenge == nil)
        _ = accounts.withState { state, _ in state.codes.removeValue(forKey: code) }
        guard found.now < grant.expires else { throw .expiredCode }
        if let challenge = grant.challenge {
            guard challenge.isMet(by: try form.text("code_verifier")) else { throw .badVerifier }
        }
        return grant
    }

    /// Issues the codes of a device. `verification_url` is the page of this sandbox; the real service has a short
    /// address.
    private func device(_ form: OAuthForm, origin: String) throws(OAuthFailure) -> JSONValue {
        try form.requireClient(secret: false)
        let codes = accounts.registerDevice()
        return [
            "device_code": .string(codes.deviceCode), "expires_in": .integer(YandexAccounts.deviceLifetime),
            "interval": .integer(YandexAccounts.deviceInterval), "user_code": .string(codes.userCode),
            "verification_url": .string("\(origin)/yandex_oauth/device"),
        ]
    }

    /// The response is the same if the token was revoked before, as recorded.
    private func revoke(_ form: OAuthForm) throws(OAuthFailure) -> JSONValue {
        try form.requireClient(secret: true)
        let token = try form.text("access_token")
        accounts.withState { state, _ in state.access[token] = nil }
        return ["status": "ok"]
    }

    private static func json(_ tokens: (access: String, refresh: String, lifetime: Int)) -> JSONValue {
        [
            "access_token": .string(tokens.access), "expires_in": .integer(tokens.lifetime),
            "refresh_token": .string(tokens.refresh), "token_type": "bearer",
        ]
    }
}

/// The form in the body of a call.
struct OAuthForm {
    private let fields: [String: String]
    private let authorization: String?

    init(_ request: UpstreamRequest) {
        fields = RequestTarget.form(String(decoding: request.body, as: UTF8.self)).values
        authorization = request.headers[.authorization]
    }

    func text(_ name: String) throws(OAuthFailure) -> String {
        guard let value = fields[name], !value.isEmpty else { throw .missing(name) }
        return value
    }

    /// Name and secret of the client, from the form or as `Authorization: Basic`.
    func requireClient(secret isNeeded: Bool) throws(OAuthFailure) {
        var client = fields["client_id"]
        var secret = fields["client_secret"]
        if let authorization, authorization.lowercased().hasPrefix("basic "),
            let data = Data(base64Encoded: String(authorization.dropFirst(6)))
        {
            let parts = String(decoding: data, as: UTF8.self).split(
                separator: ":",
                maxSplits: 1,
                omittingEmptySubsequences: false
            ).map(String.init)
            client = parts[0]
            secret = parts.count > 1 ? parts[1] : nil
        }
        guard let client else { throw .missing("client_id") }
        guard client == YandexAccounts.clientID else { throw .badClient }
        if let secret, !secret.isEmpty {
            guard secret == YandexAccounts.clientSecret else { throw .badSecret }
        } else if isNeeded {
            throw .missing("client_secret")
        }
    }
}

/// Changes of accounts and tokens for tests and demonstrations.
extension YandexOAuth {
    func control(_ request: ControlRequest) throws(ControlProblem) -> UpstreamResponse {
        switch request.path {
        case ["tokens"]:
            try request.require(.post)
            let fields = try ControlFields(try request.json())
            try fields.require(only: "account", "rights")
            let rights = try fields.choices("rights", of: YandexAccounts.Right.self)
            let tokens = accounts.issue(to: try login(fields) ?? "anna", rights: rights)
            return .json(
                .ok,
                [
                    "access_token": .string(tokens.access), "refresh_token": .string(tokens.refresh),
                    "expires_in": .integer(tokens.lifetime),
                ]
            )
        case ["revoke"]:
            try request.require(.post)
            return try revoke(try ControlFields(try request.json()))
        case ["consent"]:
            try request.require(.put)
            return try setConsent(try ControlFields(try request.json()))
        default:
            throw .nothing(at: ["yandex_oauth"] + request.path)
        }
    }

    private func login(_ fields: ControlFields) throws(ControlProblem) -> String? {
        guard let login = try fields.text("account") else { return nil }
        let known = YandexAccounts.tokens.map(\.key)
        guard known.contains(login) else { throw .invalid(field: "account", value: login, accepted: known) }
        return login
    }

    /// For an account, the refresh tokens are revoked as well, as with "log out everywhere".
    private func revoke(_ fields: ControlFields) throws(ControlProblem) -> UpstreamResponse {
        try fields.require(only: "token", "account")
        let token = try fields.text("token")
        let login = try login(fields)
        guard (token == nil) != (login == nil) else {
            throw .invalid(field: "token", value: "", accepted: ["token or account, one of them"])
        }
        let count = accounts.withState { state, _ in
            let before = state.access.count
            if let token { state.access[token] = nil }
            if let login {
                state.access = state.access.filter { $0.value.login != login }
                state.refresh = state.refresh.filter { $0.value != login }
            }
            return before - state.access.count
        }
        return .json(.ok, ["revoked": .integer(count)])
    }

    /// A missing member gets its initial value.
    private func setConsent(_ fields: ControlFields) throws(ControlProblem) -> UpstreamResponse {
        try fields.require(only: "consent", "account", "lifetime_s")
        var settings = YandexAccounts.Settings()
        settings.consent = try fields.choice("consent", of: YandexAccounts.Settings.Consent.self) ?? settings.consent
        settings.account = try login(fields) ?? settings.account
        settings.lifetime = try fields.integer("lifetime_s", in: 0...1_000_000_000) ?? settings.lifetime
        let made = settings
        accounts.withState { state, _ in state.settings = made }
        return .json(
            .ok,
            [
                "consent": .string(made.consent.rawValue), "account": .string(made.account),
                "lifetime_s": .integer(made.lifetime),
            ]
        )
    }
}

/// An error of the OAuth service. Its shape differs from that of the Disk's errors.
struct OAuthFailure: Error, Equatable {
    let error: String
    let description: String

    var response: UpstreamResponse {
        .json(
            .badRequest,
            ["error_description": .string(description), "error": .string(error)],
            type: "application/json"
        )
    }

    static let badCode = OAuthFailure(error: "bad_verification_code", description: "Invalid code")
    static let expiredCode = OAuthFailure(error: "invalid_grant", description: "Code has expired")
    static let pending = OAuthFailure(
        error: "authorization_pending",
        description: "User has not yet authorized your application"
    )
    /// Not recorded: the code in RFC 8628 §3.5.
    static let denied = OAuthFailure(error: "access_denied", description: "User has denied access")
    static let badRefreshToken = OAuthFailure(error: "invalid_grant", description: "expired_token")
    static let badVerifier = OAuthFailure(error: "invalid_grant", description: "code_verifier not matched")
    static let badClient = OAuthFailure(error: "invalid_client", description: "Client not found")
    static let badSecret = OAuthFailure(error: "invalid_client", description: "Wrong client secret")

    static func missing(_ field: String) -> OAuthFailure {
        OAuthFailure(error: "invalid_request", description: "\(field) not in POST")
    }
    static func grantType(_ type: String) -> OAuthFailure {
        OAuthFailure(error: "unsupported_grant_type", description: "Unknown grant_type '\(type)'")
    }
}

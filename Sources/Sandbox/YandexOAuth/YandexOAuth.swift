import Foundation
import HTTPTypes

/// Yandex OAuth (`https://oauth.yandex.ru`): consent, codes, tokens, also for devices without a browser.
final class YandexOAuth: SimulatedUpstream {
    let name = SandboxUpstream.yandexOAuth.rawValue
    let accounts: YandexAccounts

    init(accounts: YandexAccounts) { self.accounts = accounts }

    /// The accounts are reset with the disk that they belong to.
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
            // A refresh token is good for one use.
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

    /// Takes a code, which is good for one use, and its proof.
    private func redeem(_ form: OAuthForm) throws(OAuthFailure) -> YandexAccounts.Grant {
        let code = try form.text("code")
        let found = accounts.withState { state, now in (grant: state.codes[code], now: now) }
        guard let grant = found.grant else { throw .badCode }
        // A proof replaces the secret that a public client does not have.
        try form.requireClient(secret: grant.challenge == nil)
        _ = accounts.withState { state, _ in state.codes.removeValue(forKey: code) }
        guard found.now < grant.expires else { throw .expiredCode }
        if let challenge = grant.challenge {
            guard challenge.isMet(by: try form.text("code_verifier")) else { throw .badVerifier }
        }
        return grant
    }

    /// The codes of a device. `verification_url` is the page of this sandbox; the service has a short address.
    private func device(_ form: OAuthForm, origin: String) throws(OAuthFailure) -> JSONValue {
        try form.requireClient(secret: false)
        let codes = accounts.registerDevice()
        return [
            "device_code": .string(codes.deviceCode), "expires_in": .integer(YandexAccounts.deviceLifetime),
            "interval": .integer(YandexAccounts.deviceInterval), "user_code": .string(codes.userCode),
            "verification_url": .string("\(origin)/yandex_oauth/device"),
        ]
    }

    /// Responds in the same way if the token is revoked already, as recorded.
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

/// The form that a call of the service carries.
struct OAuthForm {
    private let fields: [String: String]
    private let authorization: String?

    init(_ request: UpstreamRequest) {
        let items = RequestTarget.form(String(decoding: request.body, as: UTF8.self))
        fields = Dictionary(items.map { ($0.name, $0.value) }) { first, _ in first }
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

import Foundation
import HTTPTypes

/// Changes of accounts and tokens for tests and demonstrations.
extension YandexOAuth {
    var controls: [ControlIndex.Line] {
        let root = "/_sandbox/yandex_oauth"
        return [
            .init(
                method: "POST",
                path: "\(root)/tokens",
                purpose: "issues tokens to an account",
                example: #"{"account":"anna"}"#
            ),
            .init(
                method: "POST",
                path: "\(root)/revoke",
                purpose: "revokes one token, or all of an account",
                example: #"{"account":"boris"}"#
            ),
            .init(
                method: "PUT",
                path: "\(root)/consent",
                purpose:
                    "what the page of consent does (allow, deny, ask), who is signed in there, how long tokens hold",
                example: #"{"consent":"allow","account":"anna","lifetime_s":31536000}"#
            ),
        ]
    }

    func control(_ request: ControlRequest) throws(ControlProblem) -> UpstreamResponse {
        switch request.path {
        case ["tokens"]:
            try request.require(.post)
            let fields = try ControlFields(try request.json())
            try fields.require(only: "account")
            let tokens = accounts.issue(to: try login(fields) ?? "anna")
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

    /// Of an account the refresh tokens go as well, as with "log out everywhere".
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

    /// What is not given is as at the start.
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

import HTTPTypes

/// The response to a browser at `/authorize`: a redirect to the application with a code, or a page that asks the user
/// first.
struct AuthorizePage {
    private let request: UpstreamRequest
    private let accounts: YandexAccounts
    private let parameters: [String: String]

    init(_ request: UpstreamRequest, accounts: YandexAccounts) {
        self.request = request
        self.accounts = accounts
        parameters = request.form.values
    }

    var response: UpstreamResponse {
        guard let type = parameters["response_type"], ["code", "token"].contains(type) else {
            return Self.page(.badRequest, "Unknown response_type.")
        }
        guard parameters["client_id"] == YandexAccounts.clientID else {
            return Self.page(.badRequest, "Unknown client_id.")
        }
        guard (parameters["state"] ?? "").utf8.count <= 1_024 else {
            return Self.page(.badRequest, "state is longer than 1024 bytes.")
        }
        if let uri = parameters["redirect_uri"], !Self.isAbsolute(uri) {
            return Self.page(.badRequest, "redirect_uri is no absolute URI.")
        }
        var challenge: PKCEChallenge?
        if let text = parameters["code_challenge"] {
            guard let given = PKCEChallenge(text: text, method: parameters["code_challenge_method"]) else {
                return back([
                    "error": "invalid_request", "error_description": "code_challenge or its method is malformed",
                ])
            }
            challenge = given
        }
        let settings = accounts.withState { state, _ in state.settings }
        let login =
            parameters["login_hint"].flatMap { hint in YandexAccounts.tokens.first { $0.key == hint }?.key }
            ?? settings.account
        let asks =
            parameters["force_confirm"] == "yes" || parameters["force_confirm"] == "1" || settings.consent == .ask
        switch parameters["decision"] ?? (settings.consent == .deny ? "deny" : asks ? "ask" : "allow") {
        case "allow": return type == "token" ? token(login) : code(login, challenge)
        case "deny": return back(["error": "access_denied", "error_description": "Access denied by user"])
        default: return consent(login)
        }
    }

    private func code(_ login: String, _ challenge: PKCEChallenge?) -> UpstreamResponse {
        back(["code": accounts.code(for: login, redirectURI: parameters["redirect_uri"], challenge: challenge)])
    }

    private func token(_ login: String) -> UpstreamResponse {
        let tokens = accounts.issue(to: login)
        return back(
            ["access_token": tokens.access, "token_type": "bearer", "expires_in": String(tokens.lifetime)],
            in: "#"
        )
    }

    /// Redirects to the application, or to the page with the code if the application has no address.
    private func back(_ items: KeyValuePairs<String, String>, in separator: String? = nil) -> UpstreamResponse {
        let target = parameters["redirect_uri"] ?? "\(request.origin)/yandex_oauth/verification_code"
        var query = FormEncoding.query(items)
        if let state = parameters["state"] { query += "&state=\(FormEncoding.encoded(state))" }
        var response = UpstreamResponse.text(.found, "Found")
        response.headers[.location] = target + (separator ?? (target.contains("?") ? "&" : "?")) + query
        return response
    }

    private func consent(_ login: String) -> UpstreamResponse {
        let query = request.form.filter { $0.name != "decision" }.map {
            "\(FormEncoding.encoded($0.name))=\(FormEncoding.encoded($0.value))"
        }
        .joined(separator: "&amp;")
        return Self.question("Приложение", login, "\(request.origin)/yandex_oauth/authorize?\(query)")
    }

    /// Asks a user for a decision.
    ///
    /// - Parameter address: The page that receives the decision, with a query.
    static func question(_ subject: String, _ login: String, _ address: String) -> UpstreamResponse {
        let links = [("allow", "Разрешить"), ("deny", "Отказать")].map { decision, text in
            #"<a id="\#(decision)" href="\#(address)&amp;decision=\#(decision)">\#(text)</a>"#
        }
        return page(.ok, "\(subject) просит доступ к Диску пользователя \(login). \(links.joined(separator: " "))")
    }

    /// The page from which the user copies the code by hand.
    static func codePage(_ request: UpstreamRequest) -> UpstreamResponse {
        let code = request.form.first { $0.name == "code" }?.value ?? ""
        guard !code.isEmpty, code.allSatisfy({ $0.isHexDigit }) else { return page(.badRequest, "There is no code.") }
        return page(.ok, #"Ваш код: <code id="code">\#(code)</code>"#)
    }

    /// A page with a paragraph of HTML.
    static func page(_ status: HTTPResponse.Status, _ content: String) -> UpstreamResponse {
        let text =
            "<!DOCTYPE html>\n<html lang=\"ru\"><head><meta charset=\"utf-8\"><title>Yandex ID (sandbox)</title></head>"
            + "<body><p>\(content)</p></body></html>\n"
        return UpstreamResponse(
            status: status,
            headers: [.contentType: "text/html; charset=utf-8"],
            body: Array(text.utf8)
        )
    }

    private static func isAbsolute(_ uri: String) -> Bool {
        guard let colon = uri.firstIndex(of: ":") else { return false }
        let scheme = uri[..<colon]
        return scheme.first?.isLetter == true
            && scheme.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
            && !uri.utf8.contains { $0 <= 0x20 || $0 == 0x7F }
    }
}

/// The page on which a user types the code of a device: `/device?user_code=…`. The user's decision is that of the page
/// of consent, or that of `decision`.
struct DevicePage {
    private let accounts: YandexAccounts
    private let parameters: [String: String]

    init(_ request: UpstreamRequest, accounts: YandexAccounts) {
        self.accounts = accounts
        parameters = request.form.values
    }

    var response: UpstreamResponse {
        guard let code = parameters["user_code"], !code.isEmpty else {
            return AuthorizePage.page(
                .ok,
                #"<form>Код: <input name="user_code" maxlength="8"> <button>Продолжить</button></form>"#
            )
        }
        let settings = accounts.withState { state, _ in state.settings }
        let decision: YandexAccounts.Device.Decision
        switch parameters["decision"] ?? settings.consent.rawValue {
        case "allow": decision = .allowed(login: settings.account)
        case "deny": decision = .denied
        default:
            let address = "?user_code=\(FormEncoding.encoded(code))"
            return AuthorizePage.question("Устройство", settings.account, address)
        }
        guard accounts.decide(userCode: code, decision) else {
            return AuthorizePage.page(.badRequest, "No device waits with this code.")
        }
        return AuthorizePage.page(.ok, decision == .denied ? "Доступ не разрешён." : "Доступ разрешён.")
    }
}

import HTTPTypes

/// The page on which a user types the code of a device: `/device?user_code=…`. What the user decides there is set as
/// for the page of consent, or with `decision`.
struct DevicePage {
    private let accounts: YandexAccounts
    private let parameters: [String: String]

    init(_ request: UpstreamRequest, accounts: YandexAccounts) {
        self.accounts = accounts
        parameters = Dictionary(request.form.map { ($0.name, $0.value) }) { first, _ in first }
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
        default: return ask(code, settings.account)
        }
        guard accounts.decide(userCode: code, decision) else {
            return AuthorizePage.page(.badRequest, "No device waits with this code.")
        }
        return AuthorizePage.page(.ok, decision == .denied ? "Доступ не разрешён." : "Доступ разрешён.")
    }

    private func ask(_ code: String, _ login: String) -> UpstreamResponse {
        let link = { (decision: String, text: String) in
            let query = "user_code=\(FormEncoding.encoded(code))&amp;decision=\(decision)"
            return #"<a id="\#(decision)" href="?\#(query)">\#(text)</a>"#
        }
        return AuthorizePage.page(
            .ok,
            "Устройство просит доступ к Диску пользователя \(login). "
                + "\(link("allow", "Разрешить")) \(link("deny", "Отказать"))"
        )
    }
}

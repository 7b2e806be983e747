import Concurrency
import Foundation
import HTTPTypes
import Screens

// Logins and guests. They need no upstream.
extension ShipsApp {
    private static let guestPrefix = "guest:"

    static func isGuest(_ account: String) -> Bool { account.hasPrefix(guestPrefix) }

    static func account(of username: String) -> String {
        "user:\(username.lowercased().precomposedStringWithCanonicalMapping)"
    }

    /// Returns the account of a new guest.
    static func guest() -> String { guestPrefix + SessionToken.make() }

    /// `POST /v1/ships/session`: opens a session for a guest at once, or for a user after a simulated login.
    func openSession(_ request: ScreenRequest) async throws -> ScreenResponse {
        let carrier = try request.sessionCarrier()
        let fields = try await request.jsonObject()
        switch try fields.string("mode") {
        case "login":
            let (username, password) = try Self.login(fields)
            // Suspends this request only; the event loop serves others meanwhile.
            try await clock.sleep(settings[Self.loginDelay])
            let accounts = settings[Self.accounts]
            guard accounts.isEmpty || accounts.contains(where: { $0.opens(with: username, password) }) else {
                throw Problem(.invalidCredentials, .wrongLogin, dialog: .init(message: .wrongLogin))
            }
            return try await open(.user, account: Self.account(of: username), name: username, carrier, request)
        case "guest":
            return try await open(.guest, account: Self.guest(), name: nil, carrier, request)
        case let other:
            let detail = Text.modeForm
            throw Problem.validation([.field("/mode", other == nil ? "required" : "invalid", detail)])
        }
    }

    /// `GET /v1/ships/session`.
    func showSession(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let screen = SessionScreen(session, route: .shipList)
        return try ScreenResponse.local(screen, "ships.session", request, changeToken: .unlimited).of(session)
    }

    /// `DELETE /v1/ships/session`: closes the session and keeps the ships.
    func closeSession(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        try request.writePreconditions().check(version: session.version, of: "The session")
        try await sessions.close(request.credentials, app: Self.name)
        return try ScreenResponse.local(Self.farewell(to: session.kind), "ships.session", request)
            .endingSession(of: Self.name, request)
    }

    /// Returns the farewell of a session: guests are thanked, users are shown nothing.
    static func farewell(to kind: Session.Kind) -> FarewellScreen {
        let thanks = FarewellScreen.Alert(message: .thanks, button: .ok)
        return FarewellScreen(route: .login(to: name), alert: kind == .guest ? thanks : nil, logins: logins)
    }

    private func open(
        _ kind: Session.Kind,
        account: String,
        name: String?,
        _ carrier: SessionCarrier,
        _ request: ScreenRequest
    ) async throws -> ScreenResponse {
        // There is no session yet that a version could be of.
        try request.writePreconditions().check(version: nil, of: "The session")
        let session = Session(app: Self.name, kind: kind, account: account, name: name, createdAt: clock.now())
        let grant = SessionGrant(try await sessions.open(session, for: carrier), carrier)
        // As in the original app, each start begins with the login.
        return try ScreenResponse.local(
            SessionScreen(session, token: grant, route: .shipList),
            "ships.session",
            request,
            status: .created,
            headerFields: [.location: "/v1/ships/session"]
        ).granting(grant, of: Self.name, .untilBrowserCloses, request)
    }

    /// The username and the password of a login that is formed well. Unless accounts are set, any password opens the
    /// account: the login is a simulation.
    ///
    /// - Throws: ``Problem`` 422 that names each field at fault.
    private static func login(_ fields: JSONFields) throws -> (username: String, password: String) {
        let username = (try fields.string("username") ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
        let password = try fields.string("password") ?? ""
        var errors: [Problem.FieldError] = []
        if username.isEmpty {
            errors.append(.field("/username", "required", .emailRequired))
        } else if !EmailAddress.isValid(username) {
            errors.append(
                .field("/username", "invalid", .emailForm)
            )
        }
        if password.isEmpty { errors.append(.field("/password", "required", .passwordRequired)) }
        if let first = errors.first { throw Problem.validation(errors, dialog: .init(message: first.detail)) }
        return (username, password)
    }
}

/// A user whom the setting `ships.accounts` names.
struct ShipsAccount: Sendable, Equatable {
    let username: String
    let password: String
}

extension ShipsAccount {
    /// Reads `e-mail:password`; nil for other texts.
    init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1)
        guard parts.count == 2, EmailAddress.isValid(String(parts[0])) else { return nil }
        self.init(username: String(parts[0]), password: String(parts[1]))
    }

    func opens(with username: String, _ password: String) -> Bool {
        ShipsApp.account(of: username) == ShipsApp.account(of: self.username) && password == self.password
    }
}

/// The basic check of the login screen.
enum EmailAddress {
    /// Whether a text is one `@` with something before it and a domain after it, at most 254 bytes long (RFC 5321
    /// §4.5.3.1.3). A domain has at least one dot, no empty labels, and neither spaces nor control characters.
    static func isValid(_ text: String) -> Bool {
        guard text.utf8.count <= 254,
            !text.unicodeScalars.contains(where: {
                $0.properties.isWhitespace || $0.properties.generalCategory == .control
            })
        else {
            return false
        }
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty else { return false }
        let labels = parts[1].split(separator: ".", omittingEmptySubsequences: false)
        return labels.count >= 2 && labels.allSatisfy { !$0.isEmpty }
    }
}

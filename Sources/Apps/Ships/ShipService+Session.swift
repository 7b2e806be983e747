import Foundation
import HTTPTypes
import Screens
import Upstream

extension ShipService {
    /// `GET /v1/ships/launch`: every cold start shows the login.
    @Sendable func launch(_ request: ScreenRequest) async throws -> ScreenResponse {
        try local(LaunchScreen(route: "login"), "ships.launch", request, changeToken: .unlimited)
    }

    /// `POST /v1/ships/session`: a login that simulates a server, or a guest at once. Asks no upstream.
    @Sendable func openSession(_ request: ScreenRequest) async throws -> ScreenResponse {
        let fields = try await request.jsonObject()
        switch try fields.string("mode") {
        case "login":
            let username = try Self.login(fields)
            // Only this request waits; the event loop serves the others meanwhile.
            try await clock.sleep(options.loginDelay)
            return try await open(
                Session(
                    app: "ships",
                    kind: .user,
                    account: "user:\(username.lowercased().precomposedStringWithCanonicalMapping)",
                    name: username,
                    createdAt: clock.now()
                ),
                request
            )
        case "guest":
            let account = "guest:\(SessionToken.make())"
            return try await open(
                Session(app: "ships", kind: .guest, account: account, name: nil, createdAt: clock.now()),
                request
            )
        case let other:
            let detail = "mode must be login or guest."
            throw Problem.validation([.field("/mode", other == nil ? "required" : "invalid", detail)])
        }
    }

    /// The username of an acceptable login. Any non-empty password passes: it is a simulation.
    private static func login(_ fields: JSONFields) throws -> String {
        let username = (try fields.string("username") ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
        let password = try fields.string("password") ?? ""
        var errors: [Problem.FieldError] = []
        if username.isEmpty {
            errors.append(.field("/username", "required", "username must be an e-mail address."))
        } else if !EmailAddress.isValid(username) {
            errors.append(
                .field("/username", "invalid", "username must be an e-mail address such as example@domain.com.")
            )
        }
        if password.isEmpty { errors.append(.field("/password", "required", "password must not be empty.")) }
        guard errors.isEmpty else {
            throw Problem.validation(errors, dialog: .init(message: "Your email or password do not match."))
        }
        return username
    }

    private func open(_ session: Session, _ request: ScreenRequest) async throws -> ScreenResponse {
        let token = try await sessions.open(session)
        let screen = SessionScreen(session, token: token, route: "list")
        return try local(
            screen,
            "ships.session",
            request,
            status: .created,
            headerFields: [.location: "/v1/ships/session"]
        )
    }

    /// `GET /v1/ships/session`.
    @Sendable func showSession(_ request: ScreenRequest) async throws -> ScreenResponse {
        try local(
            SessionScreen(try request.requiredSession(), route: "list"),
            "ships.session",
            request,
            changeToken: .unlimited
        )
    }

    /// `DELETE /v1/ships/session`: users just leave, guests are thanked. Ships stay.
    @Sendable func closeSession(_ request: ScreenRequest) async throws -> ScreenResponse {
        let session = try request.requiredSession()
        try await sessions.close(for: request.headerFields)
        return try local(FarewellScreen(session.kind), "ships.session", request)
    }

    private func local(
        _ content: some Encodable & Sendable,
        _ screen: String,
        _ request: ScreenRequest,
        status: HTTPResponse.Status = .ok,
        headerFields: HTTPFields = [:],
        changeToken: ChangeToken? = nil
    ) throws -> ScreenResponse {
        try .screen(
            Envelope(
                data: content,
                meta: Meta(screen: screen, provenance: .local),
                links: Links(self: request.selfLink)
            ),
            status: status,
            provenance: .local,
            now: clock.now(),
            headerFields: headerFields,
            changeToken: changeToken
        )
    }
}

import Foundation
import HTTPTypes
import Logging
import Screens
import Upstream

extension DiskService {
    /// `GET /v1/disk/launch`: the onboarding until it was seen, then the login, or home for whoever has a session.
    @Sendable func launch(_ request: ScreenRequest) async throws -> ScreenResponse {
        let isLoggedIn = try sessions.knownSession(for: request.headerFields, app: "disk") != nil
        let route: DiskLaunchScreen.Route = try store.isOnboardingSeen() ? (isLoggedIn ? .home : .login) : .onboarding
        return try local(DiskLaunchScreen(route: route), "disk.launch", request)
    }

    /// `GET /v1/disk/onboarding`.
    @Sendable func onboarding(_ request: ScreenRequest) async throws -> ScreenResponse {
        try onboardingScreen(request)
    }

    /// `PUT /v1/disk/onboarding`: `{"seen": true}` when Next is pressed on the last page.
    @Sendable func setOnboarding(_ request: ScreenRequest) async throws -> ScreenResponse {
        let fields = try await request.jsonObject()
        guard case .bool(let isSeen) = fields.values["seen"] else {
            throw Problem.validation([
                .field("/seen", fields.values["seen"] == nil ? "required" : "invalid", "seen must be true or false.")
            ])
        }
        try await store.setOnboardingSeen(isSeen)
        return try onboardingScreen(request)
    }

    /// `DELETE /v1/disk/onboarding`: as if the app was installed anew.
    @Sendable func resetOnboarding(_ request: ScreenRequest) async throws -> ScreenResponse {
        try await store.setOnboardingSeen(false)
        return try onboardingScreen(request)
    }

    private func onboardingScreen(_ request: ScreenRequest) throws -> ScreenResponse {
        let isLoggedIn = try sessions.knownSession(for: request.headerFields, app: "disk") != nil
        return try local(
            OnboardingScreen(seen: try store.isOnboardingSeen(), isLoggedIn: isLoggedIn),
            "disk.onboarding",
            request
        )
    }

    /// `POST /v1/disk/session/authorization`: the address at which the user gives consent in a browser. The verifier of
    /// PKCE stays here.
    @Sendable func beginAuthorization(_ request: ScreenRequest) async throws -> ScreenResponse {
        let oauth = try requiredOAuth()
        let (state, verifier) = (SessionToken.make(), SessionToken.make())
        try await store.beginAuthorization(state: state, verifier: verifier, at: clock.now())
        let screen = AuthorizationScreen(
            authorizeUrl: oauth.authorizeURL(state: state, verifier: verifier),
            state: state
        )
        return try local(screen, "disk.session", request, status: .created)
    }

    private func requiredOAuth() throws -> YandexOAuthAPI {
        guard let oauth else {
            throw Problem.validation([
                .field(
                    "/mode",
                    "unavailable",
                    "oauth_code needs the setting disk.oauth_client_id; without it only oauth_token is possible."
                )
            ])
        }
        return oauth
    }

    /// `POST /v1/disk/session`: with a token, or with the code that Yandex OAuth gave the browser. The upstream is
    /// asked who it is.
    @Sendable func openSession(_ request: ScreenRequest) async throws -> ScreenResponse {
        let fields = try await request.jsonObject()
        let token: DiskToken
        switch try fields.string("mode") {
        case "oauth_token":
            let text = (try fields.string("access_token") ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
            guard !text.isEmpty, text.utf8.count <= 4096, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                throw Problem.validation([
                    .field(
                        "/access_token",
                        text.isEmpty ? "required" : "invalid",
                        "access_token must be an OAuth token of Yandex."
                    )
                ])
            }
            token = DiskToken(accessToken: text)
        case "oauth_code": token = try await exchanged(fields)
        case let other:
            throw Problem.validation([
                .field("/mode", other == nil ? "required" : "invalid", "mode must be oauth_token or oauth_code.")
            ])
        }
        return try await open(token, request)
    }

    private func exchanged(_ fields: JSONFields) async throws -> DiskToken {
        let oauth = try requiredOAuth()
        let code = (try fields.string("code") ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
        guard !code.isEmpty, code.utf8.count <= 4096 else {
            throw Problem.validation([.field("/code", "required", "code must be the code that Yandex OAuth gave.")])
        }
        var verifier: String?
        if let state = try fields.string("state") {
            verifier = try await store.endAuthorization(state: state, at: clock.now())
            guard verifier != nil else {
                throw Problem.validation([
                    .field(
                        "/state",
                        "unknown",
                        "state belongs to no login that has begun here in the last ten minutes."
                    )
                ])
            }
        }
        do {
            return Self.token(try await oauth.grant(code: code, verifier: verifier), at: clock.now())
        } catch let refusal as YandexOAuthAPI.Refusal {
            throw Problem(
                .invalidCredentials,
                "Yandex OAuth does not take the code (\(refusal.code)).",
                upstream: .init(name: oauth.upstream.configuration.name, status: 400)
            )
        } catch let error as UpstreamError {
            throw UpstreamFailure(error, of: oauth.upstream)
        }
    }

    private func open(_ token: DiskToken, _ request: ScreenRequest) async throws -> ScreenResponse {
        let info: DiskInfoRecord
        do {
            info = try await api.info(token.accessToken)
        } catch  where Self.isUnauthorized(error) {
            throw Problem(
                .invalidCredentials,
                "Yandex Disk does not accept this token.",
                upstream: .init(name: api.upstream.configuration.name, status: 401)
            )
        } catch {
            throw translated(error)
        }
        guard let uid = info.user?.uid, !uid.isEmpty, uid.utf8.count <= 256, !uid.utf8.contains(0) else {
            throw translated(UpstreamError.badResponse(status: .ok, reason: "an account without an identity"))
        }
        let now = clock.now()
        try await store.link(uid, info, token, at: now)
        let session = Session(app: "disk", kind: .user, account: uid, name: info.user?.login, createdAt: now)
        let bearer = try await sessions.open(session)
        let linkedAt = try store.account(uid)?.linkedAt ?? now
        return try local(
            DiskSessionScreen(session, linkedAt: linkedAt, token: bearer),
            "disk.session",
            request,
            status: .created,
            headerFields: [.location: "/v1/disk/session"]
        )
    }

    /// `GET /v1/disk/session`.
    @Sendable func showSession(_ request: ScreenRequest) async throws -> ScreenResponse {
        let session = try request.requiredSession()
        guard let account = try store.account(session.account) else { throw Self.sessionExpired }
        return try local(DiskSessionScreen(session, linkedAt: account.linkedAt), "disk.session", request)
    }

    /// `DELETE /v1/disk/session`: asks first; then removes everything of the account from here. Needs no upstream.
    @Sendable func closeSession(_ request: ScreenRequest) async throws -> ScreenResponse {
        let session = try request.requiredSession()
        guard try request.query.flag("confirm") else {
            throw Problem(
                .confirmationRequired,
                "Nothing was removed. To log out, send DELETE \(LogoutDialog.href).",
                dialog: .init(title: LogoutDialog.title, message: LogoutDialog.message, buttons: LogoutDialog.buttons)
            )
        }
        let token = try store.token(of: session.account)
        try await store.wipe(session.account, sessions: sessions)
        queue.cancel(account: session.account)
        if let token { revoke(token) }
        return try local(FarewellScreen(), "disk.session", request)
    }

    /// Tells Yandex that a token is not needed any more that was made here, if that is possible. Nobody waits for it,
    /// and nothing depends on it. One that a client brought is the client's: it has no refresh token.
    private func revoke(_ token: DiskToken) {
        guard let oauth, token.refreshToken != nil, oauth.upstream.reachability.isReachable else { return }
        queue.background { [logger] in
            do {
                try await oauth.revoke(accessToken: token.accessToken)
            } catch let refusal as YandexOAuthAPI.Refusal {
                logger.info("Yandex OAuth did not revoke a token", metadata: ["code": "\(refusal.code)"])
            } catch {
                logger.info("a token could not be revoked", metadata: ["error": "\(error)"])
            }
        }
    }

    /// A screen of Larder's own.
    func local(
        _ content: some Encodable & Sendable,
        _ screen: String,
        _ request: ScreenRequest,
        status: HTTPResponse.Status = .ok,
        headerFields: HTTPFields = [:]
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
            headerFields: headerFields
        )
    }
}

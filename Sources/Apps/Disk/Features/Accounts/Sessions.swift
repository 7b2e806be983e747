import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Logging
import Screens
import Upstream

/// Sessions of accounts: login with a token or a code of Yandex OAuth, and logout.
struct Sessions: Sendable {
    let disk: Disk

    private var store: DiskStore { disk.store }
    private var client: YandexDiskClient { disk.client }

    /// The cookie with the `state` of a login (RFC 6749 §10.12): a link that brings the code of another login
    /// opens no session in it.
    private static let loginCookie = "disk-login"

    /// `POST /v1/disk/session/authorization`: the address at which the user gives consent in a browser. The PKCE
    /// verifier stays here (RFC 7636 §4.1).
    @Sendable func authorize(_ request: ScreenRequest) async throws -> ScreenResponse {
        let carrier = try request.sessionCarrier()
        let oauth = try requiredOAuth()
        try request.writePreconditions().check(version: nil, of: "The login")
        let (state, verifier) = (SessionToken.make(), SessionToken.make())
        try await store.beginAuthorization(state: state, verifier: verifier, at: disk.clock.now())
        let screen = AuthorizationScreen(
            authorizeUrl: oauth.authorizeURL(state: state, verifier: verifier),
            state: state
        )
        let response = try ScreenResponse.local(screen, "disk.session", request, status: .created)
        guard carrier == .cookie else { return response }
        return response.settingCookie(Self.loginCookie, state, age: AuthorizationScreen.lifetime, request)
    }

    /// `POST /v1/disk/session`: with a token, or with the code that Yandex OAuth gave the browser. The API is asked
    /// whose token it is.
    @Sendable func open(_ request: ScreenRequest) async throws -> ScreenResponse {
        let carrier = try request.sessionCarrier()
        let fields = try await request.jsonObject()
        let token: DiskToken
        switch try fields.string("mode") {
        case "oauth_token": token = try Self.broughtToken(fields)
        case "oauth_code": token = try await exchangeCode(fields, carrier, request)
        case let other:
            throw Problem.validation(
                "/mode",
                other == nil ? "required" : "invalid",
                "mode must be oauth_token or oauth_code."
            )
        }
        let account = try await account(of: token)
        // No session exists yet, so none has a version.
        try request.writePreconditions().check(version: nil, of: "The session")
        return try await link(token, account, carrier, request)
    }

    /// `GET /v1/disk/session`.
    @Sendable func show(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        try await store.catchUp(session.account)
        guard let account = try store.account(session.account, session: session.id) else { throw Problem.loggedOut }
        let screen = DiskSessionScreen(session, linkedAt: account.linkedAt)
        return try ScreenResponse.local(screen, "disk.session", request).of(session)
    }

    /// `DELETE /v1/disk/session`: asks first; then removes everything of the account from here. Needs no upstream.
    @Sendable func close(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        guard try request.query.flag("confirm") else {
            try await store.catchUp(session.account)
            throw Problem(
                .confirmationRequired,
                "Nothing was removed. To log out, send DELETE \(LogoutDialog.href).",
                dialog: .init(
                    title: LogoutDialog.title,
                    message: LogoutDialog.message(waiting: store.pendingWrites(of: session.account)?.count),
                    buttons: LogoutDialog.buttons
                )
            )
        }
        try request.writePreconditions().check(version: session.version, of: "The session")
        let tokens = try await store.logOut(session.account, sessions: disk.sessions)
        store.forgotten.send(session.account)
        for token in tokens { revoke(token) }
        let farewell = FarewellScreen(route: .login(to: DiskApp.name), logins: disk.logins)
        return try ScreenResponse.local(farewell, "disk.session", request)
            .endingSession(of: DiskApp.name, request)
    }

    private func requiredOAuth() throws -> YandexOAuthClient {
        guard let oauth = disk.oauth else {
            throw Problem.validation(
                "/mode",
                "unavailable",
                "oauth_code needs the setting disk.oauth_client_id; without it only oauth_token is possible."
            )
        }
        return oauth
    }

    static func broughtToken(_ fields: JSONFields) throws -> DiskToken {
        let text = (try fields.string("access_token") ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
        guard !text.isEmpty, text.utf8.count <= 4096, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw Problem.validation(
                "/access_token",
                text.isEmpty ? "required" : "invalid",
                "access_token must be an OAuth token of Yandex."
            )
        }
        return DiskToken(accessToken: text)
    }

    private func exchangeCode(_ fields: JSONFields, _ carrier: SessionCarrier, _ request: ScreenRequest) async throws
        -> DiskToken
    {
        let oauth = try requiredOAuth()
        let code = (try fields.string("code") ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
        guard !code.isEmpty, code.utf8.count <= 4096 else {
            throw Problem.validation("/code", "required", "code must be the code that Yandex OAuth gave.")
        }
        let isOfBrowser = carrier == .cookie
        let verifier = try await verifier(fields, begunIn: isOfBrowser ? request.credentials : nil)
        do {
            return DiskToken(try await oauth.grant(code: code, verifier: verifier), at: disk.clock.now())
        } catch let refusal as YandexOAuthClient.Refusal {
            throw Problem(
                .invalidCredentials,
                "Yandex OAuth does not take the code (\(refusal.code)).",
                upstream: .init(name: oauth.upstream.configuration.name, status: 400)
            )
        } catch let error as UpstreamError {
            throw UpstreamFailure(error, of: oauth.upstream)
        }
    }

    /// Returns the PKCE verifier of a login that has begun here, and in this browser if its cookies are given; nil for
    /// a request without `state`.
    private func verifier(_ fields: JSONFields, begunIn browser: SessionCredentials?) async throws -> String? {
        guard let state = try fields.string("state") else { return nil }
        let isOfBrowser = browser.map { $0.text(keptIn: Self.loginCookie) == state } ?? true
        guard isOfBrowser, let verifier = try await store.endAuthorization(state: state, at: disk.clock.now()) else {
            throw Problem.validation(
                "/state",
                "unknown",
                "state belongs to no login that has begun here in the last ten minutes."
            )
        }
        return verifier
    }

    /// The account that a token opens.
    struct OpenedAccount: Sendable {
        let id: String
        let name: String?
        let space: DiskSpace
    }

    /// Asks the API whose token it is, and whether it opens the whole Disk or the folder of an application only.
    func account(of token: DiskToken) async throws -> OpenedAccount {
        let text = token.accessToken
        do {
            let info = try await information(text)
            if try await client.opensDisk(text) { return try account(of: try info.get()) }
            let (folder, uid) = try await appFolder(text, info)
            let own = try (try? info.get()).map { try account(of: $0) }
            let space = own?.space ?? DiskSpace(total: 0, used: 0, trash: 0)
            return OpenedAccount(id: folder.account(of: own?.id ?? uid), name: own?.name, space: space)
        } catch  where TokenProvider.isUnauthorized(error) {
            throw Problem(
                .invalidCredentials,
                "Yandex Disk does not accept this token.",
                upstream: client.cause(401)
            )
        } catch {
            throw client.translated(error)
        }
    }

    /// Returns the account of a token, or the refusal of a token without the right to know it.
    private func information(_ token: String) async throws -> Result<DiskInfoRecord, DiskRefusal> {
        do {
            return .success(try await client.info(token))
        } catch let refusal as DiskRefusal where refusal.right != nil {
            return .failure(refusal)
        }
    }

    /// Returns the folder of the application that a token belongs to.
    ///
    /// - Throws: The refusal of a token that opens neither this nor the whole Disk; first that of `info`.
    private func appFolder(_ token: String, _ info: Result<DiskInfoRecord, DiskRefusal>) async throws
        -> (folder: AppFolder, uid: String)
    {
        do {
            return try await client.appFolder(token)
        } catch let refusal as DiskRefusal where refusal.right != nil {
            _ = try info.get()
            throw refusal
        }
    }

    private func link(
        _ token: DiskToken,
        _ opened: OpenedAccount,
        _ carrier: SessionCarrier,
        _ request: ScreenRequest
    ) async throws -> ScreenResponse {
        let session = session(of: opened)
        let (account, text) = try await store.link(session, opened.space, token, for: carrier, sessions: disk.sessions)
        let grant = SessionGrant(text, carrier)
        return try ScreenResponse.local(
            DiskSessionScreen(session, linkedAt: account?.linkedAt ?? session.createdAt, token: grant),
            "disk.session",
            request,
            status: .created,
            headerFields: [.location: "/v1/disk/session"]
        ).granting(grant, of: DiskApp.name, .lasting, request)
    }

    private func account(of info: DiskInfoRecord) throws -> OpenedAccount {
        let uid = try YandexDiskClient.validated(uid: info.user?.uid)
        return OpenedAccount(id: uid, name: info.user?.login, space: info.space)
    }

    func session(of account: OpenedAccount) -> Session {
        Session(
            app: DiskApp.name,
            kind: .user,
            account: account.id,
            name: account.name,
            createdAt: disk.clock.now()
        )
    }

    /// Revokes a token that was obtained here, if that is possible, in the background. A token without a refresh token
    /// was brought by the client and stays valid.
    private func revoke(_ token: DiskToken) {
        guard let oauth = disk.oauth, token.refreshToken != nil, oauth.upstream.reachability.isReachable else { return }
        disk.background.start { [logger = disk.logger] in
            do {
                try await oauth.revoke(accessToken: token.accessToken)
            } catch let refusal as YandexOAuthClient.Refusal {
                logger.info("Yandex OAuth did not revoke a token", metadata: ["code": "\(refusal.code)"])
            } catch {
                logger.info("a token could not be revoked", metadata: ["error": "\(error)"])
            }
        }
    }
}

extension ScreenLink {
    static let diskOnboarding = ScreenLink("disk.onboarding", "/v1/disk/onboarding")
    /// The first screen of a session. The API does not list the last files of an application's folder.
    static func diskHome(of session: Session) -> ScreenLink {
        AppFolder(ofAccount: session.account) == nil
            ? ScreenLink("disk.recent", "/v1/disk/recent") : ScreenLink("disk.files", "/v1/disk/files")
    }
}

/// `GET`, `PUT` and `DELETE /v1/disk/onboarding`.
struct OnboardingScreen: Encodable, Sendable {
    struct Page: Encodable, Sendable {
        let id: String
        let text: Text
        let imageUrl: Link

        init(_ page: OnboardingPage) {
            id = page.rawValue
            text = page.text
            imageUrl = "/v1/disk/onboarding/\(page.rawValue)/image"
        }
    }

    let seen: Bool
    let pages = OnboardingPage.allCases.map(Page.init)
    let button = Text.next
    let actions = [
        Action(id: "finish", title: .next, method: "PUT", href: "/v1/disk/onboarding", body: ["seen": .boolean(true)])
    ]
    /// The screen after the last page.
    let route: ScreenLink
}

/// `POST /v1/disk/session/authorization`: the address at which a browser begins a login.
struct AuthorizationScreen: Encodable, Sendable {
    let authorizeUrl: String
    let state: String
    static let lifetime = 600
    /// Seconds until the login expires.
    let expiresInS = Self.lifetime
}

/// `GET` and `POST /v1/disk/session`.
struct DiskSessionScreen: Encodable, Sendable {
    let kind: Session.Kind
    /// Login at Yandex.
    @Nullable var name: String?
    let linkedAt: Date
    let createdAt: Date
    /// Larder's token; only in the response that opens the session.
    let token: SessionGrant?
    let route: ScreenLink

    init(_ session: Session, linkedAt: Date, token: SessionGrant? = nil) {
        kind = session.kind
        name = session.name
        route = .diskHome(of: session)
        self.linkedAt = linkedAt
        createdAt = session.createdAt
        self.token = token
    }
}

extension EmptyState {
    static let published = disk(.publishedFiles, .nothingPublished, "/v1/disk/published?refresh=1")
    static let recent = disk(.recent, .nothingRecent, "/v1/disk/recent?refresh=1")
    static let trash = disk(.trash, .trashIsEmpty, "/v1/disk/trash?refresh=1")
    static let outbox = disk(.outbox, .outboxEmpty, OutboxScreen.href)
    static let offline = disk(.offline, .nothingOffline, "/v1/disk/offline")

    static func folder(_ path: DiskPath) -> EmptyState {
        disk(.files, .folderEmpty, path.link(to: "/v1/disk/files").query("refresh", "1"))
    }

    /// - Parameter isWhole: Whether all files were searched.
    static func search(_ text: String, isWhole: Bool) -> EmptyState {
        let again = Link("/v1/disk/search").query("q", text).query("refresh", "1")
        return disk(.search, isWhole ? .nothingFound : .nothingFoundInPart, again)
    }

    private static func disk(_ title: Text, _ text: Text, _ href: Link) -> EmptyState {
        EmptyState(title: title, text: text, action: .refresh(href))
    }
}

extension Banner {
    /// The notification of the original app, which disappears by itself.
    static let diskOffline = Banner(code: "offline", text: .noInternet, dismissal: .after(seconds: 3))
}

enum LogoutDialog {
    static let title = Text.exit

    /// - Parameter count: Number of writes that wait, which are lost; nil if there are none.
    static func message(waiting count: Int?) -> Text {
        count.map { .confirmLogout + " " + .losesWrites($0) } ?? .confirmLogout
    }

    static let buttons = [Text.yes, .no]
    static let href: Link = "/v1/disk/session?confirm=true"
}

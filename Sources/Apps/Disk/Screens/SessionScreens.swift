import Foundation
import Screens

extension ScreenLink {
    static let diskOnboarding = ScreenLink("disk.onboarding", "/v1/disk/onboarding")
    /// The first screen of a session.
    static let diskHome = ScreenLink("disk.recent", "/v1/disk/recent")
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
        Action(
            id: "finish",
            title: .next,
            method: "PUT",
            href: "/v1/disk/onboarding",
            body: ["seen": .boolean(true)]
        )
    ]
    /// The screen after the last page.
    let route: ScreenLink

    init(seen: Bool, route: ScreenLink) {
        self.seen = seen
        self.route = route
    }

    private enum CodingKeys: CodingKey { case seen, pages, button, actions, route }
}

/// `POST /v1/disk/session/authorization`: the address at which a browser begins a login.
struct AuthorizationScreen: Encodable, Sendable {
    let authorizeUrl: String
    let state: String
    /// Seconds until a login expires.
    static let lifetime = 600
    /// Seconds until the login expires.
    let expiresInS = Self.lifetime

    private enum CodingKeys: CodingKey { case authorizeUrl, state, expiresInS }
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
    /// The next screen.
    let route = ScreenLink.diskHome

    init(_ session: Session, linkedAt: Date, token: SessionGrant? = nil) {
        kind = session.kind
        _name = Nullable(wrappedValue: session.name)
        self.linkedAt = linkedAt
        createdAt = session.createdAt
        self.token = token
    }

    private enum CodingKeys: CodingKey { case kind, name, linkedAt, createdAt, token, route }
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
    static let diskOffline = Banner(
        code: "offline",
        text: .noInternet,
        dismissal: .after(seconds: 3)
    )
}

/// The confirmation of a logout.
enum LogoutDialog {
    static let title = Text.exit

    /// - Parameter count: Number of writes that wait, which are lost; nil if there are none.
    static func message(waiting count: Int?) -> Text {
        count.map { .confirmLogout + " " + .losesWrites($0) } ?? .confirmLogout
    }

    static let buttons = [Text.yes, .no]
    static let href: Link = "/v1/disk/session?confirm=true"
}

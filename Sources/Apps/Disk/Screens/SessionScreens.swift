import Foundation
import Screens

/// Names of the screens that a front end can be sent to.
enum DiskRoute: String, Encodable, Sendable {
    case onboarding, login, home
}

/// `GET`, `PUT` and `DELETE /v1/disk/onboarding`.
struct OnboardingScreen: Encodable, Sendable {
    struct Page: Encodable, Sendable {
        let id: String
        let text: String
        let imageUrl: String

        init(_ page: OnboardingPage) {
            id = page.rawValue
            text = page.text
            imageUrl = "/v1/disk/onboarding/\(page.rawValue)/image"
        }
    }

    let seen: Bool
    let pages = OnboardingPage.allCases.map(Page.init)
    let button = "Next"
    /// The screen after the last page.
    let route: DiskRoute

    init(seen: Bool, isLoggedIn: Bool) {
        self.seen = seen
        route = isLoggedIn ? .home : .login
    }

    private enum CodingKeys: CodingKey { case seen, pages, button, route }
}

/// `POST /v1/disk/session/authorization`: the address at which a browser begins a login.
struct AuthorizationScreen: Encodable, Sendable {
    let authorizeUrl: String
    let state: String
    /// Seconds until the login expires.
    let expiresInS = 600

    private enum CodingKeys: CodingKey { case authorizeUrl, state, expiresInS }
}

/// `GET` and `POST /v1/disk/session`.
struct DiskSessionScreen: Encodable, Sendable {
    let kind: Session.Kind
    /// Login at Yandex.
    @Nullable var name: String?
    let linkedAt: Date
    let createdAt: Date
    /// Larder's bearer token; only in the response that opens the session.
    let token: String?
    /// The next screen.
    let route = DiskRoute.home

    init(_ session: Session, linkedAt: Date, token: String? = nil) {
        kind = session.kind
        _name = Nullable(wrappedValue: session.name)
        self.linkedAt = linkedAt
        createdAt = session.createdAt
        self.token = token
    }

    private enum CodingKeys: CodingKey { case kind, name, linkedAt, createdAt, token, route }
}

extension EmptyState {
    static let published = disk("Published files", "You do not have any published files yet")
    static let recent = disk("Recent", "You have not uploaded any files yet")
    static let folder = disk("Files", "This folder is empty")
    static let trash = disk("Trash", "The trash is empty")
    static let search = disk("Search", "Nothing was found")
    static let searchInPart = disk("Search", "Nothing was found among the files that were seen so far")

    private static func disk(_ title: String, _ text: String) -> EmptyState {
        EmptyState(title: title, text: text, button: "Refresh")
    }
}

extension Banner {
    /// The notification of the original app, which disappears by itself.
    static let diskOffline = Banner(
        code: "offline",
        text: "No internet. Loading cache data.",
        dismissal: .after(seconds: 3)
    )
}

/// The confirmation of a logout.
enum LogoutDialog {
    static let title = "Exit"
    static let message = "Are you sure you want to log out? All local data will be deleted."
    static let buttons = ["Yes", "No"]
    static let href = "/v1/disk/session?confirm=true"
}

import Foundation
import Screens

/// `GET /v1/disk/launch`: which screen a cold start shows.
struct DiskLaunchScreen: Encodable, Sendable {
    enum Route: String, Encodable, Sendable {
        case onboarding, login, home
    }

    let route: Route
}

/// `GET`, `PUT` and `DELETE /v1/disk/onboarding`.
struct OnboardingScreen: Encodable, Sendable {
    struct Page: Encodable, Sendable {
        let id: String
        let text: String
    }

    let seen: Bool
    let pages = [
        Page(id: "documents", text: "All your documents are now in one place"),
        Page(id: "offline", text: "Access your files without the Internet"),
        Page(id: "sharing", text: "Share your files with others"),
    ]
    let button = "Next"
    /// The screen after the last page.
    let route: DiskLaunchScreen.Route

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
    let route = DiskLaunchScreen.Route.home

    init(_ session: Session, linkedAt: Date, token: String? = nil) {
        kind = session.kind
        _name = Nullable(wrappedValue: session.name)
        self.linkedAt = linkedAt
        createdAt = session.createdAt
        self.token = token
    }

    private enum CodingKeys: CodingKey { case kind, name, linkedAt, createdAt, token, route }
}

/// `DELETE /v1/disk/session`: the next screen.
struct FarewellScreen: Encodable, Sendable {
    let route = DiskLaunchScreen.Route.login
    @Nullable var alert: String?

    init() {
        _alert = Nullable(wrappedValue: nil)
    }

    private enum CodingKeys: CodingKey { case route, alert }
}

/// Shown instead of an empty list.
struct EmptyState: Encodable, Sendable {
    let title: String
    let text: String
    let button = "Refresh"

    private enum CodingKeys: CodingKey { case title, text, button }

    static let published = EmptyState(title: "Published files", text: "You do not have any published files yet")
    static let recent = EmptyState(title: "Recent", text: "You have not uploaded any files yet")
    static let folder = EmptyState(title: "Files", text: "This folder is empty")
    static let trash = EmptyState(title: "Trash", text: "The trash is empty")
    static let search = EmptyState(title: "Search", text: "Nothing was found")
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

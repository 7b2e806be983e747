import Foundation

/// A session as its app shows it.
package struct SessionScreen: Encodable, Sendable {
    let kind: Session.Kind
    @Nullable var name: String?
    let createdAt: Date
    /// The token; only in the response that opens the session.
    let token: SessionGrant?
    /// The screen that the front end shows next.
    let route: ScreenLink

    /// Shows a session.
    /// - Parameters:
    ///   - token: the token of a session that was just opened
    ///   - route: the screen that the front end shows next
    package init(_ session: Session, token: SessionGrant? = nil, route: ScreenLink) {
        kind = session.kind
        name = session.name
        createdAt = session.createdAt
        self.token = token
        self.route = route
    }
}

extension ScreenResponse {
    /// Returns the response with the version of the session that it shows, which `If-Match` of its end is compared
    /// with.
    package func of(_ session: Session) -> ScreenResponse { at(version: session.version) }
}

/// `DELETE /v1/{app}/session`: the screen after a logout.
package struct FarewellScreen: Encodable, Sendable {
    /// An alert with one button.
    package struct Alert: Encodable, Sendable, Equatable {
        package let message: Text
        package let button: Text

        package init(message: Text, button: Text) {
            self.message = message
            self.button = button
        }
    }

    /// The next screen.
    package let route: ScreenLink
    /// The alert to show, or null.
    @Nullable package var alert: Alert?
    /// The ways to log in again.
    package let actions: [Action]

    /// Creates a farewell; without an alert, the front end shows the login at once.
    package init(route: ScreenLink, alert: Alert? = nil, logins: [Action]) {
        (self.route, actions) = (route, logins)
        self.alert = alert
    }
}

/// `GET /v1/{app}/launch`: which screen a cold start shows.
package struct LaunchScreen: Encodable, Sendable {
    package let route: ScreenLink
    /// The ways to log in, if that is the screen.
    package let actions: [Action]

    package init(route: ScreenLink, logins: [Action] = []) {
        self.route = route
        actions = route.method == "POST" ? logins : []
    }
}

/// The screen that a front end shows next, by its name and address in `GET /v1` (docs/contract.md, "Names and
/// formats").
package struct ScreenLink: Encodable, Sendable, Equatable {
    /// Name of the screen, `app.screen`.
    package let screen: String
    /// Method of the request that returns it; POST for a login.
    package let method: String
    /// Target of that request.
    package let href: Link

    package init(_ screen: String, _ href: Link, method: String = "GET") {
        self.screen = screen
        self.method = method
        self.href = href
    }

    package static func login(to app: String) -> ScreenLink {
        ScreenLink("\(app).session", "/v1/\(app)/session", method: "POST")
    }
}

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
        _name = Nullable(wrappedValue: session.name)
        createdAt = session.createdAt
        self.token = token
        self.route = route
    }
}

extension ScreenResponse {
    /// Returns the response with the version of the session that it shows, which `If-Match` of its end is compared
    /// with.
    package func of(_ session: Session) -> ScreenResponse {
        var response = self
        response.version = String(session.version)
        return response
    }
}

import Foundation

/// A session as its app shows it: what a response that opens one, or tells of one, holds.
public struct SessionScreen: Encodable, Sendable {
    let kind: Session.Kind
    @Nullable var name: String?
    let createdAt: Date
    /// The bearer token; only in the response that opens the session.
    let token: String?
    /// Where the app goes next.
    let route: String

    /// Shows a session; `route` is where the app goes from here.
    public init(_ session: Session, token: String? = nil, route: String) {
        kind = session.kind
        _name = Nullable(wrappedValue: session.name)
        createdAt = session.createdAt
        self.token = token
        self.route = route
    }
}

/// The screen that a front end shows next: its name and address as they are in `GET /v1` (docs/contract.md, "Names and
/// formats").
package struct ScreenLink: Encodable, Sendable, Equatable {
    /// Name of the screen, `app.screen`.
    package let screen: String
    /// Method of the request that returns it; POST for a login.
    package let method: String
    /// Target of that request.
    package let href: Link

    /// Creates a link.
    package init(_ screen: String, _ href: Link, method: String = "GET") {
        self.screen = screen
        self.method = method
        self.href = href
    }

    /// The login of an app.
    package static func login(to app: String) -> ScreenLink {
        ScreenLink("\(app).session", "/v1/\(app)/session", method: "POST")
    }
}

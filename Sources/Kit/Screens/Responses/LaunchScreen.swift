/// `GET /v1/{app}/launch`: which screen a cold start shows.
public struct LaunchScreen: Encodable, Sendable {
    /// Name of the screen in the front end.
    public let route: String
    /// Where the screen's data is, if the app says so.
    public let href: String?

    /// Creates a launch screen.
    public init(route: String, href: String? = nil) {
        self.route = route
        self.href = href
    }
}

/// `GET /v1/{app}/launch`: which screen a cold start shows.
public struct LaunchScreen: Encodable, Sendable {
    /// The screen.
    public let route: ScreenLink

    /// Creates a launch screen.
    public init(route: ScreenLink) {
        self.route = route
    }
}

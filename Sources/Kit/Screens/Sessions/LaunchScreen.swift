/// `GET /v1/{app}/launch`: which screen a cold start shows.
package struct LaunchScreen: Encodable, Sendable {
    /// The screen.
    package let route: ScreenLink

    /// Creates a launch screen.
    package init(route: ScreenLink) {
        self.route = route
    }
}

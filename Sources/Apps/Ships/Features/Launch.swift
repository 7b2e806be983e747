import Freshness
import Screens
import Upstream

/// The start of the app.
struct Launch: Sendable {
    /// `GET /v1/ships/launch`: every cold start shows the login.
    func show(_ request: ScreenRequest) async throws -> ScreenResponse {
        try .local(LaunchScreen(route: .login(to: ShipsApp.name)), "ships.launch", request, changeToken: .unlimited)
    }
}

import Concurrency
import HTTP
import Screens
import Upstream

/// The start of the app.
struct Launch: Sendable {
    /// `GET /v1/shop/launch`: every cold start shows the last search.
    func show(_ request: ScreenRequest) async throws -> ScreenResponse {
        _ = try request.profile()
        let screen = LaunchScreen(route: ScreenLink("shop.search", "/v1/shop/search?saved=1"))
        return try ScreenResponse.local(screen, "shop.launch", request, changeToken: .unlimited).byProfile()
    }
}

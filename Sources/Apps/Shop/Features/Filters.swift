import Screens
import Upstream

/// The last search of a profile with its filters.
struct Filters: Sendable {
    let store: ShopStore

    /// `GET /v1/shop/filters`.
    func show(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let changeToken = store.changeToken(profile)
        let screen = FiltersScreen(try store.settings(profile) ?? SearchQuery())
        return try ScreenResponse.local(screen, "shop.filters", request, changeToken: changeToken).byProfile()
    }

    /// `PUT /v1/shop/filters`: replaces all filters and keeps the last text.
    func set(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let filters = try SearchFilters(try await request.jsonObject())
        let screen = FiltersScreen(try await store.setFilters(filters, profile))
        return try ScreenResponse.local(screen, "shop.filters", request).byProfile()
    }

    /// `DELETE /v1/shop/filters`: removes the filters and the last text.
    func reset(_ request: ScreenRequest) async throws -> ScreenResponse {
        try await store.resetSettings(try request.profile())
        return try ScreenResponse.local(FiltersScreen(SearchQuery()), "shop.filters", request).byProfile()
    }
}

import Freshness
import Screens
import Upstream

/// The last search of a profile with its filters.
struct Filters: Sendable {
    let profiles: any ShopProfiles

    /// `GET /v1/shop/filters`.
    func show(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let changeToken = profiles.changeToken(profile)
        return try response(try await profiles.searches(of: profile), request, changeToken: changeToken)
    }

    /// `PUT /v1/shop/filters`: replaces all filters and keeps the last text.
    func set(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let preconditions = request.writePreconditions()
        let filters = try SearchFilters(try await request.jsonObject())
        return try response(try await profiles.setFilters(filters, profile, if: preconditions), request)
    }

    /// `DELETE /v1/shop/filters`: removes the filters and the last text.
    func reset(_ request: ScreenRequest) async throws -> ScreenResponse {
        let preconditions = request.writePreconditions()
        return try response(try await profiles.resetSettings(try request.profile(), if: preconditions), request)
    }

    private func response(_ searches: ProfileSearches, _ request: ScreenRequest, changeToken: ChangeToken? = nil) throws
        -> ScreenResponse
    {
        try ScreenResponse.local(
            FiltersScreen(searches.last ?? SearchQuery()),
            "shop.filters",
            request,
            revision: searches.revision,
            changeToken: changeToken
        ).byProfile().at(version: searches.revision)
    }
}

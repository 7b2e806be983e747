import Cluster
import Concurrency
import HTTP
import Screens
import Upstream

/// The last search of a profile with its filters.
struct Filters: Sendable {
    let store: ShopStore

    /// `GET /v1/shop/filters`.
    func show(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let (lag, changeToken) = try await store.catchUp(profile)
        return try response(try store.searches(of: profile), request, lag, changeToken)
    }

    /// `PUT /v1/shop/filters`: replaces all filters and keeps the last text.
    func set(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let preconditions = request.writePreconditions()
        let filters = try SearchFilters(try await request.jsonObject())
        return try await request.answering {
            try response($0, request)
        } to: {
            try await store.setFilters(filters, profile, if: preconditions)
        }.response
    }

    /// `DELETE /v1/shop/filters`: removes the filters and the last text.
    func reset(_ request: ScreenRequest) async throws -> ScreenResponse {
        let (profile, preconditions) = (try request.profile(), request.writePreconditions())
        return try await request.answering {
            try response($0, request)
        } to: {
            try await store.resetSettings(profile, if: preconditions)
        }.response
    }

    private func response(
        _ searches: ProfileSearches,
        _ request: ScreenRequest,
        _ lag: UserDatabase.Lag? = nil,
        _ changeToken: ChangeToken? = nil
    ) throws -> ScreenResponse {
        try ScreenResponse.local(
            FiltersScreen(searches.last ?? SearchQuery()),
            Meta(screen: "shop.filters", provenance: .local, revision: searches.revision).lagging(lag),
            Links(self: request.selfLink),
            changeToken: changeToken
        ).byProfile().at(version: searches.revision)
    }
}

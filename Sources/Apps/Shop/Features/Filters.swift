import Cluster
import Concurrency
import HTTP
import Screens
import Storage
import Upstream

/// The last search of a profile with its filters.
struct Filters: Sendable {
    let store: ShopStore
    let categories: Categories

    /// `GET /v1/shop/filters`.
    func show(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let ofCatalogue = ChangeToken(of: store.categoryChanges, store.catalogueChanges)
        let known = try await categories.known()
        let (lag, changeToken) = try await store.catchUp(profile)
        return try response(
            try store.searches(of: profile),
            known,
            request,
            lag,
            // Without categories the next request looks for them again.
            known.isEmpty ? nil : changeToken.map(ofCatalogue.and)
        )
    }

    /// `PUT /v1/shop/filters`: replaces all filters and keeps the last text.
    func set(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let preconditions = request.writePreconditions()
        let filters = try SearchFilters(try await request.jsonObject())
        let known = try store.database.read(ShopStore.categories)
        return try await request.answering {
            try response($0, known, request)
        } to: {
            try await store.setFilters(filters, profile, if: preconditions)
        }.response
    }

    /// `DELETE /v1/shop/filters`: removes the filters and the last text.
    func reset(_ request: ScreenRequest) async throws -> ScreenResponse {
        let (profile, preconditions) = (try request.profile(), request.writePreconditions())
        let known = try store.database.read(ShopStore.categories)
        return try await request.answering {
            try response($0, known, request)
        } to: {
            try await store.resetSettings(profile, if: preconditions)
        }.response
    }

    private func response(
        _ searches: ProfileSearches,
        _ categories: [Product.ListedCategory],
        _ request: ScreenRequest,
        _ lag: UserDatabase.Lag? = nil,
        _ changeToken: ChangeToken? = nil
    ) throws -> ScreenResponse {
        let query = searches.last ?? SearchQuery()
        return try ScreenResponse.local(
            FiltersScreen(query, categories, try store.prices(ofCategory: query.filters.categoryID)),
            Meta(screen: "shop.filters", provenance: .local, revision: searches.revision).lagging(lag),
            Links(self: request.selfLink),
            changeToken: changeToken
        ).byProfile().at(version: searches.revision)
    }
}

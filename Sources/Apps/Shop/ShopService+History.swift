import Foundation
import Screens
import Storage
import Upstream

extension ShopService {
    /// `GET /v1/shop/history`, narrowed by what is being typed.
    @Sendable func history(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let typed = try request.query.string("q") ?? ""
        if let wrong = SearchQuery.fault(of: typed) { throw Problem.invalidParameter("q", accepted: wrong) }
        return try response(typed, profile, request, changeToken: store.changeToken(profile))
    }

    /// `DELETE /v1/shop/history`.
    @Sendable func clearHistory(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        try await store.clearHistory(profile)
        return try response("", profile, request)
    }

    /// `DELETE /v1/shop/history/{n}`, counted from 0, the newest.
    @Sendable func removePastSearch(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let text = try request.parameter("n")
        guard let place = Int(text), (0..<ShopStore.mostPastSearches).contains(place),
            try await store.removePastSearch(place, profile)
        else {
            throw Problem.notFound("There is no such search in the history; the newest one is 0.")
        }
        return try response("", profile, request)
    }

    private func response(_ typed: String, _ profile: String, _ request: ScreenRequest, changeToken: ChangeToken? = nil)
        throws
        -> ScreenResponse
    {
        let folded = SearchQuery(text: typed).folded
        let rows = try store.history(profile).enumerated().filter { _, search in
            folded.map { Array(search.text.caseFolded.utf8).firstRange(of: Array($0.utf8)) != nil } ?? true
        }.map { HistoryScreen.Row($0.element, place: $0.offset) }
        let screen = HistoryScreen(rows, isNarrowed: folded != nil)
        let own = changeToken == nil ? "/v1/shop/history" : nil
        return try local(
            screen,
            "shop.history",
            request,
            state: rows.isEmpty ? .empty : .content,
            self: own,
            changeToken: changeToken
        )
    }

    /// `GET /v1/shop/filters`: the last search with its filters.
    @Sendable func filters(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let changeToken = store.changeToken(profile)
        return try local(
            FiltersScreen(try store.settings(profile) ?? SearchQuery()),
            "shop.filters",
            request,
            changeToken: changeToken
        )
    }

    /// `PUT /v1/shop/filters`: what is not given is no filter; the last text stays.
    @Sendable func setFilters(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let filters = try SearchFilters(try await request.jsonObject())
        return try local(FiltersScreen(try await store.setFilters(filters, profile)), "shop.filters", request)
    }

    /// `DELETE /v1/shop/filters`: reset, the last text included.
    @Sendable func resetFilters(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        try await store.resetSettings(profile)
        return try local(FiltersScreen(SearchQuery()), "shop.filters", request)
    }
}

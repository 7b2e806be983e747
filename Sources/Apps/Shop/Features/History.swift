import Database
import Freshness
import ResponseStore
import Screens
import Upstream

/// The last searches of a profile.
struct History: Sendable {
    let store: ShopStore

    /// `GET /v1/shop/history`: the past searches that contain the text typed so far.
    func show(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let typed = try request.query.string("q") ?? ""
        if let wrong = SearchQuery.fault(of: typed) { throw Problem.invalidParameter("q", accepted: wrong) }
        return try response(typed, profile, request, changeToken: store.changeToken(profile))
    }

    /// `DELETE /v1/shop/history`.
    func clear(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        try await store.clearHistory(profile)
        return try response("", profile, request, selfLink: "/v1/shop/history")
    }

    /// `DELETE /v1/shop/history/{n}`; the newest search is 0.
    func remove(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let text = try request.parameter("n")
        guard let index = Int(text), (0..<ShopStore.maximumPastSearches).contains(index),
            try await store.removePastSearch(index, profile)
        else {
            throw Problem.notFound("There is no such search in the history; the newest one is 0.")
        }
        return try response("", profile, request, selfLink: "/v1/shop/history")
    }

    private func response(
        _ typed: String,
        _ profile: String,
        _ request: ScreenRequest,
        selfLink: String? = nil,
        changeToken: ChangeToken? = nil
    ) throws -> ScreenResponse {
        let folded = SearchQuery(text: typed).folded
        let rows = try store.history(profile).enumerated().filter { _, search in
            folded.map { Array(search.text.caseFolded.utf8).firstRange(of: Array($0.utf8)) != nil } ?? true
        }.map { HistoryScreen.Row($0.element, index: $0.offset) }
        return try ScreenResponse.local(
            HistoryScreen(rows, isNarrowed: folded != nil),
            "shop.history",
            request,
            state: rows.isEmpty ? .empty : .content,
            selfLink: selfLink,
            changeToken: changeToken
        ).byProfile()
    }
}

import Cluster
import Concurrency
import Foundation
import HTTP
import Screens
import Storage

/// The last searches of a profile.
struct History: Sendable {
    let shop: Shop

    /// `GET /v1/shop/history`: the past searches that contain the text typed so far.
    func show(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let typed = try request.query.string("q") ?? ""
        if let wrong = SearchQuery.fault(of: typed) {
            throw Problem.invalidParameter("q", accepted: wrong, dialog: .searchText)
        }
        let (lag, changeToken) = try await shop.store.catchUp(profile)
        return try response(typed, try shop.store.searches(of: profile), request, lag, changeToken: changeToken)
    }

    /// `DELETE /v1/shop/history`.
    func clear(_ request: ScreenRequest) async throws -> ScreenResponse {
        let (profile, preconditions) = (try request.profile(), request.writePreconditions())
        return try await request.answering {
            try response("", $0, request, selfLink: "/v1/shop/history")
        } to: {
            try await shop.store.clearHistory(profile, if: preconditions)
        }.response
    }

    /// `DELETE /v1/shop/history/{n}`; the newest search is 0.
    func remove(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let text = try request.parameter("n")
        guard let index = Int(text), (0..<ShopStore.maximumPastSearches).contains(index) else {
            throw Problem.noSearch
        }
        return try await request.answering {
            try response("", $0, request, selfLink: "/v1/shop/history")
        } to: {
            try await shop.store.removePastSearch(index, profile, if: request.writePreconditions())
        }.response
    }

    private func response(
        _ typed: String,
        _ searches: ProfileSearches,
        _ request: ScreenRequest,
        _ lag: UserDatabase.Lag? = nil,
        selfLink: Link? = nil,
        changeToken: ChangeToken? = nil
    ) throws -> ScreenResponse {
        let folded = SearchQuery(text: typed).folded
        let rows = searches.history.enumerated().filter { _, search in
            folded.map { Array(search.text.caseFolded.utf8).firstRange(of: Array($0.utf8)) != nil } ?? true
        }.map { HistoryScreen.Row($0.element, index: $0.offset, version: searches.revision) }
        return try ScreenResponse.local(
            HistoryScreen(rows, isNarrowed: folded != nil),
            Meta(
                screen: "shop.history",
                state: rows.isEmpty ? .empty : .content,
                provenance: .local,
                revision: searches.revision
            ).lagging(lag),
            Links(self: selfLink ?? request.selfLink),
            changeToken: changeToken
        ).byProfile().at(version: searches.revision)
    }
}

/// `GET` and `DELETE /v1/shop/history`.
struct HistoryScreen: Encodable, Sendable {
    struct Row: Encodable, Sendable {
        let id: String
        let q: String
        let filters: FilterFields
        let searchedAt: Date
        /// The same search again.
        let href: Link
        let actions: [Action]

        init(_ search: PastSearch, index: Int, version: Int) {
            let query = SearchQuery(text: search.text, filters: search.filters)
            id = query.folded ?? search.text
            q = search.text
            filters = FilterFields(search.filters)
            searchedAt = search.searchedAt
            href = query.link
            actions = [.forgetSearch(index, version: version)]
        }
    }

    let items: [Row]
    let actions: [Action]
    let empty: EmptyState?

    /// - Parameter isNarrowed: Whether only searches that contain a text are shown.
    init(_ items: [Row], isNarrowed: Bool) {
        self.items = items
        actions = items.isEmpty ? [] : [.clearHistory]
        let title: Text = isNarrowed ? .noSuchSearch : .emptyHistory
        empty = items.isEmpty ? EmptyState(title: title, text: "", action: .products) : nil
    }
}

/// A search in the history of a profile.
struct PastSearch: Sendable, Equatable {
    var text: String
    var filters: SearchFilters
    var searchedAt: Date
}

/// The searches of a profile, read in one transaction.
struct ProfileSearches: Sendable, Equatable {
    /// The last search with its filters; nil if there is none.
    var last: SearchQuery?
    /// Past searches, newest first.
    var history: [PastSearch]
    /// Number of changes of these.
    var revision: Int
}

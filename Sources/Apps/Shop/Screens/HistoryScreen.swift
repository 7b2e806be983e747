import Foundation
import Screens

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

    /// A title that the typed text may become.
    struct Suggestion: Encodable, Sendable {
        let text: String
        /// The search for it.
        let href: Link
    }

    let items: [Row]
    let suggestions: [Suggestion]
    let actions: [Action]
    let empty: EmptyState?

    /// - Parameter isNarrowed: Whether only searches that contain a text are shown.
    init(_ items: [Row], isNarrowed: Bool, suggestions: [String] = []) {
        self.items = items
        self.suggestions = suggestions.map { Suggestion(text: $0, href: SearchQuery(text: $0).link) }
        actions = items.isEmpty ? [] : [.clearHistory]
        let title: Text = isNarrowed ? .noSuchSearch : .emptyHistory
        empty = items.isEmpty ? EmptyState(title: title, text: "", action: .products) : nil
    }
}

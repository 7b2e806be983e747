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

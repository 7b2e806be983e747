import Foundation
import Screens

/// `GET` and `DELETE /v1/shop/history`.
struct HistoryScreen: Encodable, Sendable {
    struct Row: Encodable, Sendable {
        let q: String
        let filters: FilterFields
        let searchedAt: Date
        /// The target of `DELETE`; the newest search has the index 0.
        let href: Link

        init(_ search: PastSearch, index: Int) {
            q = search.text
            filters = FilterFields(search.filters)
            searchedAt = search.searchedAt
            href = "/v1/shop/history/\(index)"
        }
    }

    let items: [Row]
    let empty: EmptyState?

    /// - Parameter isNarrowed: Whether only searches that contain a text are shown.
    init(_ items: [Row], isNarrowed: Bool) {
        self.items = items
        let title: Text = isNarrowed ? .noSuchSearch : .emptyHistory
        empty = items.isEmpty ? EmptyState(title: title, text: "", button: .toProducts) : nil
    }
}

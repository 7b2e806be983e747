import Screens

/// `GET /v1/shop/suggestions`.
struct SuggestionsScreen: Encodable, Sendable {
    struct Row: Encodable, Sendable {
        let text: String
        /// The search for it.
        let href: Link
    }

    let items: [Row]

    init(_ titles: [String]) { items = titles.map { Row(text: $0, href: SearchQuery(text: $0).link) } }
}

/// `GET /v1/shop/search`.
struct SearchScreen: Encodable, Sendable {
    struct Row: Encodable, Sendable {
        @Flattened var product: ProductSummary
        let imageUrl: Link
        let href: Link

        init(_ product: Product, _ line: CartLine?, isListFull: Bool = false, layout: Layout) {
            self.product = ProductSummary(product, line, isListFull: isListFull, layout: layout)
            imageUrl = product.imageURL()
            href = product.href
        }
    }

    let query: QueryFields
    let items: [Row]
    let empty: EmptyState?
    let actions: [Action]?

    /// - Parameters:
    ///   - retry: address that repeats the search; nil unless nothing was found.
    ///   - isPartial: Whether only products that were ever seen were searched.
    init(_ query: SearchQuery, items: [Row], retry: Link?, isPartial: Bool) {
        self.query = QueryFields(query)
        self.items = items
        let again = retry.map { Action.show("retry", .tryAgain, $0) }
        empty = again.map {
            isPartial
                ? EmptyState(title: .catalogueAway, text: .nothingAmongSeen, action: $0)
                : EmptyState(title: .noProducts, text: "", action: $0)
        }
        actions = again.map { [$0] }
    }
}

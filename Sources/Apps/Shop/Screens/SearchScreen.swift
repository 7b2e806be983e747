import Screens

/// `GET /v1/shop/search`.
struct SearchScreen: Encodable, Sendable {
    struct Row: Encodable, Sendable {
        let product: ProductSummary
        let image: String
        let href: String

        init(_ product: Product, quantity: Int?, layout: Layout) {
            self.product = ProductSummary(product, quantity: quantity, layout: layout)
            image = "/v1/shop/images/\(product.id)/0"
            href = "/v1/shop/products/\(product.id)"
        }

        private enum CodingKeys: CodingKey { case image, href }

        func encode(to encoder: any Encoder) throws {
            try product.encode(to: encoder)
            var fields = encoder.container(keyedBy: CodingKeys.self)
            try fields.encode(image, forKey: .image)
            try fields.encode(href, forKey: .href)
        }
    }

    let query: QueryFields
    let items: [Row]
    let empty: EmptyState?
    let actions: [Action]?

    /// - Parameter retry: Where the same search is repeated; nil unless nothing was found.
    init(_ query: SearchQuery, items: [Row], retry: String?) {
        self.query = QueryFields(query)
        self.items = items
        empty = retry == nil ? nil : .noProducts
        actions = retry.map { [Action(id: "retry", title: "Повторить", method: "GET", href: $0)] }
    }
}

extension EmptyState {
    /// The search found nothing.
    static let noProducts = EmptyState(title: "Извините, таких товаров пока нет :(", text: "", button: "Повторить")
}

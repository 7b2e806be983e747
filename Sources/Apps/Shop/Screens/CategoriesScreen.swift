import Screens

/// `GET /v1/shop/categories`.
struct CategoriesScreen: Encodable, Sendable {
    struct Row: Encodable, Sendable {
        let id: Int
        let name: String
        let layout: Layout
        /// Always there; a placeholder if the category has none.
        let imageUrl: Link
        let href: Link
    }

    let items: [Row]
    let empty: EmptyState?

    /// - Parameters:
    ///   - isEmpty: Whether no category is known.
    ///   - layout: Returns how wide the products of a category are.
    init(_ categories: [Product.Category], isEmpty: Bool, layout: (Product.Category) -> Layout) {
        items = categories.map {
            let href: Link = "/v1/shop/search?category_id=\($0.id)"
            return Row(id: $0.id, name: $0.name, layout: layout($0), imageUrl: $0.imageLink, href: href)
        }
        let retry = Action.show("retry", .tryAgain, "/v1/shop/categories?refresh=1")
        empty = isEmpty ? EmptyState(title: .noCategories, text: "", action: retry) : nil
    }
}

extension Product.Category {
    /// The address of its picture.
    var imageLink: Link { "/v1/shop/categories/\(id)/image" }
}

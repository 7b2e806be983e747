import Screens

/// `GET /v1/shop/categories`.
struct CategoriesScreen: Encodable, Sendable {
    struct Row: Encodable, Sendable {
        let id: Int
        let name: String
        let layout: Layout
        let href: String
    }

    let items: [Row]
    let empty: EmptyState?

    init(_ categories: [Product.Category], _ options: ShopApp.Options) {
        items = categories.map {
            let href = "/v1/shop/search?category_id=\($0.id)"
            return Row(id: $0.id, name: $0.name, layout: options.layout(of: $0), href: href)
        }
        empty = items.isEmpty ? EmptyState(title: "Категорий пока нет", text: "", button: "Повторить") : nil
    }
}

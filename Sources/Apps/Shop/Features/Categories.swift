import Concurrency
import HTTP
import Screens
import Storage
import Upstream

struct Categories: Sendable {
    let shop: Shop

    private static let list = PagedList("shop.categories", key: [.integer, .integer])

    /// `GET /v1/shop/categories`.
    func show(_ request: ScreenRequest) async throws -> ScreenResponse {
        let page = try request.query.page(of: Self.list, maximumLimit: 500)
        let cachePolicy = try request.cachePolicy()
        let changeToken = ChangeToken(of: shop.store.categoryChanges)
        let readToken = shop.api.upstream.readToken()
        let stored: (ReadResult, ListPage<Product.Category>)? = try shop.store.database.read { _ in
            try shop.api.stored(shop.api.categories(), cachePolicy, since: readToken).map {
                ($0, try shop.store.categories(page))
            }
        }
        let (result, found) =
            if let stored { stored } else { (try await refresh(cachePolicy), try shop.store.categories(page)) }
        let isEmpty = found.total == 0
        return try .read(
            CategoriesScreen(found.rows, isEmpty: isEmpty) { Layout(of: $0, wide: shop.wide) },
            "shop.categories",
            request,
            of: result,
            now: shop.clock.now(),
            state: isEmpty ? .empty : .content,
            banner: result.provenance.offline ? .shopOffline : nil,
            page: Self.list.part(found, of: page),
            changeToken: changeToken
        )
    }

    /// Reads the categories from the API into the store.
    ///
    /// - Throws: `UpstreamFailure`.
    func refresh(_ cachePolicy: CachePolicy) async throws -> ReadResult {
        // Categories that are known do not all vanish at once.
        let acceptsEmpty = try !shop.store.hasCategories()
        let save = shop.store.saveCategories { [shop] in
            shop.events.publishCatalogue(["shop.categories", "shop.filters"], at: shop.clock.now())
        }
        return try await shop.api.read(shop.api.categories(acceptsEmpty: acceptsEmpty, save: save), cachePolicy)
    }
}

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

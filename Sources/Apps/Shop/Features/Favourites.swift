import Cluster
import Concurrency
import HTTP
import HTTPTypes
import Screens
import Upstream

/// The favourites of a profile. Like the list they are local, and need no upstream but for a product that was never
/// seen.
struct Favourites: Sendable {
    let products: ProductReader
    let store: ShopStore
    let events: EventStream

    private static let path: Link = "/v1/shop/favourites"
    private static let pages = PagedList("shop.favourites", key: [.integer])

    /// `GET /v1/shop/favourites`.
    func show(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let page = try request.query.page(of: Self.pages)
        let ofCatalogue = ChangeToken(of: store.catalogueChanges)
        let (lag, changeToken) = try await store.catchUp(profile)
        let favourites = try store.favourites(profile, page)
        return try response(favourites, page, request, lag, changeToken.map(ofCatalogue.and))
    }

    /// `PUT /v1/shop/favourites/{id}`.
    func add(_ request: ScreenRequest) async throws -> ScreenResponse {
        let id = try products.id("id", in: request)
        let product = try await products.known(id)
        return try await set(id, product, request)
    }

    /// `DELETE /v1/shop/favourites/{id}`; also of a product that is none.
    func remove(_ request: ScreenRequest) async throws -> ScreenResponse {
        try await set(try products.id("id", in: request), nil, request)
    }

    private func set(_ id: Int, _ product: Product?, _ request: ScreenRequest) async throws -> ScreenResponse {
        let (profile, preconditions) = (try request.profile(), request.writePreconditions())
        let page = try request.query.page(of: Self.pages)
        let (favourites, response) = try await request.answering { (favourites: ShopStore.Favourites?) in
            guard let favourites else {
                let detail = Text.favouritesFull(ShopStore.maximumFavourites)
                throw Problem.validation([.field("/id", "list-full", detail)])
            }
            return try self.response(favourites, page, request)
        } to: {
            try await store.setFavourite(id, product, profile, if: preconditions, showing: page)
        }
        if let favourites {
            let audience = ServerEvent.Audience.profile(app: ShopApp.name, profile: profile)
            events.publish(["shop.favourites", "shop.card"], of: ShopApp.name, favourites.revision, to: audience)
        }
        return response
    }

    private func response(
        _ favourites: ShopStore.Favourites,
        _ page: PageRequest,
        _ request: ScreenRequest,
        _ lag: UserDatabase.Lag? = nil,
        _ changeToken: ChangeToken? = nil
    ) throws -> ScreenResponse {
        let (shown, next) = Self.pages.part(favourites.page, of: page)
        return try ScreenResponse.local(
            FavouritesScreen(favourites.page),
            Meta(
                screen: "shop.favourites",
                state: favourites.page.total == 0 ? .empty : .content,
                provenance: .local,
                revision: favourites.revision,
                page: shown
            ).lagging(lag),
            request.links(for: shown, next: next, at: Self.path),
            changeToken: changeToken
        ).byProfile().at(version: favourites.revision)
    }
}

/// `GET /v1/shop/favourites`, and the response to every change of them.
struct FavouritesScreen: Encodable, Sendable {
    struct Row: Encodable, Sendable {
        @Flattened var tile: ProductTile
        /// Whether the catalogue still has the product.
        let available: Bool
        let actions: [Action]
    }

    let items: [Row]
    let empty: EmptyState?

    init(_ page: ListPage<ShopStore.Favourite>) {
        items = page.rows.map {
            let tile = ProductTile($0.product, isAvailable: $0.isAvailable)
            return Row(tile: tile, available: $0.isAvailable, actions: [.favourite($0.product.id, isFavourite: true)])
        }
        empty = page.total == 0 ? EmptyState(title: .noFavourites, text: "", action: .products) : nil
    }
}

/// A product in few words.
struct ProductTile: Encodable, Sendable {
    let id: Int
    let title: String
    let price: Price
    let priceText: Text
    @Nullable var imageUrl: Link?
    let href: Link

    /// - Parameter isAvailable: Whether the id is still the product's; if not, its title is searched for.
    init(_ product: Product, isAvailable: Bool = true) {
        (id, title, price, priceText) = (product.id, product.title, product.price, product.price.text)
        imageUrl = isAvailable ? "/v1/shop/images/\(product.id)/0" : nil
        href = isAvailable ? "/v1/shop/products/\(product.id)" : SearchQuery(text: product.title).link
    }
}

extension Action {
    /// Adds a product to the favourites, or takes it away.
    static func favourite(_ product: Int, isFavourite: Bool) -> Action {
        Action(
            id: isFavourite ? "unfavourite" : "favourite",
            title: isFavourite ? .removeFavourite : .addFavourite,
            method: isFavourite ? "DELETE" : "PUT",
            href: "/v1/shop/favourites/\(product)"
        )
    }
}

import Concurrency
import HTTP
import Screens
import Storage
import Upstream

/// The last search of a profile with its filters, and the values that filters may have.
struct Filters: Sendable {
    let shop: Shop

    /// The values that are known so far.
    private struct Values: Sendable {
        var categories: [Product.Category]
        var products: [Product] = []
        /// Nil if the catalogue did not respond, and nothing of it is stored.
        var provenance: Provenance?
        var changeToken: ChangeToken?

        init(_ categories: [Product.Category], _ list: ReadResult?, _ catalogue: ProductSearch.Catalogue?) {
            self.categories = categories
            products = catalogue?.products ?? []
            provenance = list?.provenance
            if let other = catalogue?.provenance { provenance = provenance?.combined(with: other) ?? other }
            changeToken = list?.changeToken.flatMap { catalogue?.changeToken?.and($0) }
        }
    }

    /// `GET /v1/shop/filters`.
    func show(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let cachePolicy = try request.cachePolicy()
        let ofCategories = ChangeToken(of: shop.store.categoryChanges)
        let (lag, changeToken) = try await shop.store.catchUp(profile)
        let readToken = shop.search.readToken()
        let stored: (ProfileSearches, Values)? = try shop.store.database.read { _ in
            guard let values = try storedValues(cachePolicy, since: readToken) else { return nil }
            return (try shop.store.searches(of: profile, history: false), values)
        }
        let (searches, values): (ProfileSearches, Values)
        if let stored {
            (searches, values) = stored
        } else {
            values = try await readValues(cachePolicy, for: profile)
            searches = try shop.store.searches(of: profile, history: false)
        }
        let isOffline = !shop.api.upstream.reachability.isReachable
        let none = Provenance(source: .upstream, offline: isOffline, stale: true, cacheStatus: CacheStatus(.generated))
        let provenance = values.provenance ?? none
        let banner: Banner? = provenance.offline ? .shopOffline : nil
        let meta = Meta(
            screen: "shop.filters",
            provenance: provenance,
            revision: searches.revision,
            banner: banner
        ).lagging(lag)
        return try ScreenResponse.screen(
            Envelope(data: screen(searches, values), meta: meta, links: Links(self: request.selfLink)),
            provenance: provenance,
            now: shop.clock.now(),
            changeToken: changeToken.flatMap { values.changeToken?.and(ofCategories).and($0) }
        ).byProfile().at(version: searches.revision)
    }

    /// Returns the values if they are served without a request.
    ///
    /// - Parameter readToken: Taken before the transaction within which this is called.
    private func storedValues(_ cachePolicy: CachePolicy, since readToken: ProductSearch.SearchToken) throws
        -> Values?
    {
        guard let list = try shop.api.stored(shop.api.categories(), cachePolicy, since: readToken.responses),
            let catalogue = try shop.search.storedCatalogue(cachePolicy, since: readToken)
        else { return nil }
        return Values(try shop.store.database.read(ShopStore.categories), list, catalogue)
    }

    private func readValues(_ cachePolicy: CachePolicy, for profile: String) async throws -> Values {
        // At the same time: the sheet waits for the slower one, not for both.
        async let whole = shop.search.catalogue(cachePolicy, for: profile)
        var list: ReadResult?
        var failure: UpstreamFailure?
        do {
            list = try await shop.categories.refresh(cachePolicy)
        } catch let error as UpstreamFailure { failure = error }
        let catalogue = try await whole
        // The filters themselves are shown whatever the upstream does.
        if let failure, catalogue == nil, cachePolicy == .onlyIfCached { throw failure }
        return Values(try shop.store.database.read(ShopStore.categories), list, catalogue)
    }

    /// `PUT /v1/shop/filters`: replaces all filters and keeps the last text.
    func set(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let preconditions = request.writePreconditions()
        let filters = try SearchFilters(try await request.jsonObject())
        return try await request.answering {
            try response($0, request)
        } to: {
            try await shop.store.setFilters(filters, profile, if: preconditions)
        }.response
    }

    /// `DELETE /v1/shop/filters`: removes the filters and the last text.
    func reset(_ request: ScreenRequest) async throws -> ScreenResponse {
        let (profile, preconditions) = (try request.profile(), request.writePreconditions())
        return try await request.answering {
            try response($0, request)
        } to: {
            try await shop.store.resetSettings(profile, if: preconditions)
        }.response
    }

    /// The response to a change, with the values that are stored.
    private func response(_ searches: ProfileSearches, _ request: ScreenRequest) throws -> ScreenResponse {
        let readToken = shop.search.readToken()
        let values = try shop.store.database.read { db in
            try storedValues(.onlyIfCached, since: readToken) ?? Values(ShopStore.categories(db), nil, nil)
        }
        return try ScreenResponse.local(
            screen(searches, values),
            Meta(screen: "shop.filters", provenance: .local, revision: searches.revision),
            Links(self: request.selfLink)
        ).byProfile().at(version: searches.revision)
    }

    private func screen(_ searches: ProfileSearches, _ values: Values) -> FiltersScreen {
        FiltersScreen(searches.last ?? SearchQuery(), values.categories, values.products)
    }
}

/// `GET`, `PUT` and `DELETE /v1/shop/filters`: the last search with its filters, and their possible values.
struct FiltersScreen: Encodable, Sendable {
    /// The lowest and the highest price of the catalogue, or of the category if one is chosen.
    struct PriceBounds: Encodable, Sendable {
        let min: Price
        let minText: Text
        let max: Price
        let maxText: Text

        init?(_ prices: [Price]) {
            guard let min = prices.min(), let max = prices.max() else { return nil }
            (self.min, self.max) = (min, max)
            (minText, maxText) = (min.text, max.text)
        }
    }

    @Flattened var query: QueryFields
    /// The search with these filters.
    let href: Link = "/v1/shop/search?saved=1"
    @Nullable var priceBounds: PriceBounds?
    let actions: [Action]

    init(_ query: SearchQuery, _ categories: [Product.Category], _ products: [Product]) {
        self.query = QueryFields(query)
        let ofCategory = SearchFilters(categoryID: query.filters.categoryID)
        priceBounds = PriceBounds(products.filter(ofCategory.matches).map(\.price))
        actions = [.applyFilters(query.filters, categories), .resetFilters]
    }
}

/// The filters of a search as fields, all of which are always present.
struct FilterFields: Encodable, Sendable {
    @Nullable var categoryId: Int?
    @Nullable var price: Price?
    @Nullable var priceText: Text?
    @Nullable var priceMin: Price?
    @Nullable var priceMinText: Text?
    @Nullable var priceMax: Price?
    @Nullable var priceMaxText: Text?

    init(_ filters: SearchFilters) {
        categoryId = filters.categoryID
        price = filters.price
        priceText = filters.price?.text
        priceMin = filters.minimum
        priceMinText = filters.minimum?.text
        priceMax = filters.maximum
        priceMaxText = filters.maximum?.text
    }
}

/// A text and filters as fields of one object, all of which are always present.
struct QueryFields: Encodable, Sendable {
    @Flattened var filters: FilterFields
    @Nullable var q: String?

    init(_ query: SearchQuery) {
        filters = FilterFields(query.filters)
        q = query.text
    }
}

import Cluster
import Concurrency
import HTTP
import Screens
import Storage
import Upstream

struct Search: Sendable {
    let shop: Shop

    /// Rows of a page if the request names no limit.
    static let defaultLimit = 10

    /// `GET /v1/shop/search`.
    func show(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let cachePolicy = try request.cachePolicy()
        let isSaved = try request.query.flag("saved")
        var (lag, changeToken) = try await shop.store.catchUp(profile)
        let query = isSaved ? try saved(request, profile) : try SearchQuery(request.query)
        let page = try request.query.page(of: SearchStart.list(of: query), defaultLimit: Self.defaultLimit)
        let isPeek = try request.query.flag("peek")
        let isRecorded = page.isFirst && !isPeek && request.allowsEffects && lag == nil
        // Before the upstream is asked: a search is remembered even if it fails. One that asks for a stored copy only
        // is remembered if there is one.
        let isRecordedFirst = isRecorded && cachePolicy != .onlyIfCached
        let (place, readToken) = (SearchStart(page), shop.search.readToken())
        let stored: (ProductSearch.Result, CartLines)? = try shop.store.database.read { _ in
            guard try !isRecorded || shop.store.isLast(query, profile) else { return nil }
            return try shop.search.stored(query, from: place, limit: page.limit, cachePolicy, since: readToken)
                .map { ($0, try shop.store.cart(of: $0.products, profile)) }
        }
        let (result, cart): (ProductSearch.Result, CartLines)
        if let stored {
            (result, cart) = stored
        } else {
            if isRecordedFirst { try await shop.store.record(query, profile, at: shop.clock.now()) }
            changeToken = changeToken.map { _ in shop.store.changeToken(profile) }
            result = try await shop.search.find(query, from: place, limit: page.limit, cachePolicy, for: profile)
            if isRecorded, !isRecordedFirst { try await shop.store.record(query, profile, at: shop.clock.now()) }
            cart = try shop.store.cart(of: result.products, profile)
        }
        return try ScreenResponse.screen(
            envelope(result, cart, of: query, Self.part(page, result), lag, request),
            provenance: result.provenance,
            now: shop.clock.now(),
            changeToken: isSaved ? nil : changeToken.flatMap { result.changeToken?.and($0) }
        ).byProfile()
    }

    /// Returns which part of all results is shown.
    private static func part(_ page: PageRequest, _ result: ProductSearch.Result) -> Page {
        let count = result.products.count
        let isWhole = result.next == nil && !result.isPartial && page.key == nil && (count > 0 || page.offset == 0)
        let total = result.total ?? (isWhole ? page.offset + count : nil)
        var shown = Page(page, count: count, total: total, hasMore: result.next != nil)
        if page.key == nil { shown.nextOffset = result.variant == nil ? result.next?.offset : nil }
        return shown
    }

    /// `GET /v1/shop/suggestions`: titles that a text may become. The upstream is not asked.
    func suggest(_ request: ScreenRequest) throws -> ScreenResponse {
        let typed = try request.query.string("q") ?? ""
        if let wrong = SearchQuery.fault(of: typed) {
            throw Problem.invalidParameter("q", accepted: wrong, dialog: .searchText)
        }
        let changeToken = ChangeToken(of: shop.store.catalogueChanges)
        let (titles, changed) = try shop.store.database.read { _ in
            try (shop.store.suggestions(typed), shop.store.lastChange())
        }
        // The time of the content only: that of a confirmation would not be true of a kept response.
        let provenance = Provenance(source: .upstream, contentFetchedAt: changed)
        return try .local(
            SuggestionsScreen(titles),
            Meta(screen: "shop.suggestions", provenance: provenance),
            Links(self: request.selfLink),
            changeToken: changeToken
        )
    }

    private func envelope(
        _ result: ProductSearch.Result,
        _ cart: CartLines,
        of query: SearchQuery,
        _ page: Page,
        _ lag: UserDatabase.Lag?,
        _ request: ScreenRequest
    ) -> Envelope<SearchScreen> {
        let rows = result.products.map {
            SearchScreen.Row(
                $0,
                cart[$0.id],
                isListFull: cart.isListFull,
                layout: Layout(of: $0.category, wide: shop.wide)
            )
        }
        let isEmpty = rows.isEmpty && result.next == nil && page.offset == 0
        let link = query.link.query("limit", String(page.limit))
        let retry = isEmpty ? link.query("offset", "0").query("refresh", "1") : nil
        let list = SearchStart.list(of: query)
        let next = result.next.map { link.query("cursor", list.cursor(after: $0.key)) }
        return Envelope(
            data: SearchScreen(query, items: rows, retry: retry, isPartial: result.isPartial),
            meta: meta(of: result, isEmpty: isEmpty, page: page).lagging(lag),
            links: Links(self: request.selfLink, next: next)
        )
    }

    private func meta(of result: ProductSearch.Result, isEmpty: Bool, page: Page) -> Meta {
        Meta(
            screen: "shop.search",
            state: isEmpty ? .empty : .content,
            provenance: result.provenance,
            partial: result.isPartial ? true : nil,
            banner: result.provenance.offline ? .shopOffline : nil,
            page: page
        ).searched(result.variant)
    }

    /// The profile's last search, which replaces all parameters but those of paging.
    private func saved(_ request: ScreenRequest, _ profile: String) throws -> SearchQuery {
        for name in SearchQuery.parameterNames where try request.query.string(name) != nil {
            throw Problem.invalidParameter(name, accepted: "cannot stand beside saved=1, which brings its own")
        }
        let last = try shop.store.searches(of: profile).last ?? SearchQuery()
        return SearchQuery(text: last.text, filters: last.filters, order: try SearchQuery.order(request.query))
    }
}

/// `GET /v1/shop/suggestions`.
struct SuggestionsScreen: Encodable, Sendable {
    struct Row: Encodable, Sendable {
        /// The text, which no other row has.
        let id: String
        let text: String
        /// The search for it.
        let href: Link
    }

    let items: [Row]

    init(_ titles: [String]) { items = titles.map { Row(id: $0, text: $0, href: SearchQuery(text: $0).link) } }
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

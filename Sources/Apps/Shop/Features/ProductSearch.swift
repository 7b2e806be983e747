import Concurrency
import Foundation
import HTTP
import Screens
import Storage
import Upstream

/// Finds products: in the catalogue or in stored responses of it, as far as they go; else among all products that were
/// ever seen.
struct ProductSearch: Sendable {
    /// A page of products that were found.
    struct Result: Sendable {
        var products: [Product]
        /// Beginning of the next page; nil after the last one.
        var next: SearchStart?
        var provenance: Provenance
        /// For how long a further search finds the same; nil if that is not known.
        var changeToken: ChangeToken?
        /// The number of products on all pages, if it is known without reading them.
        var total: Int?
        /// Whether only products that were ever seen were searched, not the whole catalogue.
        var isPartial = false
        /// The words that were searched for in place of those of the text; nil if none were.
        var variant: SearchVariant?
    }

    /// A page of a search, with the values that are known before it is read.
    struct Page: Sendable {
        let query: SearchQuery
        let catalogueQuery: CatalogueQuery
        let place: SearchStart
        let limit: Int
        let cachePolicy: CachePolicy
        let start: ShopStore.Start
        /// When anything of the catalogue was last fetched, if that was looked up.
        var lastFetch: Date?
        /// Of the client; nil if the server searches.
        var profile: String?

        /// Whether the search was never made. Parts are shared between searches, so those of such a search may be
        /// stored; if they are stale, they lack products that were seen since.
        var isUnseen: Bool { !catalogueQuery.isExact && !start.isKnown }

        /// A walk that fills the page.
        var walk: CatalogueWalk {
            CatalogueWalk(
                limit: limit,
                from: start.position,
                skipping: start.skipping,
                isExact: catalogueQuery.isExact
            )
        }

        /// Returns the rows that the query finds, nil for others.
        func found(_ rows: [Product?]) -> [Product?] { rows.map { $0.flatMap { query.matches($0) ? $0 : nil } } }

        /// Returns the rows of a part; nil if it cannot be used.
        func rows(of part: Part) -> [Product?]? { isUnseen && part.isOutdated ? nil : part.products }
    }

    let shop: Shop

    /// Returns a page of the products that a query finds.
    ///
    /// - Parameter profile: Notified if the page is made before a slow response is in; nil for no profile.
    /// - Throws: `UpstreamFailure` if the catalogue could not be read and nothing is stored.
    func find(
        _ query: SearchQuery,
        from place: SearchStart,
        limit: Int,
        _ cachePolicy: CachePolicy,
        for profile: String? = nil
    ) async throws -> Result {
        let (variantOffset, place) = place.isOfVariant ? (place.offset, SearchStart(offset: 0)) : (nil, place)
        var page = try Page(query, from: place, limit: limit, cachePolicy, in: shop.store)
        (page.lastFetch, page.profile) = (try shop.store.lastFetch(), profile)
        if let order = query.order { return try await find(by: order, page, from: variantOffset ?? place.offset) }
        let plain = try await find(page)
        let isFirst = place == SearchStart(offset: 0)
        guard variantOffset != nil || isFirst && plain.isEmpty, query.text != nil else { return plain }
        return try await variants(instead: plain, from: variantOffset ?? 0, page)
    }

    /// Finds a page in the order of the catalogue.
    func find(_ page: Page) async throws -> Result {
        var walk = page.walk
        var combined: (provenance: Provenance, changeToken: ChangeToken?)?
        while case .ask(let offset, let limit) = walk.next {
            let part = try await usablePart(of: page, offset, limit)
            guard let rows = page.rows(of: part) else { return try searchSeen(page, part.provenance) }
            combined = part.combined(with: combined)
            walk.take(page.found(rows))
        }
        // A page asks for one part at least.
        guard case .done(let position) = walk.next, let combined else {
            throw UpstreamFailure(.notStored, of: shop.api.upstream)
        }
        let (places, next) = places(position, page, walk)
        let isExact = page.catalogueQuery.isExact
        try await shop.store.record(places, of: page.query, limit: page.limit, isExact: isExact, at: shop.clock.now())
        return Result(walk.products, next, combined, of: page)
    }

    /// Returns the places to record at the end of a walk, and the beginning of the next page.
    ///
    /// Pages follow at distances of `limit`, even if one of them is not full. If too many rows of earlier pages precede
    /// a page, the maximum number of parts does not suffice to reach it. Its next page is then the page itself, which
    /// continues from the position reached.
    func places(_ position: Int?, _ page: Page, _ walk: CatalogueWalk) -> ([ShopStore.Position], SearchStart?) {
        let isExact = page.catalogueQuery.isExact
        let (limit, offset) = (page.limit, page.place.offset)
        let isReached = walk.toSkip == 0
        let reached = isReached ? offset + limit : offset - walk.toSkip
        var places: [ShopStore.Position] = []
        if !isExact, offset == 0 || !page.start.isKnown { places.append(ShopStore.Position(offset: 0, position: 0)) }
        if let position { places.append(ShopStore.Position(offset: reached, position: position)) }
        // A client may have invented the position in its cursor, so places that follow from it are not recorded for
        // others.
        if page.place.reached != nil { places = [] }
        return (places, position.map { SearchStart(offset: isReached ? reached : offset, reached: ($0, reached)) })
    }

    /// Searches all products that were ever seen.
    ///
    /// - Parameter provenance: Of the part of the catalogue that could not be read.
    private func searchSeen(_ page: Page, _ provenance: Provenance) throws -> Result {
        let limit = page.limit
        let found = try shop.store.search(page.query, from: page.place, limit: limit)
        let shown = found.prefix(limit)
        return Result(
            products: shown.map(\.product),
            next: found.count > limit
                ? SearchStart(offset: page.place.offset + limit, productID: shown.last?.product.id) : nil,
            provenance: try seen(shown, provenance),
            isPartial: true
        )
    }

    /// Returns the provenance of products that were seen, if a part of the catalogue could not be read.
    func seen(_ shown: ArraySlice<KnownProduct>, _ part: Provenance) throws -> Provenance {
        var provenance = part
        guard let oldest = shown.map(\.fetchedAt).min() else { return provenance }
        provenance.validatedAt = oldest
        // The page can include products seen after the oldest one, and lacks products that were removed since: its
        // content is as new as the last change.
        provenance.contentFetchedAt = try shop.store.lastChange()
        if provenance.cacheStatus?.timeToLive != nil {
            provenance.cacheStatus?.timeToLive = -max(0, Int(shop.clock.now().timeIntervalSince(oldest)))
        }
        return provenance
    }
}

extension ProductSearch {
    /// Tokens of the stored responses and of the products. To be taken before a page is read.
    struct SearchToken: Sendable {
        let responses: ReadToken
        let catalogue: ChangeToken
    }

    func readToken() -> SearchToken {
        SearchToken(responses: shop.api.upstream.readToken(), catalogue: ChangeToken(of: shop.store.catalogueChanges))
    }

    /// Returns a page that is made of stored responses, without a request and without anything to record; nil if
    /// ``find(_:from:limit:_:)`` is to be called.
    ///
    /// - Parameter readToken: Taken before the transaction within which this is called.
    func stored(
        _ query: SearchQuery,
        from place: SearchStart,
        limit: Int,
        _ cachePolicy: CachePolicy,
        since readToken: SearchToken
    ) throws -> Result? {
        guard !place.isOfVariant, query.order == nil else { return nil }
        let page = try Page(query, from: place, limit: limit, cachePolicy, in: shop.store)
        var walk = page.walk
        var combined: (provenance: Provenance, changeToken: ChangeToken?)?
        while case .ask(let offset, let limit) = walk.next {
            guard let part = try storedPart(of: page, offset, limit, since: readToken), let rows = page.rows(of: part)
            else { return nil }
            combined = part.combined(with: combined)
            walk.take(page.found(rows))
        }
        guard case .done(let position) = walk.next, let combined else { return nil }
        let (places, next) = places(position, page, walk)
        let isExact = page.catalogueQuery.isExact
        guard try shop.store.unrecorded(places, of: query, limit: limit, isExact: isExact, at: shop.clock.now()).isEmpty
        else {
            return nil
        }
        let result = Result(walk.products, next, combined, of: page)
        // Other words are looked for then.
        return result.isEmpty && query.text != nil && place.offset == 0 ? nil : result
    }
}

extension ProductSearch.Page {
    fileprivate init(
        _ query: SearchQuery,
        from place: SearchStart,
        limit: Int,
        _ cachePolicy: CachePolicy,
        in store: ShopStore
    ) throws {
        let catalogueQuery = CatalogueQuery(query)
        self.init(
            query: query,
            catalogueQuery: catalogueQuery,
            place: place,
            limit: limit,
            cachePolicy: cachePolicy,
            start: try ShopStore.Start(place)
                ?? store.start(of: query, offset: place.offset, limit: limit, isExact: catalogueQuery.isExact)
        )
    }
}

extension ProductSearch.Result {
    var isEmpty: Bool { products.isEmpty && next == nil }

    /// Makes the page that a walk has filled from parts.
    init(
        _ products: [Product],
        _ next: SearchStart?,
        _ parts: (provenance: Provenance, changeToken: ChangeToken?),
        of page: ProductSearch.Page
    ) {
        self.init(
            products: products,
            next: next,
            provenance: parts.provenance,
            // A page that is its own next page has another beginning from now on.
            changeToken: next?.offset == page.place.offset ? nil : parts.changeToken
        )
    }
}

/// Searches by other words, if no title contains the searched text.
extension ProductSearch {
    /// Returns the stored products that other words find. The whole catalogue is read first, if possible.
    ///
    /// - Parameter plain: The result for the unchanged text. It is returned if other words find nothing either.
    func variants(instead plain: Result, from offset: Int, _ page: Page) async throws -> Result {
        // A filter may leave none of the products that have the text.
        let unfiltered = SearchQuery(text: page.query.text)
        if unfiltered.filters != page.query.filters,
            try !shop.store.search(unfiltered, from: SearchStart(offset: 0), limit: 1).isEmpty
        {
            return plain
        }
        let catalogueToken = ChangeToken(of: shop.store.catalogueChanges)
        let whole = plain.isPartial ? nil : try await catalogue(page.cachePolicy, for: page.profile)
        guard let (variant, nearest) = try shop.store.variants(of: page.query) else { return plain }
        let found = page.query.order?.sorted(nearest, of: \.product) ?? nearest
        let shown = found.dropFirst(offset).prefix(page.limit)
        var result = plain
        (result.variant, result.total) = (variant, nil)
        result.products = shown.map(\.product)
        result.isPartial = whole == nil
        result.next = nil
        if found.count > offset + page.limit {
            result.next = SearchStart(offset: offset + page.limit, isOfVariant: true)
        }
        if let whole {
            result.provenance = plain.provenance.combined(with: whole.provenance)
            result.changeToken = whole.changeToken.flatMap { plain.changeToken?.and($0) }?.and(catalogueToken)
        } else {
            result.provenance = try seen(shown, plain.provenance)
            result.changeToken = nil
        }
        return result
    }
}

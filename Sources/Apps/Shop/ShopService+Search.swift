import Foundation
import HTTPCaching
import Screens
import Upstream

extension ShopService {
    /// Rows of a page where nobody says.
    static let defaultLimit = 10
    /// No list reaches that far: what is wanted behind it is asked for here, so that no sum of offsets overflows, and
    /// no upstream sees a number that it cannot read.
    static let farthestOffset = Int(Int32.max)

    /// `GET /v1/shop/search`.
    @Sendable func search(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let wanted = try request.query.page(defaultLimit: Self.defaultLimit)
        let page = PageRequest(limit: wanted.limit, offset: min(wanted.offset, Self.farthestOffset))
        let cachePolicy = try request.cachePolicy()
        let isSaved = try request.query.flag("saved")
        let query = isSaved ? try saved(request, profile) : try SearchQuery(request.query)
        // Before the upstream is asked: what was typed is remembered whatever comes of it.
        if page.offset == 0 { try await store.note(query, profile, at: clock.now()) }
        let ownValidity = store.changeToken(profile)
        let result: Findings
        do {
            result = try await find(query, page, cachePolicy)
        } catch let error as UpstreamError {
            throw failure(error)
        }
        let quantities = try store.quantities(of: result.products.map(\.id), profile)
        let rows = result.products.map {
            SearchScreen.Row($0, quantity: quantities[$0.id], layout: options.layout(of: $0.category))
        }
        let isEmpty = rows.isEmpty && result.nextOffset == nil && page.offset == 0
        var shown = Page(page, count: rows.count, total: nil, hasMore: result.nextOffset != nil)
        shown.offset = wanted.offset
        shown.nextOffset = result.nextOffset
        let provenance = result.provenance
        let meta = Meta(
            screen: "shop.search",
            state: isEmpty ? .empty : .content,
            provenance: provenance,
            partial: result.isPartial ? true : nil,
            banner: provenance.offline ? .shopOffline : nil,
            page: shown
        )
        let retry = isEmpty ? query.link(limit: page.limit, offset: 0) + "&refresh=1" : nil
        let screen = SearchScreen(query, items: rows, retry: retry)
        return try ScreenResponse.screen(
            Envelope(
                data: screen,
                meta: meta,
                links: Links(
                    self: request.selfLink,
                    next: shown.nextOffset.map { query.link(limit: page.limit, offset: $0) }
                )
            ),
            provenance: provenance,
            now: clock.now(),
            changeToken: isSaved ? nil : result.changeToken?.and(ownValidity)
        ).byProfile()
    }

    /// The last search again; it replaces everything but the page.
    private func saved(_ request: ScreenRequest, _ profile: String) throws -> SearchQuery {
        for name in SearchQuery.parameterNames where try request.query.string(name) != nil {
            throw Problem.invalidParameter(name, accepted: "cannot stand beside saved=1, which brings its own")
        }
        return try store.settings(profile) ?? SearchQuery()
    }

    /// What was found for a page.
    struct Findings: Sendable {
        var products: [Product]
        /// Where the page that follows begins; nil behind the last one.
        var nextOffset: Int?
        var provenance: Provenance
        var changeToken: ChangeToken?
        /// Found among what was ever seen, not asked of the upstream.
        var isPartial = false
    }

    /// A page of what is looked for: from the upstream or stored responses of it, as far as they go; else from everything
    /// that was ever seen.
    func find(_ query: SearchQuery, _ page: PageRequest, _ cachePolicy: CachePolicy) async throws -> Findings {
        let catalogueQuery = CatalogueQuery(query)
        let start = try store.start(of: query, page, isExact: catalogueQuery.isExact)
        let lastFetch = try store.lastFetch()
        var walk = CatalogueWalk(
            limit: page.limit,
            from: start.position,
            skipping: start.skipping,
            isExact: catalogueQuery.isExact
        )
        // Parts that other searches share may be stored for one that was never made. They are as old as they are, and
        // what was seen since is not in them.
        let isUnseen = !catalogueQuery.isExact && !start.isKnown
        var account: (provenance: Provenance, changeToken: ChangeToken?)?
        while true {
            switch walk.next {
            case .done(let position):
                // A page asks for one part at least.
                guard let account else { throw UpstreamError.notStored }
                let next = try await note(
                    position,
                    of: query,
                    page,
                    behind: walk.toSkip,
                    start,
                    isExact: catalogueQuery.isExact
                )
                // A page that comes next itself is another one by then.
                let changeToken = next == page.offset ? nil : account.changeToken
                return Findings(
                    products: walk.products,
                    nextOffset: next,
                    provenance: account.provenance,
                    changeToken: changeToken
                )
            case .ask(let offset, let limit):
                let part = try await self.part(
                    of: catalogueQuery,
                    offset: offset,
                    limit: limit,
                    cachePolicy,
                    serveStale: lastFetch
                )
                guard let rows = part.products, !(isUnseen && part.isOutdated) else {
                    return try seen(query, page, part.provenance)
                }
                if let before = account {
                    let changeToken = before.changeToken.flatMap { earlier in part.changeToken.map { earlier.and($0) } }
                    account = (before.provenance.combined(with: part.provenance), changeToken)
                } else {
                    account = (part.provenance, part.changeToken)
                }
                walk.take(rows.map { $0.flatMap { query.matches($0) ? $0 : nil } })
            }
        }
    }

    /// Notes where a walk has ended. Pages follow at distances of `limit`, also where one of them is not full; one that
    /// so many parts did not reach, since so many rows of pages before it are still to come, follows itself, from there
    /// on.
    ///
    /// - Returns: The offset of the page that follows.
    private func note(
        _ position: Int?,
        of query: SearchQuery,
        _ page: PageRequest,
        behind toSkip: Int,
        _ start: ShopStore.Start,
        isExact: Bool
    ) async throws
        -> Int?
    {
        let reached = toSkip > 0 ? page.offset - toSkip : page.offset + page.limit
        var places: [ShopStore.Place] = []
        if !isExact, page.offset == 0 || !start.isKnown { places.append(ShopStore.Place(offset: 0, position: 0)) }
        if let position { places.append(ShopStore.Place(offset: reached, position: position)) }
        try await store.note(places, of: query, limit: page.limit, isExact: isExact, at: clock.now())
        return position.map { _ in toSkip > 0 ? page.offset : reached }
    }

    /// Everything that was ever seen, searched here.
    private func seen(_ query: SearchQuery, _ page: PageRequest, _ serveStale: Provenance) throws -> Findings {
        let found = try store.search(query, page)
        let shown = found.prefix(page.limit)
        var provenance = serveStale
        if let oldest = shown.map(\.fetchedAt).min() {
            provenance.validatedAt = oldest
            if provenance.cacheStatus?.timeToLive != nil {
                provenance.cacheStatus?.timeToLive = -max(0, Int(clock.now().timeIntervalSince(oldest)))
            }
        }
        let next = found.count > page.limit ? page.offset + page.limit : nil
        return Findings(
            products: shown.map(\.product),
            nextOffset: next,
            provenance: provenance,
            changeToken: nil,
            isPartial: true
        )
    }

    private struct Part {
        /// In the upstream's order, nil for rows that cannot be shown; nil altogether where the upstream could not be
        /// asked and nothing of it is stored.
        var products: [Product?]?
        var provenance: Provenance
        var changeToken: ChangeToken?
        /// Whether a stored response that is no longer fresh is in the place of the upstream's.
        var isOutdated: Bool

        /// The part where products of earlier responses, fetched at these times, are in the places of rows that cannot
        /// be used.
        func with(older: [Date]) -> Part {
            guard let oldest = older.min() else { return self }
            var part = self
            part.provenance.stale = true
            // The response is as old as it is; what the screen shows of it is older.
            let received = part.provenance.contentFetchedAt ?? part.provenance.validatedAt
            part.provenance.contentFetchedAt = [received, oldest].compactMap { $0 }.min()
            if part.provenance.cacheStatus?.detail == nil { part.provenance.cacheStatus?.detail = "bad-response" }
            return part
        }
    }

    private func part(of query: CatalogueQuery, offset: Int, limit: Int, _ cachePolicy: CachePolicy, serveStale: Date?)
        async throws
        -> Part
    {
        var resource = api.products(query, offset: offset, limit: limit, save: store.save(fetchedAt: clock.now))
        resource.bundledAt = serveStale
        // The stored response may be evicted between the look and the opening of its file; the second look then fetches
        // it.
        for _ in 0..<2 {
            let changeToken = ChangeToken(of: store.catalogueChanges)
            let reading = try await api.upstream.read(resource, cachePolicy)
            guard let response = reading.response else {
                return Part(products: nil, provenance: reading.provenance, isOutdated: true)
            }
            guard let body = try await store.bytes(of: response) else { continue }
            let rows = CatalogueAPI.rows(in: body)
            var known = try store.products(rows.compactMap { $0?.id })
            let returned = known.values.filter(\.isGone).map(\.product.id)
            if reading.provenance.source == .upstream, !returned.isEmpty {
                try await store.markPresent(returned)
                for id in returned { known[id]?.isGone = false }
            }
            let shown = rows.map { row in row.flatMap { known[$0.id] }.flatMap { $0.isGone ? nil : $0 } }
            let part = Part(
                products: shown.map { $0?.product },
                provenance: reading.provenance,
                changeToken: reading.changeToken?.and(changeToken),
                isOutdated: reading.provenance.stale
            )
            let older = zip(rows, shown).compactMap { row, product in row?.isUsable == false ? product?.fetchedAt : nil
            }
            return part.with(older: older)
        }
        throw UpstreamError.notStored
    }
}

extension Provenance {
    /// The account of a response that is made from two: as bad as the worse of them, as old as the older.
    func combined(with other: Provenance) -> Provenance {
        var combined = other.severity > severity ? other : self
        combined.validatedAt = [validatedAt, other.validatedAt].compactMap { $0 }.min()
        return combined
    }

    private var severity: Int { (offline ? 4 : 0) + (stale ? 2 : 0) + (source == .cache ? 1 : 0) }
}

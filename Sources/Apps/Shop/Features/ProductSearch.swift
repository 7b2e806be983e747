import Foundation
import Freshness
import HTTPCaching
import Screens
import Upstream

/// Finds products: in the catalogue or in stored responses of it, as far as they go; else among all products that were
/// ever seen.
struct ProductSearch: Sendable {
    /// A page of products that were found.
    struct Result: Sendable {
        var products: [Product]
        /// Offset of the next page; nil after the last one.
        var nextOffset: Int?
        var provenance: Provenance
        /// For how long a further search finds the same; nil if that is not known.
        var changeToken: ChangeToken?
        /// Whether only products that were ever seen were searched, not the whole catalogue.
        var isPartial = false
    }

    let api: CatalogueAPI
    let store: ShopStore
    let clock: WallClock

    /// Returns a page of the products that a query finds.
    ///
    /// - Throws: `UpstreamFailure` if the catalogue could not be read and nothing is stored; `StorageError`,
    ///   `CancellationError`.
    func find(_ query: SearchQuery, _ page: PageRequest, _ cachePolicy: CachePolicy) async throws -> Result {
        let catalogueQuery = CatalogueQuery(query)
        let start = try store.start(of: query, page, isExact: catalogueQuery.isExact)
        let lastFetch = try store.lastFetch()
        var walk = CatalogueWalk(
            limit: page.limit,
            from: start.position,
            skipping: start.skipping,
            isExact: catalogueQuery.isExact
        )
        // Parts are shared between searches, so the parts of a search that was never made may be stored. If they are
        // stale, they lack products that were seen since.
        let isUnseen = !catalogueQuery.isExact && !start.isKnown
        var combined: (provenance: Provenance, changeToken: ChangeToken?)?
        while true {
            switch walk.next {
            case .done(let position):
                // A page asks for one part at least.
                guard let combined else { throw api.failure(.notStored) }
                let next = try await record(position, of: query, catalogueQuery, page, walk, start)
                return Result(
                    products: walk.products,
                    nextOffset: next,
                    provenance: combined.provenance,
                    // A page that is its own next page has another beginning from now on.
                    changeToken: next == page.offset ? nil : combined.changeToken
                )
            case .ask(let offset, let limit):
                let part = try await part(of: catalogueQuery, offset, limit, cachePolicy, bundledAt: lastFetch)
                guard let rows = part.products, !(isUnseen && part.isOutdated) else {
                    return try searchSeen(query, page, part.provenance)
                }
                combined = part.combined(with: combined)
                walk.take(rows.map { $0.flatMap { query.matches($0) ? $0 : nil } })
            }
        }
    }

    /// Records where a walk ended, for the next page.
    ///
    /// Pages follow at distances of `limit`, even if one of them is not full. A page that was not reached within the
    /// maximum number of parts, because too many rows of earlier pages come first, is its own next page: it continues
    /// from the position reached.
    /// - Returns: The offset of the next page.
    private func record(
        _ position: Int?,
        of query: SearchQuery,
        _ catalogueQuery: CatalogueQuery,
        _ page: PageRequest,
        _ walk: CatalogueWalk,
        _ start: ShopStore.Start
    ) async throws -> Int? {
        let isExact = catalogueQuery.isExact
        let isReached = walk.toSkip == 0
        let reached = isReached ? page.offset + page.limit : page.offset - walk.toSkip
        var places: [ShopStore.Place] = []
        if !isExact, page.offset == 0 || !start.isKnown { places.append(ShopStore.Place(offset: 0, position: 0)) }
        if let position { places.append(ShopStore.Place(offset: reached, position: position)) }
        try await store.record(places, of: query, limit: page.limit, isExact: isExact, at: clock.now())
        return position.map { _ in isReached ? reached : page.offset }
    }

    /// Searches all products that were ever seen.
    ///
    /// - Parameter provenance: Of the part of the catalogue that could not be read.
    private func searchSeen(_ query: SearchQuery, _ page: PageRequest, _ provenance: Provenance) throws -> Result {
        let found = try store.search(query, page)
        let shown = found.prefix(page.limit)
        var provenance = provenance
        if let oldest = shown.map(\.fetchedAt).min() {
            provenance.validatedAt = oldest
            if provenance.cacheStatus?.timeToLive != nil {
                provenance.cacheStatus?.timeToLive = -max(0, Int(clock.now().timeIntervalSince(oldest)))
            }
        }
        return Result(
            products: shown.map(\.product),
            nextOffset: found.count > page.limit ? page.offset + page.limit : nil,
            provenance: provenance,
            isPartial: true
        )
    }
}

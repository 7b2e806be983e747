import Concurrency
import Foundation
import HTTP
import Screens
import Upstream

extension ProductSearch {
    /// Tokens of the stored responses and of the products. To be taken before a page is read.
    struct SearchToken: Sendable {
        let responses: ReadToken
        let catalogue: ChangeToken
    }

    func readToken() -> SearchToken {
        SearchToken(responses: api.upstream.readToken(), catalogue: ChangeToken(of: store.catalogueChanges))
    }

    /// Returns a page that is made of stored responses, without a request and without anything to record; nil if
    /// ``find(_:from:limit:_:)`` is to be called.
    ///
    /// - Parameter readToken: Taken before the transaction within which this is called.
    /// - Throws: `StorageError`.
    func stored(
        _ query: SearchQuery,
        from place: SearchPlace,
        limit: Int,
        _ cachePolicy: CachePolicy,
        since readToken: SearchToken
    ) throws -> Result? {
        guard !place.isOfVariant, query.order == nil else { return nil }
        let catalogueQuery = CatalogueQuery(query)
        let isExact = catalogueQuery.isExact
        let start =
            try ShopStore.Start(place)
            ?? store.start(of: query, offset: place.offset, limit: limit, isExact: isExact)
        let page = Page(
            query: query,
            catalogueQuery: catalogueQuery,
            place: place,
            limit: limit,
            cachePolicy: cachePolicy,
            start: start
        )
        var walk = CatalogueWalk(limit: limit, from: start.position, skipping: start.skipping, isExact: isExact)
        var combined: (provenance: Provenance, changeToken: ChangeToken?)?
        while case .ask(let offset, let limit) = walk.next {
            guard let part = try storedPart(of: page, offset, limit, since: readToken), let rows = page.rows(of: part)
            else { return nil }
            combined = part.combined(with: combined)
            walk.take(rows.map { $0.flatMap { page.query.matches($0) ? $0 : nil } })
        }
        guard case .done(let position) = walk.next, let combined else { return nil }
        let (places, next) = places(position, page, walk)
        guard try store.unrecorded(places, of: query, limit: limit, isExact: isExact, at: clock.now()).isEmpty else {
            return nil
        }
        let result = Result(walk.products, next, combined, of: page)
        // Other words are looked for then.
        return result.isEmpty && query.text != nil && place.offset == 0 ? nil : result
    }
}

extension ProductSearch.Result {
    var isEmpty: Bool { products.isEmpty && next == nil }

    /// Makes the page that a walk has filled from parts.
    init(
        _ products: [Product],
        _ next: SearchPlace?,
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

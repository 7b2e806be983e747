import Concurrency
import Foundation
import HTTP
import Screens
import Storage
import Upstream

/// The whole catalogue, and results in another order than its own, which the upstream does not have.
extension ProductSearch {
    /// All products of the catalogue, as its list has them.
    struct Catalogue: Sendable {
        var products: [Product] = []
        var provenance: Provenance
        var changeToken: ChangeToken?
    }

    /// Reads all parts of the catalogue, which are stored for a while; nil if some cannot be read.
    ///
    /// - Parameter profile: The profile that is notified of a late response.
    func catalogue(_ cachePolicy: CachePolicy, for profile: String? = nil) async throws -> Catalogue? {
        let all = Page(ofAll: cachePolicy, lastFetch: try shop.store.lastFetch(), for: profile)
        var whole: Catalogue?
        for number in 0..<CatalogueWalk.maximumParts {
            do {
                let part = try await part(of: all, number * all.limit, all.limit)
                guard let products = part.products else { return nil }
                whole = whole.adding(part, products)
                if products.count < all.limit { return whole }
            } catch is UpstreamFailure {
                return nil
            }
        }
        return nil
    }

    /// Returns a catalogue of one part, if it is served without a request.
    ///
    /// - Parameter readToken: Taken before the transaction within which this is called.
    func storedCatalogue(_ cachePolicy: CachePolicy, since readToken: SearchToken) throws -> Catalogue? {
        let all = Page(ofAll: cachePolicy)
        let stored = try storedPart(of: all, 0, all.limit, since: readToken, isChecked: false)
        guard let part = stored, let products = part.products,
            products.count < all.limit
        else { return nil }
        return Catalogue?.none.adding(part, products)
    }

    /// Returns a page of the results in an order: of the whole catalogue, or if it cannot be read, of the products that
    /// were seen.
    func find(by order: SearchOrder, _ page: Page, from offset: Int) async throws -> Result {
        let whole = try await catalogue(page.cachePolicy, for: page.profile)
        guard try whole != nil || shop.store.lastFetch() != nil else { return try await find(page) }
        let (result, isEmpty) =
            if let whole { found(by: order, in: whole, page, from: offset) } else {
                try seen(by: order, page, from: offset)
            }
        guard isEmpty, page.query.text != nil else { return result }
        return try await variants(instead: result, from: offset, page)
    }

    private func found(by order: SearchOrder, in whole: Catalogue, _ page: Page, from offset: Int) -> (
        Result, isEmpty: Bool
    ) {
        let found = order.found(by: page.query, among: whole.products)
        let shown = found.dropFirst(offset)
        var result = Result(products: Array(shown.prefix(page.limit)), provenance: whole.provenance)
        (result.changeToken, result.total) = (whole.changeToken, found.count)
        if shown.count > page.limit { result.next = SearchStart(offset: offset + page.limit, isOfVariant: true) }
        return (result, found.isEmpty)
    }

    /// Searches all products that were ever seen.
    private func seen(by order: SearchOrder, _ page: Page, from offset: Int) throws -> (Result, isEmpty: Bool) {
        let (query, limit) = (page.query, page.limit)
        let found = try shop.store.search(query, by: order, from: offset, limit: limit)
        let isOffline = !shop.api.upstream.reachability.isReachable
        let status = CacheStatus(.hit, timeToLive: 0, detail: isOffline ? "offline" : nil)
        let stale = Provenance(source: .upstream, offline: isOffline, stale: true, cacheStatus: status)
        let shown = found.prefix(limit)
        var result = Result(products: shown.map(\.product), provenance: try seen(shown, stale), isPartial: true)
        if found.count > limit { result.next = SearchStart(offset: offset + limit, isOfVariant: true) }
        let isEmpty =
            try found.isEmpty && (offset == 0 || shop.store.search(query, by: order, from: 0, limit: 1).isEmpty)
        return (result, isEmpty)
    }
}

extension ProductSearch.Catalogue? {
    fileprivate func adding(_ part: ProductSearch.Part, _ products: [Product?]) -> ProductSearch.Catalogue {
        let (provenance, changeToken) = part.combined(
            with: map { (provenance: $0.provenance, changeToken: $0.changeToken) }
        )
        return ProductSearch.Catalogue(
            products: (self?.products ?? []) + products.compactMap(\.self),
            provenance: provenance,
            changeToken: changeToken
        )
    }
}

extension ProductSearch.Page {
    /// The parts of the whole catalogue.
    fileprivate init(ofAll cachePolicy: CachePolicy, lastFetch: Date? = nil, for profile: String? = nil) {
        self.init(
            query: SearchQuery(),
            catalogueQuery: .all,
            place: SearchStart(offset: 0),
            limit: CatalogueWalk.partRows,
            cachePolicy: cachePolicy,
            start: ShopStore.Start(position: 0),
            lastFetch: lastFetch,
            profile: profile
        )
    }
}

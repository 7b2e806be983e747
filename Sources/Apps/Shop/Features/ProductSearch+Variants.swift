import Concurrency
import HTTP
import Screens
import Storage
import Upstream

/// Searches by other words, if no title contains the searched text.
extension ProductSearch {
    /// Returns the products that are found by other words among all that are stored, once the whole catalogue is, if
    /// it can be read.
    ///
    /// - Parameter plain: The result by the text as it is, which is returned if other words find nothing either.
    func variants(instead plain: Result, from offset: Int, _ page: Page) async throws -> Result {
        // A filter may leave none of the products that have the text.
        let unfiltered = SearchQuery(text: page.query.text)
        if unfiltered != page.query, try !store.search(unfiltered, from: SearchPlace(offset: 0), limit: 1).isEmpty {
            return plain
        }
        let catalogueToken = ChangeToken(of: store.catalogueChanges)
        let whole = plain.isPartial ? nil : try await readCatalogue(page)
        guard let (variant, found) = try store.variants(of: page.query) else { return plain }
        let shown = found.dropFirst(offset).prefix(page.limit)
        var result = plain
        result.variant = variant
        result.products = shown.map(\.product)
        result.isPartial = whole == nil
        result.next = nil
        if found.count > offset + page.limit {
            result.next = SearchPlace(offset: offset + page.limit, isOfVariant: true)
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

    /// Reads all parts of the catalogue, which are stored for a while; nil if some cannot be read.
    private func readCatalogue(_ page: Page) async throws -> (provenance: Provenance, changeToken: ChangeToken?)? {
        let all = Page(
            query: SearchQuery(),
            catalogueQuery: .all,
            place: SearchPlace(offset: 0),
            limit: CatalogueWalk.partRows,
            cachePolicy: page.cachePolicy,
            start: ShopStore.Start(position: 0),
            lastFetch: page.lastFetch,
            profile: page.profile
        )
        var combined: (provenance: Provenance, changeToken: ChangeToken?)?
        for number in 0..<CatalogueWalk.maximumParts {
            do {
                let part = try await part(of: all, number * all.limit, all.limit)
                guard let products = part.products else { return nil }
                combined = part.combined(with: combined)
                if products.count < all.limit { return combined }
            } catch is UpstreamFailure {
                return nil
            }
        }
        return nil
    }
}

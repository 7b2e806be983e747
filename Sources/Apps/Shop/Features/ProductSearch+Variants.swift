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
        if unfiltered.filters != page.query.filters,
            try !store.search(unfiltered, from: SearchPlace(offset: 0), limit: 1).isEmpty
        {
            return plain
        }
        let catalogueToken = ChangeToken(of: store.catalogueChanges)
        let whole = plain.isPartial ? nil : try await catalogue(page.cachePolicy, for: page.profile)
        guard let (variant, nearest) = try store.variants(of: page.query) else { return plain }
        let found = page.query.order?.sorted(nearest, of: \.product) ?? nearest
        let shown = found.dropFirst(offset).prefix(page.limit)
        var result = plain
        (result.variant, result.total) = (variant, nil)
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
}

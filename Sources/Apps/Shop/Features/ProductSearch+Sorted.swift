import Concurrency
import HTTP
import Screens
import Storage
import Upstream

/// Results in another order than the catalogue's, which the upstream does not have: the whole catalogue is read, or
/// its stored products if it cannot be, and sorted here.
extension ProductSearch {
    func sorted(by order: SearchOrder, _ page: Page, from offset: Int) async throws -> Result {
        let catalogueToken = ChangeToken(of: store.catalogueChanges)
        let whole = try await readCatalogue(page)
        let found = try store.sorted(page.query, by: order)
        if whole == nil, found.isEmpty, page.lastFetch == nil { throw UpstreamFailure(.notStored, of: api.upstream) }
        let shown = try store.knownProducts(found.dropFirst(offset).prefix(page.limit))
        var provenance = Provenance(source: .upstream, offline: !api.upstream.reachability.isReachable, stale: true)
        if let whole { provenance = whole.provenance } else { provenance = try seen(shown[...], provenance) }
        let isLast = found.count <= offset + page.limit
        let result = Result(
            products: shown.map(\.product),
            next: isLast ? nil : SearchPlace(offset: offset + page.limit, isOfVariant: true),
            provenance: provenance,
            changeToken: whole?.changeToken?.and(catalogueToken),
            isPartial: whole == nil
        )
        guard found.isEmpty, page.query.text != nil else { return result }
        return try await variants(instead: result, from: offset, page)
    }
}

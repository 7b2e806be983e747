import Concurrency
import Foundation
import HTTP
import Screens
import Upstream

/// Reads one product, from the catalogue or the store.
struct ProductReader: Sendable {
    /// A product and its provenance.
    struct Result: Sendable {
        var product: Product
        var provenance: Provenance
        /// For how long a further read returns the same; nil if that is not known.
        var changeToken: ChangeToken?

        /// Creates the result of a read. The product's values were received with this response or another one.
        init(_ known: KnownProduct, _ provenance: Provenance, changeToken: ChangeToken? = nil) {
            product = known.product
            self.provenance = provenance
            self.provenance.contentFetchedAt = known.changedAt
            self.changeToken = changeToken
        }
    }

    let api: CatalogueAPI
    let store: ShopStore
    let clock: WallClock

    /// 404: there is no such product.
    static let noProduct = Problem.notFound(.noSuchProduct)

    /// Returns the id of a product in the path of a request.
    ///
    /// - Throws: ``Problem`` 404 if it is not a positive decimal number.
    func id(_ name: String, in request: ScreenRequest) throws -> Int {
        let text = try request.parameter(name)
        guard let id = Int(text), id > 0, text.isDigits else {
            throw Self.noProduct
        }
        return id
    }

    /// Returns a stored product that is shown without a request; nil if ``read(_:_:)`` is to be called.
    ///
    /// - Parameter readToken: Taken before the transaction within which this is called.
    func stored(_ id: Int, _ cachePolicy: CachePolicy, since readToken: ReadToken) throws -> Result? {
        guard let seen = try store.product(id), !seen.isGone else { return nil }
        return try api.stored(api.product(id, bundledAt: seen.fetchedAt), cachePolicy, since: readToken).map {
            Result(seen, $0.provenance, changeToken: $0.changeToken)
        }
    }

    /// Reads a product. One that was only seen in a list is used until the upstream responds to a request for it.
    ///
    /// - Throws: ``Problem`` 404 if there is no such product; `UpstreamFailure`.
    func read(_ id: Int, _ cachePolicy: CachePolicy) async throws -> Result {
        let seen = try store.product(id).flatMap { $0.isGone ? nil : $0 }
        let result: ReadResult
        do {
            let product = api.product(id, bundledAt: seen?.fetchedAt, save: store.save(fetchedAt: clock.now))
            result = try await api.read(product, cachePolicy)
        } catch let failure as UpstreamFailure {
            return try await recover(from: failure, id, seen: seen)
        }
        guard var known = try store.product(id) else { throw Self.noProduct }
        if known.isGone, result.provenance.isValidatedNow {
            try await store.markPresent([id], at: clock.now())
            known.isGone = false
        }
        guard !known.isGone else { throw Self.noProduct }
        if result.provenance.isValidatedNow { store.startRenewal(of: [id]) }
        return Result(known, result.provenance, changeToken: result.changeToken)
    }

    /// Returns the stored product after a failed read.
    ///
    /// - Throws: ``Problem`` 404 if the API says that there is none; the failure if nothing is stored.
    private func recover(from failure: UpstreamFailure, _ id: Int, seen: KnownProduct?) async throws -> Result {
        switch failure.error {
        case .rejected:
            // The only 4xx in the API's own form: there is no such product.
            try await store.markGone(id, at: clock.now())
            throw Self.noProduct
        case .notStored:
            // The product's own response is not stored, but the product may have been in a list.
            guard let seen else { throw failure }
            return stored(seen)
        default:
            throw failure
        }
    }

    /// Returns a known product that was not removed from the catalogue; reads others from the catalogue.
    ///
    /// - Throws: As ``read(_:_:)``.
    func known(_ id: Int) async throws -> Product {
        guard let known = try store.product(id) else { return try await read(id, .useCache).product }
        // A removed product may have returned.
        return known.isGone ? try await read(id, .revalidate).product : known.product
    }

    private func stored(_ seen: KnownProduct) -> Result {
        let age = max(0, Int(clock.now().timeIntervalSince(seen.fetchedAt)))
        let isOffline = !api.upstream.reachability.isReachable
        return Result(
            seen,
            Provenance(
                source: .upstream,
                offline: isOffline,
                stale: age > 0,
                validatedAt: seen.fetchedAt,
                cacheStatus: CacheStatus(.hit, timeToLive: -age, detail: isOffline ? "offline" : nil)
            )
        )
    }
}

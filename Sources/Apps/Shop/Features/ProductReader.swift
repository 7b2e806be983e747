import Concurrency
import Foundation
import HTTP
import Screens
import Synchronization
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

    let shop: Shop

    /// 404: there is no such product.
    static let noProduct = Problem.notFound(.noSuchProduct)

    /// Returns the id of a product in the path of a request.
    ///
    /// - Throws: ``Problem`` 404 if it is not a positive decimal number.
    static func id(in request: ScreenRequest) throws -> Int {
        let text = try request.parameter("id")
        guard let id = Int(text), id > 0, text.isDigits else { throw noProduct }
        return id
    }

    /// Returns a stored product that is shown without a request; nil if ``read(_:_:)`` is to be called.
    ///
    /// - Parameter readToken: Taken before the transaction within which this is called.
    func stored(_ id: Int, _ cachePolicy: CachePolicy, since readToken: ReadToken) throws -> Result? {
        guard let seen = try shop.store.product(id), !seen.isGone else { return nil }
        return try shop.api.stored(shop.api.product(id, bundledAt: seen.fetchedAt), cachePolicy, since: readToken).map {
            Result(seen, $0.provenance, changeToken: $0.changeToken)
        }
    }

    /// Reads a product. One that was only seen in a list is used until the upstream responds to a request for it.
    ///
    /// - Throws: ``Problem`` 404 if there is no such product; `UpstreamFailure`.
    func read(_ id: Int, _ cachePolicy: CachePolicy) async throws -> Result {
        let seen = try shop.store.product(id).flatMap { $0.isGone ? nil : $0 }
        let result: ReadResult
        do {
            let product = shop.api.product(id, bundledAt: seen?.fetchedAt, save: shop.save)
            result = try await shop.api.read(product, cachePolicy)
        } catch let failure as UpstreamFailure {
            return try await recover(from: failure, id, seen: seen)
        }
        guard var known = try shop.store.product(id) else { throw Self.noProduct }
        if known.isGone, result.provenance.isValidatedNow {
            try await shop.store.markPresent([id], at: shop.clock.now())
            known.isGone = false
        }
        guard !known.isGone else { throw Self.noProduct }
        if result.provenance.isValidatedNow { shop.store.startRenewal(of: [id]) }
        return Result(known, result.provenance, changeToken: result.changeToken)
    }

    /// Returns the stored product after a failed read.
    ///
    /// - Throws: ``Problem`` 404 if the API says that there is none; the failure if nothing is stored.
    private func recover(from failure: UpstreamFailure, _ id: Int, seen: KnownProduct?) async throws -> Result {
        switch failure.error {
        case .rejected:
            // The only 4xx in the API's own form: there is no such product.
            try await shop.store.markGone(id, at: shop.clock.now())
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
        guard let known = try shop.store.product(id) else { return try await read(id, .useCache).product }
        // A removed product may have returned.
        return known.isGone ? try await read(id, .revalidate).product : known.product
    }

    private func stored(_ seen: KnownProduct) -> Result {
        let age = max(0, Int(shop.clock.now().timeIntervalSince(seen.fetchedAt)))
        let isOffline = !shop.api.upstream.reachability.isReachable
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

/// Asks the catalogue about products on shopping lists that are missing from its list, after all of that was read.
///
/// Only the API's own word that there is no such product counts; the list may have moved while it was read.
final class ListedProductCheck: Sendable {
    /// Maximum number of products that are checked after one read of the list.
    private static let maximumCount = 10

    private let sweep = Mutex(CatalogueSweep())
    private let tasks = BackgroundTasks()

    /// Takes a part of the catalogue's unfiltered list that is fresh.
    func take(_ ids: [Int?], offset: Int, limit: Int, of shop: Shop) {
        let now = shop.clock.now()
        guard let all = sweep.withLock({ $0.take(ids, offset: offset, limit: limit, at: now) }) else { return }
        tasks.start {
            // A problem 404 was recorded by the reader. After any other failure nothing is known, and the next time
            // that the list is read asks again.
            let missing = try? shop.store.listedProducts().subtracting(all).sorted().prefix(Self.maximumCount)
            for id in missing ?? [] { _ = try? await shop.reader.read(id, .revalidate) }
        }
    }
}

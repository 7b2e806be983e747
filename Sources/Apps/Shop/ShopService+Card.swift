import Foundation
import HTTPCaching
import Screens
import Upstream

extension ShopService {
    /// `GET /v1/shop/products/{id}`.
    @Sendable func card(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let id = try productID("id", in: request)
        let cachePolicy = try request.cachePolicy()
        let ownValidity = store.changeToken(profile)
        let (product, provenance, changeToken) = try await product(id, cachePolicy)
        let quantity = try store.quantities(of: [id], profile)[id]
        let meta = Meta(screen: "shop.card", provenance: provenance, banner: provenance.offline ? .shopOffline : nil)
        return try ScreenResponse.screen(
            Envelope(
                data: CardScreen(product, quantity: quantity, layout: options.layout(of: product.category)),
                meta: meta,
                links: Links(self: request.selfLink)
            ),
            provenance: provenance,
            now: clock.now(),
            changeToken: changeToken?.and(ownValidity)
        ).byProfile()
    }

    /// A product as fresh as is asked for. One that was only ever seen in a list stands in while the upstream has not
    /// answered for it.
    func product(_ id: Int, _ cachePolicy: CachePolicy) async throws -> (Product, Provenance, ChangeToken?) {
        let seen = try store.product(id).flatMap { $0.isGone ? nil : $0 }
        var resource = api.product(id, save: store.save(fetchedAt: clock.now))
        resource.bundledAt = seen?.fetchedAt
        let reading: ReadResult
        do {
            reading = try await api.upstream.read(resource, cachePolicy)
        } catch UpstreamError.rejected {
            // The only refusal of this API that is news (``CatalogueAPI/product(_:save:)``).
            try await store.markGone(id)
            throw Self.noProduct
        } catch UpstreamError.notStored {
            // Nobody may be asked, and the product's own answer is not stored: but it may have been in a list.
            guard let seen else { throw failure(.notStored) }
            let age = max(0, Int(clock.now().timeIntervalSince(seen.fetchedAt)))
            let isOffline = !api.upstream.reachability.isReachable
            let status = CacheStatus(.hit, timeToLive: -age, detail: isOffline ? "offline" : nil)
            return (
                seen.product,
                Provenance(
                    source: .cache,
                    offline: isOffline,
                    stale: age > 0,
                    validatedAt: seen.fetchedAt,
                    cacheStatus: status
                ), nil
            )
        } catch let error as UpstreamError {
            throw failure(error)
        }
        guard var known = try store.product(id) else { throw Self.noProduct }
        if known.isGone, reading.provenance.source == .upstream {
            try await store.markPresent([id])
            known.isGone = false
        }
        guard !known.isGone else { throw Self.noProduct }
        return (known.product, reading.provenance, reading.changeToken)
    }

    /// `GET /v1/shop/categories`.
    @Sendable func categories(_ request: ScreenRequest) async throws -> ScreenResponse {
        let ownValidity = ChangeToken(of: store.catalogueChanges)
        let reading = try await readCategories(try request.cachePolicy())
        let rows = try store.categories().map {
            CategoriesScreen.Row(
                id: $0.id,
                name: $0.name,
                layout: options.layout(of: $0),
                href: "/v1/shop/search?category_id=\($0.id)"
            )
        }
        let empty = rows.isEmpty ? EmptyState(title: "Категорий пока нет", text: "", button: "Повторить") : nil
        let provenance = reading.provenance
        let meta = Meta(
            screen: "shop.categories",
            state: rows.isEmpty ? .empty : .content,
            provenance: provenance,
            banner: provenance.offline ? .shopOffline : nil
        )
        return try ScreenResponse.screen(
            Envelope(
                data: CategoriesScreen(items: rows, empty: empty),
                meta: meta,
                links: Links(self: request.selfLink)
            ),
            provenance: provenance,
            now: clock.now(),
            changeToken: reading.changeToken?.and(ownValidity)
        )
    }

    func readCategories(_ cachePolicy: CachePolicy) async throws -> ReadResult {
        do {
            return try await api.upstream.read(api.categories(save: store.saveCategories()), cachePolicy)
        } catch let error as UpstreamError {
            throw failure(error)
        }
    }
}

import Cluster
import Concurrency
import HTTP
import Screens
import Upstream

/// The pictures of products.
struct Images: Sendable {
    let products: ProductReader
    let store: ShopStore
    let pictures: ScaledPictures

    /// `GET /v1/shop/images/{id}/{n}`: a picture of a product, or a placeholder that is not stored. Only URLs in rows
    /// of the catalogue are fetched.
    func show(_ request: ScreenRequest) async throws -> ScreenResponse {
        let id = try products.id("id", in: request)
        let text = try request.parameter("n")
        let changeToken = store.changeToken(products: [id])
        do {
            // The pictures of a removed product are still known.
            return try await pictures.show(request, changeToken) {
                guard let known = try store.product(id)?.product else { throw Unseen() }
                return try Self.address(of: text, known)
            }
        } catch is Unseen {
            let product = try await products.read(id, try request.cachePolicy()).product
            return try await pictures.show(request, changeToken) { try Self.address(of: text, product) }
        }
    }

    /// The product was never seen, so that it has to be requested from the catalogue.
    private struct Unseen: Error {}

    /// Returns the address of a picture of a product; nil for the placeholder of a product without pictures.
    ///
    /// - Parameter text: The number of the picture.
    /// - Throws: 404 `not-found`.
    private static func address(of text: String, _ product: Product) throws -> String? {
        guard let number = Int(text), number >= 0, text.isDigits, number < max(1, product.images.count) else {
            throw Problem.notFound("The product has \(product.images.count) pictures, counted from 0.")
        }
        return product.images.isEmpty ? nil : product.images[number]
    }

    /// `GET /v1/shop/categories/{id}/image`: the picture of a category that was listed.
    func showCategory(_ request: ScreenRequest) async throws -> ScreenResponse {
        let id = try products.id("id", in: request)
        return try await pictures.show(request, ChangeToken(of: store.categoryChanges)) {
            guard let category = try store.category(id) else { throw Problem.notFound(.noSuchCategory) }
            return category.image
        }
    }

    /// `GET /v1/shop/list/items/{item_id}/image`: the first picture of a product on the list, even if its id now
    /// belongs to another product.
    func showListItem(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let id = try Lists.item(in: request)
        let changeToken = store.changeToken(profile)
        _ = try await store.users.catchUp()
        return try await pictures.show(request, changeToken) {
            guard let item = try store.users.read({ try ShopStore.line(id, profile, $0) }) else {
                throw Lists.notListed
            }
            return item.product.images.first
        }.byProfile()
    }
}

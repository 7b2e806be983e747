import Cluster
import Concurrency
import Foundation
import HTTP
import Media
import MediaFormats
import Screens
import Upstream

/// The pictures of products.
struct Images: Sendable {
    let api: CatalogueAPI
    let products: ProductReader
    let store: ShopStore
    let pictures: PictureScaler
    let clock: WallClock
    /// Pictures that could not be scaled lately.
    private let failures = DrawingFailures()

    /// Largest width that a picture is scaled to, in pixels.
    static let maximumWidth = 2000

    /// `GET /v1/shop/images/{id}/{n}`: a picture of a product, or a placeholder that is not stored. Only URLs in rows
    /// of the catalogue are fetched.
    func show(_ request: ScreenRequest) async throws -> ScreenResponse {
        let id = try products.id("id", in: request)
        let text = try request.parameter("n")
        let changeToken = store.changeToken(products: [id])
        do {
            // The pictures of a removed product are still known.
            return try await picture(request, changeToken) {
                guard let known = try store.product(id)?.product else { throw Unseen() }
                return try Self.address(of: text, known)
            }
        } catch is Unseen {
            let product = try await products.read(id, try request.cachePolicy()).product
            return try await picture(request, changeToken) { try Self.address(of: text, product) }
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

    /// `GET /v1/shop/list/items/{item_id}/image`: the first picture of a product on the list, even if its id now
    /// belongs to another product.
    func showListItem(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let id = try Lists.item(in: request)
        let changeToken = store.changeToken(profile)
        _ = try await store.users.catchUp()
        return try await picture(request, changeToken) {
            guard let item = try store.lines(of: id.productID, profile).first(where: { $0.id == id }) else {
                throw Lists.notListed
            }
            return item.product.images.first
        }.byProfile()
    }

    /// - Parameter url: Reads the address of the picture; nil for the placeholder.
    private func picture(_ request: ScreenRequest, _ changeToken: ChangeToken, at url: () throws -> String?)
        async throws -> ScreenResponse
    {
        var address: String?
        let width = try request.query.integer("width", in: 1...Self.maximumWidth)
        let cachePolicy = try request.cachePolicy()
        return try await .picture(
            {
                address = try url()
                return address.map { .picture(at: $0) }
            },
            of: api.upstream,
            cachePolicy,
            clock: clock,
            changeToken: changeToken,
            adapt: { try await scaled($0, to: width, at: address ?? "", for: request) }
        )
    }

    /// Returns a picture that is at most `width` pixels wide; nil if the bytes are no picture or cannot be scaled.
    private func scaled(_ body: Data, to width: Int?, at url: String, for request: ScreenRequest) async throws
        -> Data?
    {
        guard let width else { return body }
        do {
            guard try pictures.header(of: .bytes(body)).width > width else { return body }
            return try await failures.drawing(url, at: clock.now) { [pictures] in
                // No picture that may be stored is higher than this when it is so narrow.
                try await request.whileClientWaits {
                    try await pictures.scale(.bytes(body), width: width, height: 16 * width).data
                }
            }
        } catch MediaError.toolMissing(let tool) {
            throw Problem(
                .toolMissing,
                "Scaling pictures needs \(tool.executable) of the Debian package \(tool.package); "
                    + "without width the picture comes as it is."
            )
        } catch is MediaError {
            return nil
        }
    }
}

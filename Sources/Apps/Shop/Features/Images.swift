import Cluster
import Concurrency
import Foundation
import HTTP
import Screens
import Upstream

/// The pictures of products.
struct Images: Sendable {
    let shop: Shop

    /// `GET /v1/shop/images/{id}/{n}`: a picture of a product, or a placeholder that is not stored. Only URLs in rows
    /// of the catalogue are fetched.
    func show(_ request: ScreenRequest) async throws -> ScreenResponse {
        let id = try ProductReader.id(in: request)
        let text = try request.parameter("n")
        let changeToken = shop.store.changeToken(products: [id])
        do {
            // The pictures of a removed product are still known.
            return try await shop.pictures.show(request, changeToken) {
                guard let known = try shop.store.product(id)?.product else { throw Unseen() }
                return try Self.address(of: text, known)
            }
        } catch is Unseen {
            let product = try await shop.reader.read(id, try request.cachePolicy()).product
            return try await shop.pictures.show(request, changeToken) { try Self.address(of: text, product) }
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
        let id = try ProductReader.id(in: request)
        return try await shop.pictures.show(request, ChangeToken(of: shop.store.categoryChanges)) {
            guard let category = try shop.store.category(id) else { throw Problem.notFound(.noSuchCategory) }
            return category.image
        }
    }

    /// `GET /v1/shop/list/items/{item_id}/image`: the first picture of a product on the list, even if its id now
    /// belongs to another product.
    func showListItem(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let id = try Lists.item(in: request)
        let changeToken = shop.store.changeToken(profile)
        _ = try await shop.store.users.catchUp()
        return try await shop.pictures.show(request, changeToken) {
            guard let item = try shop.store.users.read({ try ShopStore.line(id, profile, $0) }) else {
                throw Problem.notListed
            }
            return item.product.images.first
        }.byProfile()
    }
}

/// The URLs of a product's pictures. The API stores them in one column and splits it at commas, so the text of a JSON
/// array arrives in pieces such as `["https://…"`.
enum ImageAddresses {
    /// Returns the absolute http(s) URLs in their order, without duplicates.
    static func clean(_ received: [String]) -> [String] {
        var seen = Set<String>()
        return pieces(of: received).compactMap(address).filter { seen.insert($0).inserted }.prefix(
            Product.maximumImages
        )
        .map { $0 }
    }

    private static func pieces(of received: [String]) -> [String] {
        let joined = received.joined(separator: ",")
        if joined.unicodeScalars.first(where: { !$0.properties.isWhitespace }) == "[",
            let whole = try? JSONDecoder().decode(
                TolerantList<String>.self,
                from: Data(joined.trimmingCharacters(in: .whitespacesAndNewlines).utf8)
            )
        {
            return whole.values.compactMap(\.self)
        }
        return received
    }

    private static func isPadding(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "[", "]", "\"", "'", " ", "\t", "\r", "\n": true
        default: false
        }
    }

    private static func address(_ piece: String) -> String? {
        let inner = piece.unicodeScalars.drop(while: isPadding)
        let text = inner.lastIndex { !isPadding($0) }.map { String(inner[...$0]) } ?? ""
        guard text.utf8.count <= 2048, text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return nil }
        // Letters beyond ASCII and spaces are encoded, as browsers do.
        return (try? HTTPURL(text)).flatMap { $0.hasUser ? nil : $0.origin + $0.requestTarget }
    }
}

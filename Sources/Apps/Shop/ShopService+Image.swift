import Foundation
import HTTPCaching
import HTTPSemantics
import HTTPTypes
import Media
import MediaFormats
import Screens
import Storage
import Upstream

extension ShopService {
    /// Largest width that a picture is scaled to.
    static let largestWidth = 2000

    /// `GET /v1/shop/images/{id}/{n}`: a picture of a product through the cache, or a placeholder that is not stored.
    /// Only addresses of catalogue rows are ever asked.
    @Sendable func image(_ request: ScreenRequest) async throws -> ScreenResponse {
        let id = try productID("id", in: request)
        let text = try request.parameter("n")
        let changeToken = ChangeToken(of: store.catalogueChanges)
        // What a product that is gone looked like is still known; one that was never seen is asked for.
        let product =
            if let known = try store.product(id)?.product { known } else {
                try await product(id, try request.cachePolicy()).0
            }
        guard let number = Int(text), number >= 0, text.isDigits,
            number < max(1, product.images.count)
        else {
            throw Problem.notFound("The product has \(product.images.count) pictures, counted from 0.")
        }
        return try await picture(at: product.images.isEmpty ? nil : product.images[number], request, changeToken)
    }

    /// `GET /v1/shop/list/items/{product_id}/image`: the first picture of what was put on the list, also when its id
    /// means something else by now.
    @Sendable func itemImage(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let id = try productID("product_id", in: request)
        let changeToken = store.changeToken(profile)
        guard let item = try store.list(profile).items.first(where: { $0.product.id == id }) else {
            throw Self.notListed
        }
        return try await picture(at: item.product.images.first, request, changeToken).byProfile()
    }

    private func picture(at url: String?, _ request: ScreenRequest, _ ownValidity: ChangeToken) async throws
        -> ScreenResponse
    {
        let width = try request.query.integer("width", in: 1...Self.largestWidth)
        let cachePolicy = try request.cachePolicy()
        guard let url else { return .placeholder(CacheStatus(.hit, detail: "placeholder")) }
        do {
            guard let (reading, body) = try await stored(url, cachePolicy),
                let (bytes, type) = try await scaled(body, to: width)
            else {
                return .placeholder(CacheStatus(.forward(.miss), detail: "placeholder"))
            }
            return .picture(
                bytes,
                type: type,
                provenance: reading.provenance,
                now: clock.now(),
                changeToken: reading.changeToken?.and(ownValidity)
            )
        } catch UpstreamError.notStored {
            throw failure(.notStored)
        } catch let error as UpstreamError {
            return .placeholder(
                CacheStatus(.forward(.uriMiss), forwardStatus: error.status?.code, detail: "placeholder")
            )
        }
    }

    /// A picture and where it comes from. The stored one may be evicted between the look and the opening of its file;
    /// the second look then fetches it.
    private func stored(_ url: String, _ cachePolicy: CachePolicy) async throws -> (reading: ReadResult, body: Data)? {
        for _ in 0..<2 {
            let reading = try await api.upstream.read(api.picture(at: url), cachePolicy)
            if let response = reading.response, let body = try await store.bytes(of: response) {
                return (reading, body)
            }
        }
        return nil
    }

    /// The picture no wider than wanted; nil where it is none, or cannot be scaled.
    private func scaled(_ body: Data, to width: Int?) async throws -> (Data, PictureType)? {
        guard let type = PictureType(of: body) else { return nil }
        guard let width else { return (body, type) }
        do {
            guard try pictures.header(of: .bytes(body)).width > width else { return (body, type) }
            // No picture that may be stored is higher than this when it is so narrow.
            let picture = try await pictures.scale(.bytes(body), width: width, height: 16 * width)
            return PictureType(of: picture.data).map { (picture.data, $0) }
        } catch MediaError.toolMissing(let tool) {
            throw Problem(
                .toolMissing,
                "Scaling pictures needs \(tool.executable) of the Debian package \(tool.package); without width the picture comes as it is."
            )
        } catch is MediaError {
            return nil
        }
    }
}

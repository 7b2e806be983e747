import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Screens
import Storage
import Upstream

/// Texts to be shared: of a product, of a line of the shopping list, of the whole list.
struct Sharing: Sendable {
    let shop: Shop

    /// `GET /v1/shop/list/share`.
    func showList(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let (lag, changeToken) = try await shop.store.catchUp(profile)
        let list = try shop.store.list(profile, ShopStore.wholeList)
        guard !list.items.isEmpty else {
            throw Problem(
                .listEmpty,
                .nothingToShare,
                dialog: .init(title: .list, message: .emptyList, buttons: [.ok])
            )
        }
        let meta = Meta(screen: "shop.share", provenance: .local, revision: list.revision).lagging(lag)
        return try response(
            ShareScreen(text: list.items.map(\.shareText).joined(separator: "\n\n")),
            meta,
            .local,
            request,
            changeToken
        )
    }

    /// `GET /v1/shop/list/items/{item_id}/share`.
    func showListItem(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let id = try Lists.item(in: request)
        let (lag, changeToken) = try await shop.store.catchUp(profile)
        guard let line = try shop.store.line(id, profile) else { throw Problem.notListed }
        let meta = Meta(screen: "shop.share", provenance: .local, revision: line.revision).lagging(lag)
        return try response(ShareScreen(text: line.item.shareText), meta, .local, request, changeToken)
    }

    /// `GET /v1/shop/products/{id}/share`.
    func showProduct(_ request: ScreenRequest) async throws -> ScreenResponse {
        _ = try request.profile()
        let id = try ProductReader.id(in: request)
        let changeToken = shop.store.changeToken(products: [id])
        let cachePolicy = try request.cachePolicy()
        let readToken = shop.api.upstream.readToken()
        let stored = try shop.store.database.read { _ in try shop.reader.stored(id, cachePolicy, since: readToken) }
        let read = if let stored { stored } else { try await shop.reader.read(id, cachePolicy) }
        let meta = Meta(
            screen: "shop.share",
            provenance: read.provenance,
            banner: read.provenance.offline ? .shopOffline : nil
        )
        let token = read.changeToken?.and(changeToken)
        return try response(ShareScreen(text: read.product.shareText), meta, read.provenance, request, token)
    }

    /// Returns a text as JSON, or by itself if the request prefers plain text.
    private func response(
        _ screen: ShareScreen,
        _ meta: Meta,
        _ provenance: Provenance,
        _ request: ScreenRequest,
        _ changeToken: ChangeToken?
    ) throws -> ScreenResponse {
        let accepted = AcceptedMediaTypes(request.headerFields)
        var response: ScreenResponse
        if accepted.weight(of: "text/plain") > accepted.weight(of: "application/json") {
            let fields: HTTPFields = [
                .cacheControl: "private, no-cache", .contentLanguage: Language.current.rawValue,
                .vary: "Authorization, Cookie, Accept-Language, Accept-Encoding",
            ]
            let body = ScreenResponse.Body.bytes(Data(screen.text[Language.current].utf8), type: MediaType.text)
            response = ScreenResponse(headerFields: fields, body: body, changeToken: changeToken)
        } else {
            response = try .local(screen, meta, Links(self: request.selfLink), changeToken: changeToken)
        }
        response.headerFields.add(provenance, now: shop.clock.now())
        response = response.byProfile()
        response.headerFields.vary(on: .accept)
        return response
    }
}

/// `GET /v1/shop/list/share`, and the text of one line or one product.
struct ShareScreen: Encodable, Sendable {
    /// Of a list, a block for each line, as the app writes it.
    let text: Text
}

extension ListItem {
    fileprivate var shareText: Text {
        .share(product.title, product.price.text) + .shareQuantity(quantity)
    }
}

extension Product {
    /// The text that the card shares.
    var shareText: Text { .share(title, price.text) + .shareDescription(descriptionText) }

    /// The description, or the app's words if there is none.
    var descriptionText: Text { description.isEmpty ? .noDescription : Text(verbatim: description) }
}

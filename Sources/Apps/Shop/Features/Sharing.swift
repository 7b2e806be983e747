import Foundation
import HTTPSemantics
import HTTPTypes
import Screens

/// The text of a shopping list, to be shared.
struct Sharing: Sendable {
    let store: ShopStore

    /// `GET /v1/shop/list/share`, as JSON or as plain text.
    func show(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let changeToken = store.changeToken(profile)
        let list = try store.list(profile)
        guard !list.items.isEmpty else {
            throw Problem(
                .listEmpty,
                "There is nothing on the list to share.",
                dialog: .init(title: "Корзина", message: "Корзина пуста", buttons: ["ОК"])
            )
        }
        let screen = ShareScreen(list)
        var response: ScreenResponse
        let accepted = AcceptedMediaTypes(request.headerFields)
        if accepted.weight(of: "text/plain") > accepted.weight(of: "application/json") {
            let fields: HTTPFields = [.cacheControl: "private, no-cache", .vary: "Authorization, Accept-Encoding"]
            response = ScreenResponse(
                headerFields: fields,
                body: .bytes(Data(screen.text.utf8), type: MediaType.text),
                changeToken: changeToken
            )
        } else {
            response = try .local(screen, "shop.share", request, revision: list.revision, changeToken: changeToken)
        }
        response = response.byProfile()
        response.headerFields.vary(on: .accept)
        return response
    }
}

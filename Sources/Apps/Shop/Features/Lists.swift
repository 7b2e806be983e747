import Freshness
import HTTPTypes
import Screens
import Upstream

/// The shopping lists. Changes of them need no upstream, except the addition of a product that was never seen.
struct Lists: Sendable {
    let products: ProductReader
    let store: ShopStore
    let events: EventStream

    /// Quantities that a line may have.
    static let quantities = 1...999
    /// 404: the product is not on the list.
    static let notListed = Problem.notFound("The product is not on the list.")

    /// `GET /v1/shop/list`.
    func show(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let changeToken = store.changeToken(profile)
        return try response(try store.list(profile), request, changeToken: changeToken)
    }

    /// `POST /v1/shop/list/items`. A product that is on the list already is left as it is.
    func add(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let fields = try await request.jsonObject()
        var errors: [Problem.FieldError] = []
        let id = fields.integer("product_id", in: 1...Int.max, required: true, &errors)
        let quantity = fields.integer("quantity", in: Self.quantities, required: false, &errors)
        guard errors.isEmpty, let id else { throw Problem.validation(errors) }
        // A product on the list stays there even if it is gone: no need to read it.
        let present = try store.list(profile)
        if present.items.contains(where: { $0.product.id == id }) {
            return try response(present, request, alreadyInList: true)
        }
        let product = try await products.known(id)
        let (addition, list) = try await store.add(product, quantity: quantity ?? 1, to: profile)
        switch addition {
        case .full:
            let detail = "The list has \(ShopStore.maximumItems) products, and takes no more."
            throw Problem.validation([.field("/product_id", "list-full", detail)])
        case .alreadyThere:
            return try response(list, request, alreadyInList: true)
        case .added:
            publishChange(of: list)
            let fields: HTTPFields = [.location: "/v1/shop/list/items/\(id)"]
            return try response(list, request, status: .created, headerFields: fields, alreadyInList: false)
        }
    }

    /// `PATCH /v1/shop/list/items/{product_id}`.
    func setQuantity(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let id = try products.id("product_id", in: request)
        var errors: [Problem.FieldError] = []
        let fields = try await request.jsonObject()
        let quantity = fields.integer("quantity", in: Self.quantities, required: true, &errors)
        guard errors.isEmpty, let quantity else { throw Problem.validation(errors) }
        return try changed(try await store.setQuantity(quantity, of: id, profile), request)
    }

    /// `DELETE /v1/shop/list/items/{product_id}`.
    func remove(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let id = try products.id("product_id", in: request)
        return try changed(try await store.remove(id, profile), request)
    }

    /// `DELETE /v1/shop/list`.
    func clear(_ request: ScreenRequest) async throws -> ScreenResponse {
        let (hasChanged, list) = try await store.clear(try request.profile())
        if hasChanged { publishChange(of: list) }
        return try response(list, request)
    }

    /// `PUT /v1/shop/list/order`.
    func order(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let ids = try await request.jsonObject().integers("product_ids", in: 1...Int.max)
        let (isOrdered, list) = try await store.order(ids, profile)
        guard isOrdered else {
            let detail = "product_ids must name every product of the list once, and no other."
            throw Problem.validation([.field("/product_ids", "not-the-list", detail)])
        }
        publishChange(of: list)
        return try response(list, request)
    }

    private func changed(_ outcome: (isListed: Bool, list: ShoppingList), _ request: ScreenRequest) throws
        -> ScreenResponse
    {
        guard outcome.isListed else { throw Self.notListed }
        publishChange(of: outcome.list)
        return try response(outcome.list, request)
    }

    private func publishChange(of list: ShoppingList) {
        events.publish(.screenChanged(app: ShopApp.name, screen: "shop.list", revision: list.revision))
    }

    private func response(
        _ list: ShoppingList,
        _ request: ScreenRequest,
        status: HTTPResponse.Status = .ok,
        headerFields: HTTPFields = [:],
        alreadyInList: Bool? = nil,
        changeToken: ChangeToken? = nil
    ) throws -> ScreenResponse {
        try ScreenResponse.local(
            ListScreen(list, alreadyInList: alreadyInList),
            "shop.list",
            request,
            state: list.items.isEmpty ? .empty : .content,
            status: status,
            revision: list.revision,
            selfLink: "/v1/shop/list",
            headerFields: headerFields,
            changeToken: changeToken
        ).byProfile()
    }
}

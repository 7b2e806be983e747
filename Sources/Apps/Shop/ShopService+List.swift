import Foundation
import HTTPSemantics
import HTTPTypes
import Screens
import Storage
import Upstream

extension ShopService {
    static let quantities = 1...999
    static let notListed = Problem.notFound("The product is not on the list.")

    /// `GET /v1/shop/list`. Asks nobody; writes to it always succeed, whatever the upstream does.
    @Sendable func list(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let changeToken = store.changeToken(profile)
        return try response(try store.list(profile), request, changeToken: changeToken)
    }

    /// `POST /v1/shop/list/items`. A product that is on the list stays as it is.
    @Sendable func addItem(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let fields = try await request.jsonObject()
        var errors: [Problem.FieldError] = []
        let id = fields.whole("product_id", in: 1...Int.max, required: true, &errors)
        let quantity = fields.whole("quantity", in: Self.quantities, required: false, &errors)
        guard errors.isEmpty, let id else { throw Problem.validation(errors) }
        // What is on the list stays there whatever has become of the product: nobody need be asked.
        let present = try store.list(profile)
        if present.items.contains(where: { $0.product.id == id }) {
            return try response(present, request, alreadyInList: true)
        }
        let (addition, list) = try await store.add(try await knownProduct(id), quantity: quantity ?? 1, to: profile)
        switch addition {
        case .full:
            throw Problem.validation([
                .field("/product_id", "list-full", "The list has \(ShopStore.mostItems) products, and takes no more.")
            ])
        case .alreadyThere:
            return try response(list, request, alreadyInList: true)
        case .added:
            announce(list)
            let location = "/v1/shop/list/items/\(id)"
            return try response(
                list,
                request,
                status: .created,
                headerFields: [.location: location],
                alreadyInList: false
            )
        }
    }

    /// A product that was ever seen and is not known to be gone, else the upstream's word for it.
    private func knownProduct(_ id: Int) async throws -> Product {
        // One that was gone may be back: the upstream is asked again.
        if let known = try store.product(id) {
            return known.isGone ? try await product(id, .revalidate).0 : known.product
        }
        return try await product(id, .useCache).0
    }

    /// `PATCH /v1/shop/list/items/{product_id}`.
    @Sendable func setQuantity(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let id = try productID("product_id", in: request)
        var errors: [Problem.FieldError] = []
        let quantity = try await request.jsonObject().whole("quantity", in: Self.quantities, required: true, &errors)
        guard errors.isEmpty, let quantity else { throw Problem.validation(errors) }
        return try changed(try await store.setQuantity(quantity, of: id, profile), request)
    }

    /// `DELETE /v1/shop/list/items/{product_id}`.
    @Sendable func removeItem(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let id = try productID("product_id", in: request)
        return try changed(try await store.remove(id, profile), request)
    }

    private func changed(_ outcome: (isListed: Bool, list: ShoppingList), _ request: ScreenRequest) throws
        -> ScreenResponse
    {
        guard outcome.isListed else { throw Self.notListed }
        announce(outcome.list)
        return try response(outcome.list, request)
    }

    /// `DELETE /v1/shop/list`.
    @Sendable func clearList(_ request: ScreenRequest) async throws -> ScreenResponse {
        let (hasChanged, list) = try await store.clear(try request.profile())
        if hasChanged { announce(list) }
        return try response(list, request)
    }

    /// `PUT /v1/shop/list/order`.
    @Sendable func order(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let ids = try await request.jsonObject().wholes("product_ids", in: 1...Int.max)
        let (isOrdered, list) = try await store.order(ids, profile)
        guard isOrdered else {
            throw Problem.validation([
                .field(
                    "/product_ids",
                    "not-the-list",
                    "product_ids must name every product of the list once, and no other."
                )
            ])
        }
        announce(list)
        return try response(list, request)
    }

    /// `GET /v1/shop/list/share`, as JSON or as the text alone.
    @Sendable func share(_ request: ScreenRequest) async throws -> ScreenResponse {
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
            ).byProfile()
        } else {
            response = try local(screen, "shop.share", request, revision: list.revision, changeToken: changeToken)
        }
        response.headerFields.vary(on: .accept)
        return response
    }

    private func announce(_ list: ShoppingList) {
        events.publish(.screenChanged(app: "shop", screen: "shop.list", revision: list.revision))
    }

    private func response(
        _ list: ShoppingList,
        _ request: ScreenRequest,
        status: HTTPResponse.Status = .ok,
        headerFields: HTTPFields = [:],
        alreadyInList: Bool? = nil,
        changeToken: ChangeToken? = nil
    ) throws -> ScreenResponse {
        try local(
            ListScreen(list, alreadyInList: alreadyInList),
            "shop.list",
            request,
            state: list.items.isEmpty ? .empty : .content,
            status: status,
            revision: list.revision,
            self: "/v1/shop/list",
            headerFields: headerFields,
            changeToken: changeToken
        )
    }
}

extension JSONFields {
    /// A whole number within a range; null counts as absent. What is wrong with it is added to `errors`.
    fileprivate func whole(
        _ name: String,
        in range: ClosedRange<Int>,
        required: Bool,
        _ errors: inout [Problem.FieldError]
    ) -> Int? {
        switch values[name] {
        case nil, .null:
            if required {
                errors.append(.field("/\(name)", "required", "\(name) is missing; it is \(Self.accepted(range))."))
            }
        case .number(let number):
            if let whole = Int(exactly: number), range.contains(whole) { return whole }
            fallthrough
        default:
            errors.append(.field("/\(name)", "invalid", "\(name) must be \(Self.accepted(range))."))
        }
        return nil
    }

    /// A list of whole numbers; 422 that names what is none.
    fileprivate func wholes(_ name: String, in range: ClosedRange<Int>) throws -> [Int] {
        guard case .array(let items) = values[name] else {
            throw Problem.validation([
                .field("/\(name)", values[name] == nil ? "required" : "invalid", "\(name) must be a list of integers.")
            ])
        }
        return try items.enumerated().map { index, item in
            guard case .number(let number) = item, let whole = Int(exactly: number), range.contains(whole) else {
                throw Problem.validation([
                    .field(
                        "/\(name)/\(index)",
                        "invalid",
                        "\(name) must be a list of integers of at least \(range.lowerBound)."
                    )
                ])
            }
            return whole
        }
    }

    private static func accepted(_ range: ClosedRange<Int>) -> String {
        range.upperBound == .max
            ? "an integer of at least \(range.lowerBound)"
            : "an integer from \(range.lowerBound) to \(range.upperBound)"
    }
}

import Cluster
import Concurrency
import HTTP
import HTTPTypes
import JSONValues
import Screens

/// The shopping lists, or the favourites, which are lists, too. Changes of them need no upstream, except the addition
/// of a product that was never seen.
struct Lists: Sendable {
    let shop: Shop
    var kind = ListKind.list

    /// The list over all pages.
    private var pages: PagedList { PagedList(kind.screen, key: [.integer]) }

    /// Returns the name of the list of a request's profile.
    ///
    /// - Throws: ``Problem`` 400.
    private func list(_ request: ScreenRequest) throws -> String { kind.key(try request.profile()) }

    /// Returns the part of the list that a request asks for, also one that changes the list.
    ///
    /// - Throws: ``Problem`` 400.
    private func page(_ request: ScreenRequest) throws -> PageRequest {
        let standard = ShopStore.firstPage.limit
        return try request.query.page(of: pages, defaultLimit: standard, maximumLimit: standard)
    }

    /// Returns the line that the path of a request names.
    ///
    /// - Throws: ``Problem`` 404 if it cannot be one.
    static func item(in request: ScreenRequest) throws -> ListItemID {
        guard let id = ListItemID(try request.parameter("item_id")) else { throw Problem.notListed }
        return id
    }

    /// `GET /v1/shop/list`.
    func show(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try self.list(request)
        let page = try self.page(request)
        let (lag, changeToken) = try await shop.store.catchUp(profile)
        return try response(try shop.store.list(profile, page), page, request, lag, changeToken: changeToken)
    }

    /// `POST /v1/shop/list/items`. A product that is already on the list does not change.
    func add(_ request: ScreenRequest) async throws -> ScreenResponse {
        try await changing(request, isAddition: true) { profile, page, preconditions in
            let (id, quantity) = try Self.addition(try await request.jsonObject())
            if let lag = try await shop.store.users.catchUp() { throw lag.reason }
            // A product on the list stays there even if it was removed from the catalogue: no need to read it.
            if try shop.store.lines(of: id, profile).contains(where: { $0.difference != .replaced }) { return nil }
            let product = try await shop.reader.known(id)
            return {
                try await shop.store.add(product, quantity: quantity, to: profile, if: preconditions, showing: page)
            }
        }
    }

    /// Reads `{"product_id", "quantity"?}`.
    static func addition(_ fields: JSONFields) throws -> (productID: Int, quantity: Int) {
        var errors: [Problem.FieldError] = []
        let id = fields.integer("product_id", in: 1...Int.max, required: true, &errors)
        let quantity = fields.integer("quantity", in: ListItem.quantities, required: false, &errors)
        guard errors.isEmpty, let id else {
            throw Problem.validation(errors, dialog: errors.map(\.pointer) == ["/quantity"] ? .quantity : nil)
        }
        return (id, quantity ?? 1)
    }

    /// `PATCH /v1/shop/list/items/{item_id}`.
    func changeLine(_ request: ScreenRequest) async throws -> ScreenResponse {
        try await changing(request) { profile, page, preconditions in
            let id = try Self.item(in: request)
            let change = try LineChange(try await request.jsonObject())
            return { try await shop.store.change(change, of: id, profile, if: preconditions, showing: page) }
        }
    }

    /// `DELETE /v1/shop/list/items/{item_id}`.
    func remove(_ request: ScreenRequest) async throws -> ScreenResponse {
        try await changing(request) { profile, page, preconditions in
            let id = try Self.item(in: request)
            return { try await shop.store.remove(id, profile, if: preconditions, showing: page) }
        }
    }

    /// `DELETE /v1/shop/list`.
    func clear(_ request: ScreenRequest) async throws -> ScreenResponse {
        try await changing(request) { profile, page, preconditions in
            { try await shop.store.clear(profile, if: preconditions, showing: page) }
        }
    }

    /// `PUT /v1/shop/list/order`.
    func order(_ request: ScreenRequest) async throws -> ScreenResponse {
        try await changing(request) { profile, page, preconditions in
            let order = try ListOrder(try await request.jsonObject())
            return { try await shop.store.order(order, profile, if: preconditions, showing: page) }
        }
    }

    /// A transaction that changes the list and returns it.
    private typealias Change = @Sendable () async throws -> ShoppingList

    /// Changes the list, and responds with it.
    ///
    /// - Parameter prepare: Reads the request, and returns the transaction; nil if there is nothing to change.
    private func changing(
        _ request: ScreenRequest,
        isAddition: Bool = false,
        _ prepare: (_ profile: String, _ page: PageRequest, WritePreconditions) async throws -> Change?
    ) async throws -> ScreenResponse {
        let (profile, page) = (try self.list(request), try self.page(request))
        let preconditions = request.writePreconditions()
        guard let change = try await prepare(profile, page, preconditions) else {
            let list = try shop.store.list(profile, page)
            try preconditions.check(version: list.revision)
            return try response(list, page, request, isAddition: isAddition)
        }
        let (list, response) = try await request.answering(
            { try self.response($0, page, request, isAddition: isAddition) },
            to: change
        )
        if list.isChanged { shop.events.publishList(profile, list.revision) }
        return response
    }

    private func response(
        _ list: ShoppingList,
        _ page: PageRequest,
        _ request: ScreenRequest,
        isAddition: Bool = false,
        _ lag: UserDatabase.Lag? = nil,
        changeToken: ChangeToken? = nil
    ) throws -> ScreenResponse {
        let (shown, next) = pages.part(list.page, of: page)
        let meta = Meta(
            screen: kind.screen,
            state: list.totals.lines == 0 ? .empty : .content,
            provenance: .local,
            revision: list.revision,
            page: shown
        ).lagging(lag)
        let links = request.links(for: shown, next: next, at: kind.path)
        let added = isAddition ? list.changedLine : nil
        func screen(_ content: some Encodable & Sendable) throws -> ScreenResponse {
            try .local(
                content,
                meta,
                links,
                status: added == nil ? .ok : .created,
                headerFields: added.map { [.location: kind.path(of: $0.id).requestTarget] } ?? [:],
                changeToken: changeToken
            )
        }
        let alreadyInList = isAddition ? added == nil : nil
        let response =
            switch kind {
            case .list:
                try screen(ListScreen(list, afterWrite: request.method != .get, alreadyInList: alreadyInList))
            case .favourites: try screen(FavouritesScreen(list))
            }
        return response.byProfile().at(version: list.revision)
    }
}

extension LineChange {
    /// Reads `{"by"}`, `{"quantity"}` or `{"bought"}`.
    ///
    /// - Throws: ``Problem`` 422 unless the body has one of the three.
    fileprivate init(_ fields: JSONFields) throws {
        if let bought = fields.values["bought"], bought != .null {
            guard case .bool(let isBought) = bought else {
                throw Problem.validation([.field("/bought", "invalid", "bought must be true or false.")])
            }
            guard ["by", "quantity"].allSatisfy({ (fields.values[$0] ?? .null) == .null }) else {
                let detail: Text = "bought cannot stand beside by or quantity."
                throw Problem.validation([.field("/bought", "contradictory", detail)])
            }
            self = .bought(isBought)
            return
        }
        var errors: [Problem.FieldError] = []
        let by = fields.integer("by", in: ListItem.differences, required: false, &errors)
        let isAbsolute = by == nil && errors.isEmpty
        let quantity = fields.integer("quantity", in: ListItem.quantities, required: isAbsolute, &errors)
        if by != nil, quantity != nil {
            errors.append(.field("/by", "contradictory", "by cannot stand beside quantity."))
        }
        guard errors.isEmpty, let change = by.map(Self.by) ?? quantity.map(Self.to) else {
            throw Problem.validation(errors, dialog: .quantity)
        }
        self = change
    }
}

extension ListOrder {
    /// Reads `{"item_ids"}` or `{"product_ids"}`.
    ///
    /// - Throws: ``Problem`` 422 unless the body has one of the two fields, with a list of ids.
    fileprivate init(_ fields: JSONFields) throws {
        guard fields.values["item_ids"] != nil else {
            self = .products(try fields.integers("product_ids", in: 1...Int.max))
            return
        }
        guard fields.values["product_ids"] == nil else {
            let detail: Text = "item_ids cannot stand beside product_ids."
            throw Problem.validation([.field("/item_ids", "contradictory", detail)])
        }
        self = .items(
            try (try fields.strings("item_ids") ?? []).enumerated().map { index, text in
                guard let id = ListItemID(text) else {
                    throw Problem.validation([.field("/item_ids/\(index)", "invalid", "\(text) is no line of a list.")])
                }
                return id
            }
        )
    }
}

extension JSONFields {
    /// Returns an integer field; null counts as absent. Adds an error to `errors` if the field is invalid, or required
    /// and absent.
    fileprivate func integer(
        _ name: String,
        in range: ClosedRange<Int>,
        required: Bool,
        _ errors: inout [Problem.FieldError]
    ) -> Int? {
        switch values[name] {
        case nil, .null:
            if required {
                errors.append(.field("/\(name)", "required", .missingInteger(name, range)))
            }
        case let value?:
            if let integer = value.int, range.contains(integer) { return integer }
            errors.append(.field("/\(name)", "invalid", .wrongInteger(name, range)))
        }
        return nil
    }

    /// Returns a list of integers.
    ///
    /// - Throws: ``Problem`` 422 that names the field or the first bad element.
    fileprivate func integers(_ name: String, in range: ClosedRange<Int>) throws -> [Int] {
        guard case .array(let items) = values[name] else {
            let code = values[name] == nil ? "required" : "invalid"
            throw Problem.validation([.field("/\(name)", code, "\(name) must be a list of integers.")])
        }
        return try items.enumerated().map { index, item in
            guard let integer = item.int, range.contains(integer) else {
                let detail: Text = "\(name) must be a list of integers of at least \(range.lowerBound)."
                throw Problem.validation([.field("/\(name)/\(index)", "invalid", detail)])
            }
            return integer
        }
    }
}

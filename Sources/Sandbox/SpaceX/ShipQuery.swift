/// Why a query cannot be run; the API responds with 400 and the text.
struct ShipQueryError: Error, Equatable {
    let message: String
}

/// The body of `POST /v4/ships/query`: `{"query": {…}, "options": {…}}`, both optional. A part of what MongoDB and
/// mongoose-paginate-v2 know; what is not simulated is refused, not ignored.
struct ShipQuery: Equatable {
    var filter: ShipFilter
    var select: ShipSelection
    var sort: ShipOrder
    var paging: Paging

    struct Paging: Equatable {
        var limit = 10
        /// nil if `page` was given: the page object then has none either.
        var offset: Int? = 0
        var page = 1
        var isOn = true

        var skipped: Int { offset ?? (page - 1) * limit }
    }

    init(body: [UInt8]) throws(ShipQueryError) {
        let value: JSONValue
        do {
            value = body.isEmpty ? [:] : try JSONParser.parse(body)
        } catch {
            throw ShipQueryError(message: "Unexpected JSON: \(error)")
        }
        guard let object = value.object else { throw ShipQueryError(message: "Expected an object") }
        filter = try ShipFilter(object["query"] ?? [:])
        guard let options = (object["options"] ?? [:]).object else {
            throw ShipQueryError(message: "options must be an object")
        }
        if options["populate"] != nil { throw ShipQueryError(message: "populate is not simulated") }
        select = try ShipSelection(options["select"])
        sort = try ShipOrder(options["sort"])
        paging = Self.paging(options)
    }

    private static func paging(_ options: JSONObject) -> Paging {
        var paging = Paging()
        paging.isOn = options["pagination"]?.bool ?? true
        // Anything but a positive number is 0, as mongoose-paginate-v2 has it.
        if let limit = options["limit"] { paging.limit = max(0, integer(limit) ?? 0) }
        if let offset = options["offset"] {
            paging.offset = max(0, integer(offset) ?? 0)
            paging.page = paging.limit > 0 ? (paging.skipped / paging.limit) + 1 : 1
        } else if let page = options["page"] {
            paging.page = max(1, integer(page) ?? 1)
            paging.offset = nil
        }
        return paging
    }

    /// Bounded, so that no product of two of them overflows.
    private static func integer(_ value: JSONValue) -> Int? {
        let number = value.double ?? value.string.flatMap { Double($0) }
        return number.map { Int(min(max($0, -1_000_000), 1_000_000)) }
    }
}

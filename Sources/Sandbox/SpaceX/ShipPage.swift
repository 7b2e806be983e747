extension ShipQuery {
    /// The page object of mongoose-paginate-v2 1.7 with its keys in the recorded order.
    func page(of ships: [JSONObject]) -> JSONValue {
        let found = sort.sorted(ships.filter(filter.matches))
        let docs: ArraySlice<JSONObject> =
            paging.isOn ? found.dropFirst(paging.skipped).prefix(paging.limit) : found[...]
        var page: JSONObject = .init(members: [
            .init(name: "docs", value: .array(docs.map { .object(select.applied(to: $0)) })),
            .init(name: "totalDocs", value: .integer(found.count)),
        ])
        if let offset = paging.offset { page["offset"] = .integer(offset) }
        for (name, value) in numbers(total: found.count) { page[name] = value }
        return .object(page)
    }

    private func numbers(total: Int) -> KeyValuePairs<String, JSONValue> {
        let pages = paging.isOn && paging.limit > 0 ? max(1, (total + paging.limit - 1) / paging.limit) : 1
        let number = paging.isOn && paging.limit > 0 ? paging.page : 1
        let previous = paging.isOn && paging.limit > 0 ? previousPage(of: number) : nil
        let next = number < pages ? number + 1 : nil
        return [
            "limit": .integer(paging.isOn ? paging.limit : total),
            "totalPages": .integer(pages),
            "page": .integer(number),
            "pagingCounter": .integer((number - 1) * paging.limit + 1),
            "hasPrevPage": .bool(previous != nil),
            "hasNextPage": .bool(next != nil),
            "prevPage": .integerOrNull(previous),
            "nextPage": .integerOrNull(next),
        ]
    }

    private func previousPage(of number: Int) -> Int? {
        if number > 1 { return number - 1 }
        // A first page that does not begin at the beginning has the first page before it.
        return (paging.offset ?? 0) > 0 ? 1 : nil
    }
}

import HTTPTypes
import JSONValues

/// Changes of the catalogue for tests and demonstrations.
extension Catalogue {
    /// Most products that can be generated.
    static let mostGenerated = 100_000

    func control(_ request: ControlRequest) throws(ControlProblem) -> UpstreamResponse {
        switch (request.path.first, request.path.count) {
        case ("products", 2):
            try request.require(.put, .delete)
            let id = try Self.id(request.path[1])
            return request.method == .put ? try patchProduct(id, with: try request.json()) : try removeProduct(id)
        case ("categories", 2):
            try request.require(.put)
            return try patchCategory(try Self.id(request.path[1]), with: try request.json())
        case ("generated", 1):
            try request.require(.put)
            let body = try request.json()
            let count = try Self.whole("count", of: body, in: 0...Self.mostGenerated, default: 1000)
            data.generate(count: count, seed: UInt64(try Self.whole("seed", of: body, in: 0...Int.max, default: 1)))
            return .json(.ok, ["products": .integer(count)])
        case ("reseeded", 1):
            try request.require(.put)
            data.reseed(shiftedBy: try Self.whole("shift", of: try request.json(), in: 0...1_000_000, default: 7))
            return .json(.ok, ["products": .integer(data.rows.products.count)])
        default:
            throw .nothing(at: ["catalogue"] + request.path)
        }
    }

    private func patchProduct(_ id: Int, with patch: JSONValue) throws(ControlProblem) -> UpstreamResponse {
        try Self.requireObject(patch)
        return data.update { rows in
            let position = rows.index(ofProduct: id)
            if position == nil {
                let blank = CatalogueProduct(
                    id: id,
                    title: "Product \(id)",
                    slug: "product-\(id)",
                    price: "1",
                    description: "",
                    categoryID: 1,
                    images: ""
                )
                rows.products.insert(blank, at: rows.products.firstIndex { $0.id > id } ?? rows.products.endIndex)
            }
            guard let index = rows.index(ofProduct: id) else { return .text(.notFound, "") }
            rows.products[index].take(patch)
            let product = rows.products[index]
            return .json(
                position == nil ? .created : .ok,
                product.json(category: rows.category(product.categoryID), origin: Self.originMarker)
            )
        }
    }

    private func removeProduct(_ id: Int) throws(ControlProblem) -> UpstreamResponse {
        try data.update { (rows) throws(ControlProblem) in
            guard let index = rows.index(ofProduct: id) else { throw .notFound("There is no product \(id).") }
            rows.products.remove(at: index)
            return .json(.ok, ["products": .integer(rows.products.count)])
        }
    }

    private func patchCategory(_ id: Int, with patch: JSONValue) throws(ControlProblem) -> UpstreamResponse {
        try Self.requireObject(patch)
        return try data.update { (rows) throws(ControlProblem) in
            guard let index = rows.categories.firstIndex(where: { $0.id == id }) else {
                throw .notFound("There is no category \(id).")
            }
            rows.categories[index].patch = rows.categories[index].patch.mergePatched(
                with: patch,
                keeping: patch.memberNames
            )
            return .json(.ok, rows.categories[index].json(origin: Self.originMarker))
        }
    }

    private static func requireObject(_ value: JSONValue) throws(ControlProblem) {
        guard value.object == nil else { return }
        throw .invalid(field: "body", value: value.excerpt, accepted: ["a JSON object"])
    }

    private static func id(_ text: String) throws(ControlProblem) -> Int {
        guard let id = Int(text), id > 0 else {
            throw .invalid(field: "id", value: text, accepted: ["a whole number from 1"])
        }
        return id
    }

    private static func whole(_ name: String, of body: JSONValue, in range: ClosedRange<Int>, default fallback: Int)
        throws(ControlProblem) -> Int
    {
        guard let value = body[name] else { return fallback }
        guard let number = value.int, range.contains(number) else {
            let accepted = ["whole number \(range.lowerBound)…\(range.upperBound)"]
            throw .invalid(field: name, value: value.excerpt, accepted: accepted)
        }
        return number
    }
}

extension CatalogueProduct {
    /// Columns that filters compare are changed as columns if the value in the patch has their type. Every other member
    /// is merged into the response.
    fileprivate mutating func take(_ patch: JSONValue) {
        if let title = patch.object?["title"]?.string { (self.title, slug) = (title, Catalogue.slug(of: title)) }
        if case .number(let price)? = patch.object?["price"] { self.price = price }
        if let category = patch.object?["category"]?.object?["id"]?.double {
            categoryID = Int(exactly: category) ?? categoryID
        }
        self.patch = self.patch.mergePatched(with: patch, keeping: patch.memberNames)
    }
}

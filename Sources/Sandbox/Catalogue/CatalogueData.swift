import Synchronization

/// The rows of the simulated catalogue. As in the real one, a reset discards what was written.
final class CatalogueData: Sendable {
    struct Rows: Sendable, Codable {
        var categories: [CatalogueCategory]
        /// By id, ascending: the order of SQLite's rows without ORDER BY.
        var products: [CatalogueProduct]

        func category(_ id: Int) -> CatalogueCategory? { categories.first { $0.id == id } }

        func index(ofProduct id: Int) -> Int? {
            var range = products.startIndex..<products.endIndex
            while !range.isEmpty {
                let middle = (range.lowerBound + range.upperBound) / 2
                if products[middle].id == id { return middle }
                range = products[middle].id < id ? middle + 1..<range.upperBound : range.lowerBound..<middle
            }
            return nil
        }

        func product(_ id: Int) -> CatalogueProduct? { index(ofProduct: id).map { products[$0] } }

        func render(_ products: some Sequence<CatalogueProduct>, origin: String) -> JSONValue {
            .array(products.map { $0.json(category: category($0.categoryID), origin: origin) })
        }
    }

    private let initial: Rows
    private let state: Mutex<Rows>

    init(initial: Rows) {
        self.initial = initial
        state = Mutex(initial)
    }

    var rows: Rows { state.withLock { $0 } }

    func reset() { state.withLock { $0 = initial } }

    /// Changes the rows, or none of them if `change` throws.
    func update<Result: Sendable, Failure: Error>(_ change: (inout Rows) throws(Failure) -> Result) throws(Failure)
        -> Result
    {
        try state.withLock { rows throws(Failure) in
            var changed = rows
            let result = try change(&changed)
            rows = changed
            return result
        }
    }

    /// Reseeds the data, as the real server does every night: the same products with other ids and another date.
    func reseed(shiftedBy shift: Int) {
        state.withLock { rows in
            rows = initial
            for index in rows.products.indices {
                rows.products[index].id += shift
                rows.products[index].createdAt = Catalogue.reseededAt
            }
        }
    }

    /// Puts generated products in place of all others.
    func generate(count: Int, seed: UInt64) {
        let generator = CatalogueGenerator(seed: seed, categories: initial.categories.map(\.id))
        let products = (0..<count).map { generator.product(number: $0) }
        state.withLock { rows in
            rows = initial
            rows.products = products
        }
    }
}

extension CatalogueData.Rows {
    /// Reads the built-in rows; nil if they are not as expected.
    init?(_ data: JSONValue) {
        guard let categories = data.object?["categories"]?.array, let products = data.object?["products"]?.array else {
            return nil
        }
        self.categories = categories.enumerated().compactMap { index, value in
            guard let name = value.object?["name"]?.string, let image = value.object?["image"]?.string else {
                return nil
            }
            return CatalogueCategory(id: index + 1, name: name, slug: Catalogue.slug(of: name), image: image)
        }
        self.products = products.enumerated().compactMap { Self.product($1, id: $0 + 1) }
        guard self.products.count == products.count, self.categories.count == categories.count else { return nil }
    }

    private static func product(_ data: JSONValue, id: Int) -> CatalogueProduct? {
        guard let row = data.object, let title = row["title"]?.string, case .number(let price)? = row["price"],
            let description = row["description"]?.string, let category = row["category"]?.double,
            let images = row["images"]?.string
        else { return nil }
        return CatalogueProduct(
            id: id,
            title: title,
            slug: Catalogue.slug(of: title),
            price: price,
            description: description,
            categoryID: Int(category),
            images: images
        )
    }
}

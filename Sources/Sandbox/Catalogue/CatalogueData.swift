import Foundation
import HTTPTypes
import JSONValues
import Synchronization

/// The rows of the simulated catalogue. As in the real one, a reset discards all writes.
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

/// A category as the catalogue keeps it.
struct CatalogueCategory: Sendable, Equatable, Codable {
    var id: Int
    var name: String
    var slug: String
    var image: String
    /// Members that a test has put over the rendered ones (RFC 7396; null sets a column to null).
    var patch: JSONValue = .object(JSONObject())

    func json(origin: String) -> JSONValue {
        let rendered: JSONValue = [
            "id": .integer(id), "name": .string(name), "slug": .string(slug),
            "image": .string(Catalogue.absolute(image, origin)),
            "creationAt": .string(Catalogue.seededAt), "updatedAt": .string(Catalogue.seededAt),
        ]
        return rendered.mergePatched(with: patch, keeping: rendered.memberNames)
    }
}

/// A product as the catalogue stores it: the columns of its table.
struct CatalogueProduct: Sendable, Equatable, Codable {
    var id: Int
    var title: String
    var slug: String
    /// As it was sent; the only check is that it is positive.
    var price: String
    var description: String
    var categoryID: Int
    /// All URLs in one column, joined by commas. The text of a JSON array is split at its commas when it is read.
    var images: String
    /// When the row was created; a reseed changes it.
    var createdAt = Catalogue.seededAt
    /// Members that a test has put over the rendered ones (RFC 7396; null sets a column to null).
    var patch: JSONValue = .object(JSONObject())

    func json(category: CatalogueCategory?, origin: String) -> JSONValue {
        let pictures = images.isEmpty ? [] : images.split(separator: ",", omittingEmptySubsequences: false)
        let rendered: JSONValue = [
            "id": .integer(id), "title": .string(title), "slug": .string(slug), "price": .number(price),
            "description": .string(description),
            "category": category?.json(origin: origin) ?? .null,
            "images": .array(pictures.map { .string(Catalogue.absolute(String($0), origin)) }),
            "creationAt": .string(createdAt), "updatedAt": .string(createdAt),
        ]
        return rendered.mergePatched(with: patch, keeping: rendered.memberNames)
    }
}

extension Catalogue {
    /// Placeholder of the sandbox's own origin in the data; the origin is known only when the sandbox listens.
    static let originMarker = "{origin}"

    static func absolute(_ address: String, _ origin: String) -> String {
        address.replacing(originMarker, with: origin)
    }

    /// A title as the last part of a URL: lower case, without accents, everything but Latin letters and digits replaced
    /// by hyphens. Empty for a title without any.
    static func slug(of title: String) -> String {
        let plain = title.lowercased().decomposedStringWithCanonicalMapping.unicodeScalars.filter {
            !(0x300...0x36F).contains($0.value)
        }
        let words = plain.split { !($0.isASCII && ($0.properties.isAlphabetic || $0.properties.numericType != nil)) }
        return words.map { String(String.UnicodeScalarView($0)) }.joined(separator: "-")
    }
}

extension JSONValue {
    var memberNames: [String] { object?.members.map(\.name) ?? [] }
}

/// An unlimited number of products: the n-th of a seed is always the same, whatever else is requested.
struct CatalogueGenerator: Sendable {
    let seed: UInt64
    let categories: [Int]

    /// The product of a number from 0; its id is one more.
    func product(number: Int) -> CatalogueProduct {
        let isRussian = draw(number, 0, 4) == 0
        let (qualities, colors, things) = isRussian ? Self.russian : Self.english
        let words = [
            qualities[draw(number, 1, qualities.count)], colors[draw(number, 2, colors.count)],
            things[draw(number, 3, things.count)],
        ]
        let title = "\(words.joined(separator: " ")) \(number + 1)"
        let cents = draw(number, 4, 100_000) + 1
        return CatalogueProduct(
            id: number + 1,
            title: title,
            slug: Catalogue.slug(of: title),
            price: cents % 4 == 0
                ? "\(cents / 100).\(cents % 100 < 10 ? "0" : "")\(cents % 100)" : "\(cents / 100 + 1)",
            description: isRussian ? "\(title): сделано для проверки." : "\(title), made for tests.",
            categoryID: categories.isEmpty ? 1 : categories[draw(number, 5, categories.count)],
            images: "\(Catalogue.originMarker)/catalogue/images/generated-\(draw(number, 6, 50)).png"
        )
    }

    private func draw(_ number: Int, _ purpose: UInt64, _ bound: Int) -> Int {
        SplitMix64.number(seed: seed, index: UInt64(number) &* 8 &+ purpose, below: bound)
    }

    private static let english = (
        ["Soft", "Classic", "Modern", "Vintage", "Sleek", "Cozy", "Sturdy", "Portable", "Handmade", "Light"],
        ["Red", "Blue", "Green", "White", "Black", "Grey", "Amber", "Olive", "Navy", "Ivory"],
        [
            "Shirt", "Hoodie", "Lamp", "Sofa", "Sneakers", "Mug", "Headphones", "Keyboard", "Backpack", "Table",
            "Chair", "Camera",
        ]
    )

    private static let russian = (
        ["Мягкий", "Новый", "Тёплый", "Лёгкий", "Прочный", "Домашний"],
        ["красный", "синий", "зелёный", "белый", "чёрный", "серый"],
        ["свитер", "диван", "чайник", "рюкзак", "светильник", "стол", "плед", "шарф"]
    )
}

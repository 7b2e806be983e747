import Foundation
import Upstream

/// The id of a product as the API sends it; nil if it is none.
struct ProductID: Decodable, Sendable {
    let value: Int?

    private enum Key: CodingKey { case id }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        value = (try? fields.decode(Int.self, forKey: .id)).flatMap { Product.ids.contains($0) ? $0 : nil }
    }
}

/// One product as the API sends it. Anyone may write to that API: any field may be missing, null, of another type or
/// have any content.
struct ProductRecord: Decodable, Sendable {
    /// The id; nil if it has none.
    let id: Int?
    /// The product; nil if it cannot be shown, without an id, a title or a price.
    let product: Product?

    private enum Key: String, CodingKey {
        case id, title, slug, price, description, category, images, creationAt
    }

    private enum CategoryKey: String, CodingKey {
        case id, name
    }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        id = try ProductID(from: decoder).value
        guard let id, let title = Self.text(fields, .title, longest: Product.maximumTitleLength),
            let price = Self.price(fields)
        else {
            product = nil
            return
        }
        product = Product(
            id: id,
            title: title,
            description: Self.text(fields, .description, longest: Product.maximumDescriptionLength, keepsLines: true)
                ?? "",
            price: price,
            category: Self.category(fields),
            images: ImageAddresses.clean(
                ((try? fields.decode(TolerantList<String>.self, forKey: .images))?.values ?? []).compactMap(\.self)
            ),
            slug: Self.text(fields, .slug, longest: Product.maximumTitleLength),
            madeAt: Self.text(fields, .creationAt, longest: 64)
        )
    }

    private static func text(
        _ fields: KeyedDecodingContainer<Key>,
        _ key: Key,
        longest: Int,
        keepsLines: Bool = false
    ) -> String? {
        (try? fields.decode(String.self, forKey: key))?.rowText(longest: longest, keepsLines: keepsLines)
    }

    /// A number, or a text of one.
    private static func price(_ fields: KeyedDecodingContainer<Key>) -> Price? {
        if let number = try? fields.decode(Decimal.self, forKey: .price) { return Price(number) }
        return (try? fields.decode(String.self, forKey: .price)).flatMap {
            Price(text: $0.trimmingCharacters(in: .whitespaces))
        }
    }

    private static func category(_ fields: KeyedDecodingContainer<Key>) -> Product.Category? {
        guard let category = try? fields.nestedContainer(keyedBy: CategoryKey.self, forKey: .category),
            let id = try? category.decode(Int.self, forKey: .id), Product.Category.ids.contains(id)
        else { return nil }
        let name = try? category.decode(String.self, forKey: .name)
        return Product.Category(id: id, name: name?.rowText(longest: Product.maximumTitleLength) ?? "")
    }
}

/// One category as the API sends it.
struct CategoryRecord: Decodable, Sendable {
    let category: Product.Category

    private enum Key: String, CodingKey {
        case id, name, image
    }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        let id = try fields.decode(Int.self, forKey: .id)
        let name = try fields.decode(String.self, forKey: .name).rowText(longest: Product.maximumTitleLength)
        guard Product.Category.ids.contains(id), let name else {
            throw DecodingError.dataCorruptedError(forKey: .name, in: fields, debugDescription: "no id or no name")
        }
        let image = try? fields.decode(String.self, forKey: .image)
        category = Product.Category(id: id, name: name, image: image.flatMap { ImageAddresses.clean([$0]).first })
    }
}

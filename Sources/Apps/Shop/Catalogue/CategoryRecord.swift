import Foundation

/// One category as the API sends it.
struct CategoryRecord: Decodable, Sendable {
    let category: Product.Category

    private enum Key: String, CodingKey {
        case id, name
    }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        let name = try fields.decode(String.self, forKey: .name).replacing("\0", with: "")
        category = Product.Category(
            id: try fields.decode(Int.self, forKey: .id),
            name: String(name.prefix(Product.maximumTitleLength))
        )
        guard category.id > 0, !category.name.allSatisfy(\.isWhitespace) else {
            throw DecodingError.dataCorruptedError(forKey: .name, in: fields, debugDescription: "no id or no name")
        }
    }
}

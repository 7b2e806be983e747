import Foundation
import Upstream

/// One category as the API sends it.
struct CategoryRecord: Decodable, Sendable {
    let category: Product.Category

    private enum Key: String, CodingKey {
        case id, name
    }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        let id = try fields.decode(Int.self, forKey: .id)
        let name = try fields.decode(String.self, forKey: .name).rowText(longest: Product.maximumTitleLength)
        guard id > 0, let name else {
            throw DecodingError.dataCorruptedError(forKey: .name, in: fields, debugDescription: "no id or no name")
        }
        category = Product.Category(id: id, name: name)
    }
}

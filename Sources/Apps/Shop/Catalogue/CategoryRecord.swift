import Foundation
import Upstream

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
        guard id > 0, let name else {
            throw DecodingError.dataCorruptedError(forKey: .name, in: fields, debugDescription: "no id or no name")
        }
        let image = try? fields.decode(String.self, forKey: .image)
        category = Product.Category(id: id, name: name, image: image.flatMap { ImageAddresses.clean([$0]).first })
    }
}

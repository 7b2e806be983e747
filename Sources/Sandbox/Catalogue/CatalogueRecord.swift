import Foundation

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
    /// Names of an object's members.
    var memberNames: [String] { object?.members.map(\.name) ?? [] }
}

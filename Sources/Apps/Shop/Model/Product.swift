import Foundation

/// A product as the app stores it: the fields of its screens, without the upstream's quirks.
struct Product: Sendable, Equatable {
    struct Category: Sendable, Equatable {
        var id: Int
        var name: String
        /// Absolute URL, never sent to a client; only of a category that the catalogue has listed.
        var image: String?
    }

    /// The upstream's id. It may be another product the next day: the upstream is reset every night and reuses ids.
    var id: Int
    var title: String
    var description: String
    var price: Price
    var category: Category?
    /// Absolute http(s) URLs in their order, without duplicates; never sent to a client.
    var images: [String]
    /// The upstream's word for the product, made of its title; nil if unknown. Like the title it outlives the nightly
    /// reset, which gives the product another id.
    var slug: String?
    /// When the upstream created the row, in its own form; nil if unknown. Two rows of one id and different titles are
    /// the same product only if this is equal.
    var madeAt: String?

    /// Length to which titles are cut, in characters; the API has no limit.
    static let maximumTitleLength = 500
    /// Length to which descriptions are cut, in characters.
    static let maximumDescriptionLength = 20_000
    /// Most pictures of a product that are stored.
    static let maximumImages = 50

    /// Whether a row of the same id that was seen at another time is this product, not another one that has its id now.
    func isSame(as other: Product) -> Bool {
        id == other.id && isSame(asTitle: other.title, madeAt: other.madeAt)
    }

    /// As ``isSame(as:)``, for a row of the same id.
    func isSame(asTitle title: String, madeAt: String?) -> Bool {
        self.title == title || (self.madeAt != nil && self.madeAt == madeAt)
    }
}

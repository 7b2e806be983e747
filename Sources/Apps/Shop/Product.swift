import Foundation

/// A product as the app keeps it: what its screens show, cleaned of the upstream's quirks.
struct Product: Sendable, Equatable {
    struct Category: Sendable, Equatable {
        var id: Int
        var name: String
    }

    /// The upstream's id. Not an identity over days: the upstream forgets everything each night and gives ids anew.
    var id: Int
    var title: String
    var description: String
    var price: Price
    var category: Category?
    /// Absolute http(s) addresses, in order, none twice; never given to a client.
    var images: [String]
    /// When the upstream made the row, as it says; nil where it does not. Two rows of one id and different titles are
    /// one product only if this agrees.
    var madeAt: String?

    /// Longest title that is kept, in characters; the API has no limit.
    static let longestTitle = 500
    /// The same for descriptions.
    static let longestDescription = 20_000
    /// Most pictures that are kept.
    static let mostImages = 50

    /// Whether a row of the same id that was seen at another time is this product, rather than one that was given its
    /// id later.
    func isSame(asTitle title: String, madeAt: String?) -> Bool {
        self.title == title || (self.madeAt != nil && self.madeAt == madeAt)
    }
}

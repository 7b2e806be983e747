import Foundation
import HTTP
import Screens

/// A product as the app stores it: the fields of its screens, without the upstream's quirks.
struct Product: Sendable, Equatable {
    struct Category: Sendable, Equatable {
        /// Those that searches and filters take.
        static let ids = 1...Int(Int32.max)

        var id: Int
        var name: String
        /// Absolute URL, never sent to a client; only of a category that the catalogue has listed.
        var image: String?
    }

    /// Greater ones are not exact in JavaScript (RFC 7493 §2.2).
    static let ids = 1...9_007_199_254_740_991

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

/// A price in dollars, exact: sums of fractional prices have no rounding errors.
struct Price: Sendable, Hashable, Comparable, Codable {
    let amount: Decimal

    /// The highest price; sums of a whole list of these are still exact.
    static let maximum = Decimal(sign: .plus, exponent: 30, significand: 1)

    /// Nil if the amount is not a price: negative, not a number, longer than ``maximumLength``, or above ``maximum``.
    init?(_ amount: Decimal) {
        guard !amount.isNaN, amount >= 0, amount <= Self.maximum, amount.description.utf8.count <= Self.maximumLength
        else {
            return nil
        }
        self.amount = amount
    }

    /// Maximum length of a price as text, in bytes: every price that is written can be read again.
    static let maximumLength = 40

    /// Reads a price from the store; earlier builds wrote longer ones.
    init?(stored text: String) {
        guard let amount = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")), !amount.isNaN, amount >= 0
        else {
            return nil
        }
        self.amount = amount
    }

    /// Reads digits with at most one point between them, as in `9` and `9.99`.
    init?(text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), text.utf8.count <= Self.maximumLength,
            parts.allSatisfy(\.isDigits),
            let amount = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))
        else { return nil }
        self.init(amount)
    }

    /// The text of the price on screens: `44$`, `19.99$`.
    var text: Text { .price(amount) }

    /// The nearest binary number, for comparisons in SQL.
    var approximation: Double { Double(amount.description) ?? 0 }

    static func < (a: Price, b: Price) -> Bool { a.amount < b.amount }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let price = Price(try container.decode(Decimal.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a price")
        }
        self = price
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(amount)
    }
}

import Foundation
import HTTP
import Screens

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

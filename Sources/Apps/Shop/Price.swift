import Foundation
import HTTPSemantics

/// A price in dollars, exact: sums of fractional prices have no rounding errors.
struct Price: Sendable, Hashable, Comparable, Codable {
    let amount: Decimal

    /// Most that counts as a price; sums of a whole list of these are still exact.
    static let most = Decimal(sign: .plus, exponent: 30, significand: 1)

    /// Nil for what is no price: negative, not a number, with more digits than ``longest``, or beyond what can be
    /// computed exactly.
    init?(_ amount: Decimal) {
        guard !amount.isNaN, amount >= 0, amount <= Self.most, amount.description.utf8.count <= Self.longest else {
            return nil
        }
        self.amount = amount
    }

    /// Most bytes of a price as text: no price is written that could not be read again.
    static let longest = 40

    /// A price as the store has it; earlier builds have written longer ones.
    init?(stored text: String) {
        guard let amount = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")), !amount.isNaN, amount >= 0
        else {
            return nil
        }
        self.amount = amount
    }

    /// Digits with at most one point between them, as in `9` and `9.99`.
    init?(text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), text.utf8.count <= Self.longest,
            parts.allSatisfy(\.isDigits),
            let amount = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))
        else { return nil }
        self.init(amount)
    }

    /// As the app writes it: `44$`, `19.99$`.
    var text: String { "\(amount)$" }

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

import Crypto
import Foundation
import HTTPSemantics
import HTTPTypes

/// `http.operator_key`: who has it operates the server from elsewhere, as local requests do.
package struct OperatorKey: Sendable, Equatable {
    /// The fewest characters.
    package static let shortest = 32

    private let hash: Data

    /// Takes a key; nil if it is too short to withstand guesses.
    package init?(_ text: String) {
        guard text.utf8.count >= Self.shortest else { return nil }
        hash = Self.hash(text)
    }

    /// Whether a request has the key, in `Larder-Operator`.
    func opens(_ fields: HTTPFields) -> Bool {
        let values = fields[values: .larderOperator]
        guard values.count == 1, let value = values.first else { return false }
        // Hashes, of which nothing is learnt by the time that a comparison takes.
        return Self.hash(value) == hash
    }

    private static func hash(_ text: String) -> Data {
        Data(SHA256.hash(data: Data("larder operator ".utf8) + text.utf8))
    }
}

extension HTTPField.Name {
    /// `Larder-Operator`: the key of the operator.
    static let larderOperator = HTTPField.Name(literal: "Larder-Operator")
}

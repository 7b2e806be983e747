package import Foundation

extension JSONEncoder {
    /// An encoder with the settings that the form on the wire stands for: the judge of what is written without it.
    package static var wire: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        return encoder
    }

    /// Encodes a value as text.
    ///
    /// - Throws: `EncodingError`.
    package func text(_ value: some Encodable) throws -> String { String(decoding: try encode(value), as: UTF8.self) }
}

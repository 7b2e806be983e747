package import Foundation

extension JSONEncoder {
    /// Foundation's encoder with the settings of the wire format, to compare Larder's own encoders with.
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

package import Foundation

/// Converts values to bytes: JSON, UTF-8, snake_case, sorted keys, RFC 3339 UTC times. Equal values give equal bytes,
/// so a body can be hashed and stored.
package enum WireFormat {
    /// Encodes a value.
    /// - Throws: `EncodingError`.
    package static func encode(_ value: some Encodable) throws -> Data {
        var json = JSONWriter()
        try json.encode(value)
        return Data(json.bytes)
    }

    /// Decodes a value with snake_case names.
    /// - Throws: `DecodingError`.
    package static func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(type, from: data)
    }

    /// Returns RFC 3339 in UTC with whole seconds, such as `2026-01-05T10:00:00Z`.
    package static func timestamp(_ date: Date) -> String {
        guard let time = CivilTime(date) else { return date.formatted(Date.ISO8601FormatStyle(timeZone: .gmt)) }
        return time.text("YYYY-MM-DDThh:mm:ssZ")
    }
}

/// JSON within a saved state is kept as its text: members keep their order, and numbers their spelling.
extension JSONValue: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        do {
            self = try JSONParser.parse(Array(try container.decode(String.self).utf8))
        } catch let error as JSONSyntaxError {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: error.description)
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(String(decoding: serialized(), as: UTF8.self))
    }
}

extension JSONObject: Codable {
    package init(from decoder: any Decoder) throws { self = try JSONValue(from: decoder).object ?? JSONObject() }

    package func encode(to encoder: any Encoder) throws { try JSONValue.object(self).encode(to: encoder) }
}

extension Text: JSONWritable {
    /// Writes the text in the language of the response.
    package func write(to json: inout JSONWriter) { json.value(self[json.language]) }

    /// Encodes the text in the language of the response.
    ///
    /// - Throws: What the encoder throws.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(self[Language.current])
    }
}

extension JSONWriter {
    /// Writes a text in the language of the response.
    package mutating func value(_ text: Text) { value(text[language]) }

    /// Writes a member in the language of the response.
    package mutating func member(_ name: StaticString, _ text: Text?) { member(name, text?[language]) }

    /// Writes a member whose texts are in the language of the response.
    package mutating func member(_ name: StaticString, _ texts: [Text]) {
        let language = language
        member(name, texts.map { $0[language] })
    }
}

/// The body of every 2xx response of a screen (docs/contract.md, "Envelope").
package struct Envelope<Content: Encodable & Sendable>: Encodable, Sendable {
    /// What the screen shows.
    package var data: Content
    /// Metadata.
    package var meta: Meta
    /// Links.
    package var links: Links

    /// Creates an envelope.
    package init(data: Content, meta: Meta, links: Links) {
        self.data = data
        self.meta = meta
        self.links = links
    }
}

/// `links` of the envelope.
package struct Links: Encodable, Sendable, Equatable {
    /// This response.
    package var `self`: Link
    /// The next page, or null.
    @Nullable package var next: Link?

    /// Creates links.
    package init(self own: Link, next: Link? = nil) {
        self.`self` = own
        _next = Nullable(wrappedValue: next)
    }
}

extension Envelope: JSONWritable {
    /// Writes the members in order.
    ///
    /// - Throws: `EncodingError` for a value that JSON has no form for.
    package func write(to json: inout JSONWriter) throws {
        json.beginObject()
        json.name("data")
        try json.encode(data)
        try json.member("links", links)
        try json.member("meta", meta)
        json.endObject()
    }
}

extension Links: JSONWritable {
    /// Writes the members in order.
    package func write(to json: inout JSONWriter) {
        json.beginObject()
        json.member("next", next)
        json.member("self", self.`self`)
        json.endObject()
    }
}

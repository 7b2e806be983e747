/// What a front end shows if a screen has no content.
public struct EmptyState: Encodable, Sendable, Equatable {
    /// Heading.
    public let title: String
    /// Text below the heading; may be empty.
    public let text: String
    /// Title of the button below the text.
    public let button: String

    /// Creates an empty state.
    public init(title: String, text: String, button: String) {
        self.title = title
        self.text = text
        self.button = button
    }
}

extension EmptyState: JSONWritable {
    /// Writes the members in order.
    public func write(to json: inout JSONWriter) {
        json.beginObject()
        json.member("button", button)
        json.member("text", text)
        json.member("title", title)
        json.endObject()
    }
}

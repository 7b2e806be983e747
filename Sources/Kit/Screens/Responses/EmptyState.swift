/// What a front end shows if a screen has no content.
public struct EmptyState: Encodable, Sendable, Equatable {
    /// Heading.
    public let title: Text
    /// Text below the heading; may be empty.
    public let text: Text
    /// Title of the button below the text.
    public let button: Text

    /// Creates an empty state.
    public init(title: Text, text: Text, button: Text) {
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

/// What a front end shows if a screen has no content.
package struct EmptyState: Encodable, Sendable, Equatable {
    /// Heading.
    package let title: Text
    /// Text below the heading; may be empty.
    package let text: Text
    /// Title of the button below the text.
    package let button: Text
    /// What the button does; nil for what only the front end knows, such as to close the screen.
    package let action: Action?

    /// Creates an empty state.
    package init(title: Text, text: Text, button: Text, action: Action? = nil) {
        self.title = title
        self.text = text
        self.button = button
        self.action = action
    }

    /// Creates an empty state whose button is an action.
    package init(title: Text, text: Text, action: Action) {
        self.init(title: title, text: text, button: action.title, action: action)
    }
}

extension EmptyState: JSONWritable {
    /// Writes the members in order.
    ///
    /// - Throws: `EncodingError` for a value that JSON has no form for.
    package func write(to json: inout JSONWriter) throws {
        json.beginObject()
        if let action { try json.member("action", action) }
        json.member("button", button)
        json.member("text", text)
        json.member("title", title)
        json.endObject()
    }
}

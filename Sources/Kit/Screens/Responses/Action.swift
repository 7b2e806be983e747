/// A button of a screen: `data.actions[]` (docs/contract.md, "Envelope").
package struct Action: Encodable, Sendable, Equatable {
    /// A confirmation.
    package struct Confirmation: Encodable, Sendable, Equatable {
        /// The question.
        package var message: Text
        /// Buttons, the confirming one first.
        package var buttons: [Text]

        /// Creates a question.
        package init(message: Text, buttons: [Text]) {
            self.message = message
            self.buttons = buttons
        }
    }

    /// Name for programs.
    package var id: String
    /// Name for people.
    package var title: Text
    /// Method of the request that does it.
    package var method: String
    /// Target of that request.
    package var href: Link
    /// Constant members of the JSON body of that request; absent if it has none.
    package var body: [String: Constant]?
    /// Members that the user fills in; absent if there are none.
    package var fields: [Field]?
    /// Header fields of that request, by name; absent if it needs none.
    package var headers: [String: String]?
    /// Whether it can be done now.
    package var enabled: Bool
    /// Why it cannot be done now, for people; absent if it can.
    package var disabledReason: Text?
    /// The confirmation, or null.
    @Nullable package var confirm: Confirmation?

    /// Creates a button.
    ///
    /// - Parameter reason: Why it cannot be done now; nil if it can.
    package init(
        id: String,
        title: Text,
        method: String,
        href: Link,
        body: [String: Constant]? = nil,
        fields: [Field]? = nil,
        headers: [String: String]? = nil,
        disabled reason: Text? = nil,
        confirm: Confirmation? = nil
    ) {
        self.id = id
        self.title = title
        self.method = method
        self.href = href
        self.body = body
        self.fields = fields
        self.headers = headers
        enabled = reason == nil
        disabledReason = reason
        _confirm = Nullable(wrappedValue: confirm)
    }
}

extension Action {
    /// Returns an action that shows another screen, or reloads this one.
    package static func show(_ id: String, _ title: Text, _ href: Link) -> Action {
        Action(id: id, title: title, method: "GET", href: href)
    }
}

extension Action: JSONWritable {
    /// Writes the members in order.
    ///
    /// - Throws: `EncodingError` for a value that JSON has no form for.
    package func write(to json: inout JSONWriter) throws {
        json.beginObject()
        if let body {
            json.name("body")
            json.beginObject()
            for (name, value) in body.sorted(by: { $0.key < $1.key }) {
                json.name(name)
                value.write(to: &json)
            }
            json.endObject()
        }
        try json.member("confirm", confirm)
        if let disabledReason { json.member("disabled_reason", disabledReason) }
        json.member("enabled", enabled)
        if let fields { try json.member("fields", fields) }
        if let headers {
            json.name("headers")
            json.beginObject()
            for (name, value) in headers.sorted(by: { $0.key < $1.key }) {
                json.name(name)
                json.value(value)
            }
            json.endObject()
        }
        json.member("href", href)
        json.member("id", id)
        json.member("method", method)
        json.member("title", title)
        json.endObject()
    }
}

extension Action.Confirmation: JSONWritable {
    /// Writes the members in order.
    package func write(to json: inout JSONWriter) {
        json.beginObject()
        json.member("buttons", buttons)
        json.member("message", message)
        json.endObject()
    }
}

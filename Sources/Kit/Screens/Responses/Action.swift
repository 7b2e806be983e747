/// A button of a screen: `data.actions[]` (docs/contract.md, "Envelope").
public struct Action: Encodable, Sendable, Equatable {
    /// A confirmation.
    public struct Confirmation: Encodable, Sendable, Equatable {
        /// The question.
        public var message: String
        /// Buttons, the confirming one first.
        public var buttons: [String]

        /// Creates a question.
        public init(message: String, buttons: [String]) {
            self.message = message
            self.buttons = buttons
        }
    }

    /// Name for programs.
    public var id: String
    /// Name for people.
    public var title: String
    /// Method of the request that does it.
    public var method: String
    /// Target of that request.
    public var href: String
    /// Members of the JSON body of that request; absent if it has none.
    public var body: [String: Int]?
    /// Whether it can be done now.
    public var enabled: Bool
    /// The confirmation, or null.
    @Nullable public var confirm: Confirmation?

    /// Creates a button.
    public init(
        id: String,
        title: String,
        method: String,
        href: String,
        body: [String: Int]? = nil,
        enabled: Bool = true,
        confirm: Confirmation? = nil
    ) {
        self.id = id
        self.title = title
        self.method = method
        self.href = href
        self.body = body
        self.enabled = enabled
        _confirm = Nullable(wrappedValue: confirm)
    }
}

extension Action: JSONWritable {
    /// Writes the members in order.
    ///
    /// - Throws: `EncodingError` for a value that JSON has no form for.
    public func write(to json: inout JSONWriter) throws {
        json.beginObject()
        if let body {
            json.name("body")
            json.beginObject()
            for (name, value) in body.sorted(by: { $0.key < $1.key }) {
                json.name(name)
                json.value(value)
            }
            json.endObject()
        }
        try json.member("confirm", confirm)
        json.member("enabled", enabled)
        json.member("href", href)
        json.member("id", id)
        json.member("method", method)
        json.member("title", title)
        json.endObject()
    }
}

extension Action.Confirmation: JSONWritable {
    /// Writes the members in order.
    public func write(to json: inout JSONWriter) {
        json.beginObject()
        json.member("buttons", buttons)
        json.member("message", message)
        json.endObject()
    }
}

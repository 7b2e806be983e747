/// A notification above a screen's content.
package struct Banner: Encodable, Sendable, Equatable {
    /// When a front end removes it.
    package enum Dismissal: Sendable, Equatable {
        /// With the next response without it, once the upstream can be reached.
        case online
        /// With the next response without it, once the user has decided.
        case resolved
        /// After a number of seconds.
        case after(seconds: Int)
    }

    /// What it is about, such as `offline`.
    package var code: String
    /// Text.
    package var text: Text
    /// When it is removed.
    package var dismissal: Dismissal

    /// Creates a banner.
    package init(code: String, text: Text, dismissal: Dismissal) {
        self.code = code
        self.text = text
        self.dismissal = dismissal
    }

    private enum CodingKeys: CodingKey {
        case code, text, dismiss, afterS
    }

    /// Returns the notification that writes do not get on without the user.
    static func needsDecision(_ count: Int) -> Banner {
        Banner(code: "needs-decision", text: .needsDecision(count), dismissal: .resolved)
    }

    private var dismiss: String {
        switch dismissal {
        case .online: "on_online"
        case .resolved: "on_resolved"
        case .after: "after_s"
        }
    }

    /// Writes `dismiss`, and the seconds beside `after_s`.
    ///
    /// - Throws: What the encoder throws.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(code, forKey: .code)
        try container.encode(text, forKey: .text)
        try container.encode(dismiss, forKey: .dismiss)
        if case .after(let seconds) = dismissal { try container.encode(seconds, forKey: .afterS) }
    }
}

extension Banner: JSONWritable {
    /// Writes the members in order.
    package func write(to json: inout JSONWriter) {
        json.beginObject()
        if case .after(let seconds) = dismissal { json.member("after_s", seconds) }
        json.member("code", code)
        json.member("dismiss", dismiss)
        json.member("text", text)
        json.endObject()
    }
}

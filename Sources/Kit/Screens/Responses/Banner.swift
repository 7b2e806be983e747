/// A notification above a screen's content.
public struct Banner: Encodable, Sendable, Equatable {
    /// When a front end removes it.
    public enum Dismissal: Sendable, Equatable {
        /// With the next response without it.
        case online
        /// After a number of seconds.
        case after(seconds: Int)
    }

    /// What it is about, such as `offline`.
    public var code: String
    /// Text.
    public var text: Text
    /// When it is removed.
    public var dismissal: Dismissal

    /// Creates a banner.
    public init(code: String, text: Text, dismissal: Dismissal) {
        self.code = code
        self.text = text
        self.dismissal = dismissal
    }

    private enum CodingKeys: CodingKey {
        case code, text, dismiss, afterS
    }

    /// Writes `dismiss` as `on_online`, or as `after_s` beside the seconds.
    ///
    /// - Throws: What the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(code, forKey: .code)
        try container.encode(text, forKey: .text)
        switch dismissal {
        case .online:
            try container.encode("on_online", forKey: .dismiss)
        case .after(let seconds):
            try container.encode("after_s", forKey: .dismiss)
            try container.encode(seconds, forKey: .afterS)
        }
    }
}

extension Banner: JSONWritable {
    /// Writes the members in order.
    public func write(to json: inout JSONWriter) {
        json.beginObject()
        if case .after(let seconds) = dismissal { json.member("after_s", seconds) }
        json.member("code", code)
        json.member("dismiss", dismissal == .online ? "on_online" : "after_s")
        json.member("text", text)
        json.endObject()
    }
}

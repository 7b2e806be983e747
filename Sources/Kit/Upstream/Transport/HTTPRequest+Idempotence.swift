import HTTPTypes

extension HTTPRequest.Method {
    /// Whether the method is idempotent (RFC 9110 §9.2.2).
    var isIdempotent: Bool { [.get, .head, .options, .trace, .put, .delete].contains(self) }
}

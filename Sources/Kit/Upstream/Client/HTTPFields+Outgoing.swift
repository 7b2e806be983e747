import HTTPSemantics
public import HTTPTypes

extension HTTPFields {
    /// Adds `User-Agent`, which RFC 9110 §10.1.5 asks of every user agent; services may refuse requests without it.
    mutating func nameUserAgent() {
        if self[.userAgent] == nil { self[.userAgent] = "Larder" }
    }

    /// Removes credentials. They belong to the upstream's own origin and never leave for another.
    mutating func removeCredentials() {
        for name in [.authorization, .cookie, .apiKey] as [HTTPField.Name] { self[name] = nil }
    }
}

extension HTTPField.Name {
    /// `X-API-Key`: the credential of services without a scheme of RFC 9110.
    public static let apiKey = HTTPField.Name(literal: "X-API-Key")
}

/// What the browser that has sent a request may do with cookies (decision 114).
public struct BrowserRules: Sendable, Equatable {
    /// Whether cookies in the request count: it comes from a page of this server or from the user's own input; one that
    /// does not say so only reads.
    public let sendsCookies: Bool
    /// Whether the response may set cookies: no page of another origin has sent the request.
    public let mayGetCookies: Bool
    /// Whether the browser uses https.
    public let isSecure: Bool

    /// Rules for a request whose cookies do not count.
    public init(sendsCookies: Bool = false, mayGetCookies: Bool = false, isSecure: Bool = false) {
        self.sendsCookies = sendsCookies
        self.mayGetCookies = mayGetCookies
        self.isSecure = isSecure
    }
}

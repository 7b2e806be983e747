public import HTTPTypes

/// Field names that caching speaks of and `HTTPTypes` does not list.
extension HTTPField.Name {
    /// `Pragma`, of which only the request's `no-cache` ever meant anything. RFC 9111 §5.4.
    static let pragma = known("Pragma")
    /// `Keep-Alive`. RFC 9110 §7.6.1: hop-by-hop.
    static let keepAlive = known("Keep-Alive")
    /// `Proxy-Connection`. RFC 9110 §7.6.1: hop-by-hop.
    static let proxyConnection = known("Proxy-Connection")
    /// `Accept-Charset`. RFC 9110 §12.5.2.
    static let acceptCharset = known("Accept-Charset")
    /// `Cache-Status`. RFC 9211.
    public static let cacheStatus = known("Cache-Status")
    /// `CDN-Cache-Control`, the targeted field for caches that serve an origin. RFC 9213 §3.
    public static let cdnCacheControl = known("CDN-Cache-Control")

    /// `name` must be a token, which a test assures: the other branch is there because the initialiser cannot know.
    private static func known(_ name: String) -> HTTPField.Name {
        HTTPField.Name(name) ?? .trailer
    }
}

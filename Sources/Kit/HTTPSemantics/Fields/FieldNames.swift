public import HTTPTypes

/// Field names of caching and negotiation that `HTTPTypes` does not list.
extension HTTPField.Name {
    /// `Pragma`, of which only the request's `no-cache` ever had a meaning. RFC 9111 §5.4.
    public static let pragma = Self(literal: "Pragma")
    /// `Keep-Alive`. RFC 9110 §7.6.1: hop-by-hop.
    static let keepAlive = Self(literal: "Keep-Alive")
    /// `Proxy-Connection`. RFC 9110 §7.6.1: hop-by-hop.
    static let proxyConnection = Self(literal: "Proxy-Connection")
    /// `Accept-Charset`. RFC 9110 §12.5.2.
    public static let acceptCharset = Self(literal: "Accept-Charset")
    /// `Cache-Status`. RFC 9211.
    public static let cacheStatus = Self(literal: "Cache-Status")
    /// `CDN-Cache-Control`, the targeted field for caches that serve an origin. RFC 9213 §3.
    public static let cdnCacheControl = Self(literal: "CDN-Cache-Control")
}

import HTTPSemantics
public import HTTPTypes

/// Which web origins may use this server from a browser (Fetch Standard, CORS protocol).
///
/// Reading is left to the browser, which hides responses without `Access-Control-Allow-Origin`. Writing from a foreign
/// origin is refused here, since it would have its effect although the page cannot see the response.
public struct OriginRules: Sendable, Equatable {
    /// Origins that `http.allowed_origins` lists, lower case; `*` allows every origin.
    public let allowedOrigins: Set<String>
    /// Origins of this server behind proxies, lower case.
    private let ownOrigins: Set<String>
    /// Scheme by which clients reach this server itself: `http` or `https`.
    private let scheme: String

    /// Rules for a list of origins such as `https://shop.example`.
    /// - Parameters:
    ///   - allowed: origins of other servers whose pages may read and write here
    ///   - own: this server's origins, other than the scheme and the `Host` of a request
    ///   - scheme: how clients come to this server itself: `http` or `https`
    public init(allowed: [String], own: [String] = [], scheme: String = "http") {
        self.scheme = scheme
        allowedOrigins = Set(allowed.map { $0.lowercased() })
        ownOrigins = Set(own.map { $0.lowercased() })
    }

    /// Whether an origin is listed.
    public func lists(_ origin: String) -> Bool {
        allowedOrigins.contains(origin.lowercased()) || allowedOrigins.contains("*")
    }

    /// Whether a request may have its effect.
    public func allows(_ method: HTTPRequest.Method, headerFields: HTTPFields, authority: String?) -> Bool {
        [.get, .head, .options].contains(method) || allowsEffects(headerFields, authority: authority)
    }

    /// Whether a request, whatever its method, may change what a user sees: it comes from a page of this server or of a
    /// listed origin, from the user's own input, or from a client that is no browser. Any page can make a browser send
    /// a GET.
    public func allowsEffects(_ headerFields: HTTPFields, authority: String?) -> Bool {
        if let origin = headerFields[.origin], lists(origin) { return true }
        return isOfOwnPage(headerFields, authority: authority) ?? true
    }

    /// Whether a request comes from a page of this server or from the user's own input; nil if it does not say so.
    ///
    /// The browser's view of both origins counts (Fetch Metadata): behind a proxy for TLS or another host name, only
    /// the browser knows that they are the same.
    func isOfOwnPage(_ headerFields: HTTPFields, authority: String?) -> Bool? {
        let site = headerFields[.secFetchSite]
        if site == "same-origin" { return true }
        if let site, site != "none" { return false }
        if let origin = headerFields[.origin] { return isOwn(origin, authority: authority) }
        return site == nil ? nil : true
    }

    /// Returns what the browser of a request may do with cookies.
    public func browser(_ method: HTTPRequest.Method, _ headerFields: HTTPFields, authority: String?) -> BrowserRules {
        let isOwn = isOfOwnPage(headerFields, authority: authority)
        let isSafe = [.get, .head, .options].contains(method)
        let origin = headerFields[.origin]?.lowercased()
        let isSecure =
            scheme == "https"
            || origin.map { $0.hasPrefix("https://") }
                ?? authority.map { ownOrigins.contains(Self.origin("https", $0)) } ?? false
        return BrowserRules(sendsCookies: isOwn ?? isSafe, mayGetCookies: isOwn ?? true, isSecure: isSecure)
    }

    /// Whether a browser has sent a request: it says what page has made it do so.
    public static func isOfBrowser(_ headerFields: HTTPFields) -> Bool {
        headerFields.contains(.origin) || headerFields.contains(.secFetchSite)
    }

    /// Whether an origin is this server's own.
    private func isOwn(_ origin: String, authority: String?) -> Bool {
        let origin = origin.lowercased()
        return ownOrigins.contains(origin) || authority.map { origin == Self.origin(scheme, $0) } ?? false
    }

    /// Returns the origin of an authority as browsers write it: without a port that is empty, or the default one of the
    /// scheme, which is the same (RFC 3986 §6.2.3, RFC 6454 §6.2).
    private static func origin(_ scheme: String, _ authority: String) -> String {
        let authority = authority.lowercased()
        let port = [":", scheme == "https" ? ":443" : ":80"].first { authority.hasSuffix($0) } ?? ""
        return "\(scheme)://\(authority.dropLast(port.count))"
    }

    /// The fields that let a listed origin read a response.
    public func fields(for headerFields: HTTPFields) -> HTTPFields {
        guard let origin = headerFields[.origin], lists(origin) else { return [:] }
        return [
            .accessControlAllowOrigin: origin,
            .accessControlExposeHeaders: Self.exposedFields,
        ]
    }

    /// Returns who may embed a response (Fetch Standard, `Cross-Origin-Resource-Policy`): pages of this origin only,
    /// unless the request is one of CORS, or all origins are allowed. A listed origin embeds by CORS (`crossorigin`).
    public func resourcePolicy(for headerFields: HTTPFields) -> String? {
        let isAllowed = allowedOrigins.contains("*") || headerFields[.origin].map(lists) == true
        return isAllowed ? nil : "same-origin"
    }

    /// Fields of responses that browsers hide from pages unless they are named (Fetch Standard, CORS-safelisted
    /// response-header name).
    private static let exposedFields =
        "Accept-Ranges, Age, Allow, Cache-Status, Content-Disposition, Content-Range, ETag, Larder-Offline, Link, "
        + "Location, Retry-After, WWW-Authenticate, X-Request-Id"

    /// Request fields that screens read.
    private static let readableFields =
        "Authorization, Cache-Control, Content-Type, If-Match, If-None-Match, If-Range, If-Unmodified-Since, "
        + "Larder-Profile, Last-Event-ID, Range, X-Request-Id, traceparent, tracestate"

    /// The fields of the response to a preflight of a listed origin; empty for every other request.
    public func preflightFields(for headerFields: HTTPFields, allowed: String?) -> HTTPFields {
        guard headerFields[.accessControlRequestMethod] != nil, headerFields[.origin].map(lists) == true else {
            return [:]
        }
        return [
            .accessControlAllowMethods: allowed ?? "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS",
            .accessControlAllowHeaders: Self.readableFields,
            .accessControlMaxAge: "600",
        ]
    }
}

extension HTTPField.Name {
    /// `Sec-Fetch-Site`, Fetch Metadata Request Headers.
    public static let secFetchSite = HTTPField.Name(literal: "Sec-Fetch-Site")
}

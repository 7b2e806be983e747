import HTTP
package import HTTPTypes

/// Which web origins may use this server from a browser (Fetch Standard, CORS protocol).
///
/// Reading is left to the browser, which hides responses without `Access-Control-Allow-Origin`. Writing from a foreign
/// origin is refused here, since it would have its effect although the page cannot see the response.
package struct OriginRules: Sendable, Equatable {
    /// Origins that `http.allowed_origins` lists, lower case; `*` allows every origin.
    package let allowedOrigins: Set<String>
    /// Origins of this server behind proxies, lower case.
    private let ownOrigins: Set<String>
    /// Scheme by which clients reach this server itself: `http` or `https`.
    private let scheme: String

    /// Rules for a list of origins such as `https://shop.example`.
    /// - Parameters:
    ///   - allowed: origins of other servers whose pages may read and write here
    ///   - own: this server's origins, other than the scheme and the `Host` of a request
    ///   - scheme: the scheme by which clients reach this server itself: `http` or `https`
    package init(allowed: [String], own: [String] = [], scheme: String = "http") {
        self.scheme = scheme
        allowedOrigins = Set(allowed.map { $0.lowercased() })
        ownOrigins = Set(own.map { $0.lowercased() })
    }

    package func lists(_ origin: String) -> Bool {
        allowedOrigins.contains(origin.lowercased()) || allowedOrigins.contains("*")
    }

    /// Whether a request may have its effect.
    package func allows(_ method: HTTPRequest.Method, headerFields: HTTPFields, authority: String?) -> Bool {
        [.get, .head, .options].contains(method) || allowsEffects(headerFields, authority: authority)
    }

    /// Whether a request, whatever its method, may change screens of a user. It must be caused by a page of this server
    /// or of a listed origin, by the user's own input, or by a client that is no browser. All others are refused,
    /// because any page can make a browser send a GET.
    package func allowsEffects(_ headerFields: HTTPFields, authority: String?) -> Bool {
        if let origin = headerFields[.origin], lists(origin) { return true }
        return isOfOwnPage(headerFields, authority: authority) ?? true
    }

    /// Whether a page of this server or the user's own input has sent a request; nil if the request does not say so.
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

    /// Returns the rules for cookies of the browser of a request.
    package func browser(_ method: HTTPRequest.Method, _ headerFields: HTTPFields, authority: String?) -> BrowserRules {
        let isOwn = isOfOwnPage(headerFields, authority: authority)
        let isSafe = [.get, .head, .options].contains(method)
        let origin = headerFields[.origin]?.lowercased()
        let isSecure =
            scheme == "https"
            || origin.map { $0.hasPrefix("https://") }
                ?? authority.map { ownOrigins.contains(Self.origin("https", $0)) } ?? false
        return BrowserRules(sendsCookies: isOwn ?? isSafe, mayGetCookies: isOwn ?? true, isSecure: isSecure)
    }

    /// Whether a browser has sent a request: it names the page that has made it do so.
    package static func isOfBrowser(_ headerFields: HTTPFields) -> Bool {
        headerFields.contains(.origin) || headerFields.contains(.secFetchSite)
    }

    /// Whether an origin is this server's own.
    private func isOwn(_ origin: String, authority: String?) -> Bool {
        let origin = origin.lowercased()
        return ownOrigins.contains(origin) || authority.map { origin == Self.origin(scheme, $0) } ?? false
    }

    /// Returns the origin of an authority as browsers write it: without an empty port, and without the default port of
    /// the scheme, which means the same (RFC 3986 §6.2.3, RFC 6454 §6.2).
    private static func origin(_ scheme: String, _ authority: String) -> String {
        let authority = authority.lowercased()
        let port = [":", scheme == "https" ? ":443" : ":80"].first { authority.hasSuffix($0) } ?? ""
        return "\(scheme)://\(authority.dropLast(port.count))"
    }

    /// The fields that let a listed origin read a response.
    package func fields(for headerFields: HTTPFields) -> HTTPFields {
        guard let origin = headerFields[.origin], lists(origin) else { return [:] }
        return [
            .accessControlAllowOrigin: origin,
            .accessControlExposeHeaders: Self.exposedFields,
        ]
    }

    /// Returns who may embed a response (Fetch Standard, `Cross-Origin-Resource-Policy`): pages of this origin only,
    /// unless the request is one of CORS, or all origins are allowed. A listed origin embeds by CORS (`crossorigin`).
    package func resourcePolicy(for headerFields: HTTPFields) -> String? {
        let isAllowed = allowedOrigins.contains("*") || headerFields[.origin].map(lists) == true
        return isAllowed ? nil : "same-origin"
    }

    /// Fields of responses that browsers hide from pages unless they are named (Fetch Standard, CORS-safelisted
    /// response-header name).
    private static let exposedFields =
        "Accept-Ranges, Age, Allow, Cache-Status, Content-Disposition, Content-Range, ETag, Idempotency-Replayed, "
        + "Larder-Offline, Link, Location, Retry-After, WWW-Authenticate, X-Request-Id"

    /// Request fields that screens read.
    private static let readableFields =
        "Authorization, Cache-Control, Content-Type, Idempotency-Key, If-Match, If-None-Match, If-Range, "
        + "If-Unmodified-Since, Larder-Profile, Last-Event-ID, Range, X-Request-Id, traceparent, tracestate"

    /// The fields of the response to a preflight of a listed origin; empty for every other request.
    package func preflightFields(for headerFields: HTTPFields, allowed: String?) -> HTTPFields {
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
    package static let secFetchSite = HTTPField.Name(literal: "Sec-Fetch-Site")
}

/// Which host names this server serves. A web page whose own name resolves to this machine (DNS rebinding) sends that
/// name as `Host`, and is refused.
package struct HostRules: Sendable {
    /// Names and addresses, lower case, without ports.
    let allowedHosts: Set<String>
    /// Whether the certificate that is served now is for a host.
    private let isCertified: @Sendable (String) -> Bool

    /// A name of the loopback interface for browsers: cookies for it are sent to no other server of this machine,
    /// unless it has the same name. No name server has names below `localhost` (RFC 6761 §6.3).
    package static let browserHost = "larder.localhost"

    /// Allows the bound address, the names of the loopback interface, the hosts that `http.allowed_hosts` lists, and
    /// those of the server's certificate.
    package init(
        boundHost: String,
        allowed: [String],
        isCertified: @escaping @Sendable (String) -> Bool = { _ in false }
    ) {
        self.isCertified = isCertified
        let own = [boundHost, "localhost", "127.0.0.1", "::1", Self.browserHost]
        allowedHosts = Set((own + allowed).compactMap { Self.name(of: $0) })
    }

    /// Whether a `Host` field names this server; its port does not matter, since ports are mapped.
    package func allows(_ authority: String?) -> Bool {
        authority.flatMap { Self.name(of: $0) }.map { allowedHosts.contains($0) || isCertified($0) } ?? false
    }

    /// Returns the host of `host:port`, `[v6]:port` or a bare IPv6 address, in lower case and without a root dot; nil
    /// if it is none of these.
    package static func name(of authority: String) -> String? {
        var host = authority.utf8[...]
        var port = Substring().utf8
        if host.first == UInt8(ascii: "[") {
            guard let end = host.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            port = host[end...].dropFirst()
            host = host[..<end].dropFirst()
        } else if let colon = host.firstIndex(of: UInt8(ascii: ":")), host.lastIndex(of: UInt8(ascii: ":")) == colon {
            port = host[colon...]
            host = host[..<colon]
        }
        guard port.isEmpty || port.first == UInt8(ascii: ":") && port.dropFirst().allSatisfy(\.isASCIIDigit)
        else { return nil }
        if host.last == UInt8(ascii: ".") { host = host.dropLast() }
        return host.isEmpty ? nil : Substring(host).lowercased()
    }
}

/// Rules for cookies of the browser that has sent a request (decision 114).
package struct BrowserRules: Sendable, Equatable {
    /// Whether cookies in the request count: a page of this server or the user's own input has sent it, or it does not
    /// say so and only reads.
    package let sendsCookies: Bool
    /// Whether the response may set cookies: no page of another origin has sent the request.
    package let mayGetCookies: Bool
    /// Whether the browser uses https.
    package let isSecure: Bool

    /// Rules for a request whose cookies do not count.
    package init(sendsCookies: Bool = false, mayGetCookies: Bool = false, isSecure: Bool = false) {
        self.sendsCookies = sendsCookies
        self.mayGetCookies = mayGetCookies
        self.isSecure = isSecure
    }
}

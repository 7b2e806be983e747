import HTTPSemantics
public import HTTPTypes

/// Which web origins may use this server from a browser (Fetch Standard, CORS protocol).
///
/// Reading is left to the browser, which hides responses without `Access-Control-Allow-Origin`. Writing from a foreign
/// origin is refused here, since it would have its effect although the page cannot see the response.
public struct OriginRules: Sendable, Equatable {
    /// Origins that `http.allowed_origins` lists, lower case; `*` allows every origin.
    public let allowedOrigins: Set<String>

    /// Rules for a list of origins such as `https://shop.example`.
    public init(allowed: [String]) {
        allowedOrigins = Set(allowed.map { $0.lowercased() })
    }

    /// Whether an origin is listed.
    public func lists(_ origin: String) -> Bool {
        allowedOrigins.contains(origin.lowercased()) || allowedOrigins.contains("*")
    }

    /// Whether a request may have its effect.
    public func allows(_ method: HTTPRequest.Method, headerFields: HTTPFields, authority: String?) -> Bool {
        guard ![.get, .head, .options].contains(method) else { return true }
        if let origin = headerFields[.origin] {
            return lists(origin) || isOwn(origin, authority: authority)
        }
        // A browser that sends no Origin still says where a request comes from (Fetch Metadata).
        return headerFields[.secFetchSite].map { ["same-origin", "none"].contains($0) } ?? true
    }

    /// Whether an origin is this server's own.
    private func isOwn(_ origin: String, authority: String?) -> Bool {
        guard let authority else { return false }
        return origin.lowercased() == "http://\(authority.lowercased())"
    }

    /// The fields that let a listed origin read a response.
    public func fields(for headerFields: HTTPFields) -> HTTPFields {
        guard let origin = headerFields[.origin], lists(origin) else { return [:] }
        return [
            .accessControlAllowOrigin: origin,
            .accessControlExposeHeaders: Self.exposedFields,
        ]
    }

    /// Fields of responses that browsers hide from pages unless they are named (Fetch Standard, CORS-safelisted
    /// response-header name).
    private static let exposedFields =
        "Accept-Ranges, Age, Allow, Cache-Status, Content-Disposition, Content-Range, ETag, Larder-Offline, Link, "
        + "Location, Retry-After, WWW-Authenticate, X-Request-Id"

    /// Request fields that screens read.
    private static let readableFields =
        "Authorization, Cache-Control, Content-Type, If-Match, If-None-Match, If-Range, Larder-Profile, Last-Event-ID, "
        + "Range, X-Request-Id"

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
    static let secFetchSite = HTTPField.Name(literal: "Sec-Fetch-Site")
}

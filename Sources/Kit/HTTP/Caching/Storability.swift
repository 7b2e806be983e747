package import Foundation
package import HTTPTypes

/// Whether a response may be stored. RFC 9111 §3.
package enum Storability: Sendable, Equatable {
    /// It may be stored, in this form.
    case store(CachedResponseHead)
    /// It must not be stored, or storing it would be of no use.
    case refuse(Refusal)

    /// Why a response is not stored.
    package enum Refusal: Sendable, Equatable {
        /// Responses to this method are not stored, or (POST) not without explicit freshness and its own URI as
        /// `Content-Location`.
        case method
        /// Not final, not a response by itself (304), or about this request only (412, 416).
        case status
        /// Part of a representation that cannot be combined with others (RFC 9111 §3.4).
        case partial
        case requestNoStore
        case noStore
        /// The response has `must-understand`, and this cache does not know its status.
        case notUnderstood
        /// The response is `private`, the cache shared.
        case isPrivate
        /// The request has `Authorization`, the cache is shared, and the response does not allow it (RFC 9111 §3.5).
        case authorization
        /// `Vary: *`: no request would ever match.
        case varies
        /// Neither an explicit lifetime nor a heuristically cacheable status.
        case notCacheable
        /// It must be validated before every use, but has no validator.
        case neverUsable
    }
}

extension CachingRules {
    /// Statuses whose meaning for caches this cache knows (RFC 9111 §5.2.2.3): the final ones of RFC 9110 §15 except
    /// those never stored.
    static let understood: Set<Int> = [
        200, 201, 202, 203, 204, 205, 206, 300, 301, 302, 303, 305, 307, 308, 400, 401, 402, 403, 404, 405, 406, 407,
        408,
        409, 410, 411, 413, 414, 415,
        417, 421, 422, 426, 500, 501, 502, 503, 504, 505,
    ]

    /// Decides whether a complete response, or a part of a representation, may be stored, and in which form.
    ///
    /// A response whose body ends too early is incomplete regardless of the result for its head: it must be discarded
    /// (RFC 9111 §3.3). The caller first invalidates by the response and then stores it (§4.4: POST does both).
    /// - Parameters:
    ///   - response: the head of the response.
    ///   - request: its request.
    ///   - url: absolute target URI of the request, in the form of `TargetURI.normalized(_:)`, in which invalidation
    ///     names its targets.
    ///   - requestTime: when the request was sent.
    ///   - responseTime: when the head of the response was received.
    package func storability(
        of response: HTTPResponse,
        to request: HTTPRequest,
        url: String,
        requestTime: Date,
        responseTime: Date
    ) -> Storability {
        let directives = ResponseDirectives(response.headerFields, policy: self)
        if let refusal = refusal(of: response, to: request, url: url, directives: directives) {
            return .refuse(refusal)
        }
        var fields = storableFields(of: response.headerFields, directives: directives, responseTime: responseTime)
        let parts = response.status == .partialContent ? StoredParts(of: response, to: request) : nil
        if let parts {
            // RFC 9111 §3.3: as an incomplete 200.
            fields[.contentRange] = nil
            fields[.contentLength] = String(parts.completeLength)
        }
        return .store(
            CachedResponseHead(
                method: .get,
                url: url,
                varyingFields: Vary(response.headerFields).nominated(in: request.headerFields),
                status: response.status,
                headerFields: fields,
                requestTime: requestTime,
                responseTime: responseTime,
                parts: parts
            )
        )
    }

    private func refusal(
        of response: HTTPResponse,
        to request: HTTPRequest,
        url: String,
        directives: ResponseDirectives
    ) -> Storability.Refusal? {
        let (fields, code) = (response.headerFields, response.status.code)
        let isExplicit = hasExplicitFreshness(fields, directives: directives)
        switch request.method {
        case .get: break
        case .post where isExplicit && response.status.kind == .successful && Self.isContentLocation(fields, at: url):
            break
        default: return .method
        }
        // RFC 9111 §3: final; 304 belongs to a stored response, 412 and 416 to the preconditions and ranges of one
        // request.
        if code == 206, StoredParts(of: response, to: request) == nil { return .partial }
        if code < 200 || code == 304 || code == 412 || code == 416 { return .status }
        if RequestDirectives(request.headerFields).noStore { return .requestNoStore }
        return refusal(status: code, directives: directives)
            ?? refusal(
                fields: fields,
                isAuthorized: request.headerFields.contains(.authorization),
                directives: directives
            )
            ?? (isExplicit || directives.isPublic || Self.heuristicallyCacheable.contains(code) ? nil : .notCacheable)
    }

    private func refusal(status: Int, directives: ResponseDirectives) -> Storability.Refusal? {
        // RFC 9111 §5.2.2.3: a cache that understands the status ignores no-store beside must-understand.
        if directives.mustUnderstand { return Self.understood.contains(status) ? nil : .notUnderstood }
        return directives.noStore ? .noStore : nil
    }

    private func refusal(fields: HTTPFields, isAuthorized: Bool, directives: ResponseDirectives) -> Storability.Refusal?
    {
        if shared, directives.isPrivate == .everything { return .isPrivate }
        // RFC 9111 §3.5.
        let isAllowed = directives.isPublic || directives.mustRevalidate || directives.sharedMaxAge != nil
        if shared, isAuthorized, !isAllowed { return .authorization }
        if Vary(fields) == .everything { return .varies }
        let hasValidator = fields.contains(.eTag) || fields.contains(.lastModified)
        return directives.noCache == .everything && !hasValidator ? .neverUsable : nil
    }

    /// Returns whether the response has `Expires`, `max-age`, for shared caches `s-maxage`, or for private ones
    /// `private`. RFC 9111 §3.
    private func hasExplicitFreshness(_ fields: HTTPFields, directives: ResponseDirectives) -> Bool {
        directives.maxAge != nil || (!directives.isTargeted && fields.contains(.expires))
            || (shared && directives.sharedMaxAge != nil)
            || (!shared && directives.isPrivate != nil)
    }

    /// Returns whether `Content-Location` is the target itself, so that a response to POST may be used for GET. RFC
    /// 9110 §9.3.3.
    private static func isContentLocation(_ fields: HTTPFields, at url: String) -> Bool {
        guard let location = fields[.contentLocation], let resolved = TargetURI.resolve(location, against: url) else {
            return false
        }
        return resolved == TargetURI.normalized(url)
    }

    /// Fields about a proxy, which a cache does not store. RFC 9111 §3.1.
    private static let proxyFields: Set<HTTPField.Name> = [
        .proxyAuthenticate, .proxyAuthenticationInfo, .proxyAuthorization,
    ]

    /// Returns the header fields of a response that may be stored. RFC 9111 §3.1.
    ///
    /// Besides connection fields, those are removed that `no-cache` and (in a shared cache) `private` name: to store
    /// the rest without them fulfils both (§5.2.2.4, §5.2.2.7). A shared cache stores no `Set-Cookie`: a cookie is for
    /// one client only (§7.3).
    func storableFields(of fields: HTTPFields, directives: ResponseDirectives, responseTime: Date) -> HTTPFields {
        var kept = fields
        var dropped = Self.proxyFields.union(directives.restrictedFields(shared: shared))
        if shared { dropped.insert(.setCookie) }
        dropped.insert(.trailer)
        HopByHop.remove(from: &kept)
        kept.removeAll(named: dropped)
        // RFC 9110 §6.6.1: a recipient with a clock adds the date that is missing.
        if !kept.contains(.date) { kept[.date] = HTTPDate.format(responseTime) }
        return kept
    }
}

/// Which stored responses an unsafe request invalidates. RFC 9111 §4.4.
package enum Invalidation {
    /// Safe methods. RFC 9110 §9.2.1, RFC 4918 §9.1, RFC 3253 §3.6, RFC 5323. The safety of any other is
    /// unknown, so it counts as unsafe.
    private static let safe: Set<String> = ["GET", "HEAD", "OPTIONS", "TRACE", "PROPFIND", "REPORT", "SEARCH", "QUERY"]

    /// Returns the normalized URIs whose stored responses must no longer be used without validation: the target itself,
    /// and the targets of `Location` and `Content-Location` on the same origin.
    /// - Returns: an empty list for safe methods and for errors.
    package static func targets(of request: HTTPRequest, url: String, response: HTTPResponse) -> [String] {
        guard !safe.contains(request.method.rawValue), (200...399).contains(response.status.code),
            let target = TargetURI.normalized(url)
        else {
            return []
        }
        var targets = [target]
        for field in [HTTPField.Name.location, .contentLocation] {
            guard let reference = response.headerFields[field], let uri = TargetURI.resolve(reference, against: url)
            else { continue }
            if TargetURI.haveSameOrigin(uri, target), !targets.contains(uri) { targets.append(uri) }
        }
        return targets
    }
}

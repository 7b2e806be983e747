import HTTPSemantics
public import HTTPTypes

extension CacheStatus {
    /// Appends this status after those of the caches nearer to the origin. RFC 9211 §2: the list is ordered from the
    /// origin to the client.
    public func append(to fields: inout HTTPFields, cacheName: String) {
        fields.append(HTTPField(name: .cacheStatus, value: member(of: cacheName)))
    }
}

extension CachingRules {
    /// Returns the status of a request that was forwarded, whether its response or, after a failure, a stored one was
    /// sent.
    /// - Parameters:
    ///   - reason: why it was forwarded, from ``Decision``.
    ///   - upstreamStatus: status of the upstream's response; nil if there was none.
    ///   - stored: whether the response was stored.
    ///   - collapsed: whether the request waited for another one's response (RFC 9211 §2.6).
    ///   - detail: further information, such as `unreachable` or `stale-if-error`.
    public func account(
        of reason: CacheStatus.Forward,
        upstreamStatus: Int?,
        stored: Bool = false,
        collapsed: Bool = false,
        detail: String? = nil
    ) -> CacheStatus {
        // RFC 9211 §2.3: the status is useful if it differs from the client's, or shows the result of a validation.
        let isInformative = reason == .stale || reason == .request || reason == .partial
        return CacheStatus(
            .forward(reason),
            forwardStatus: isInformative ? upstreamStatus : nil,
            stored: stored,
            collapsed: collapsed,
            detail: detail
        )
    }
}

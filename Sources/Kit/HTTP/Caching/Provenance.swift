package import Foundation
package import HTTPTypes

/// The origin of a response and its freshness. Only `Screens` turns it into `meta`, `Cache-Status` and `Age`.
package struct Provenance: Sendable, Equatable {
    /// The kinds of origin (docs/contract.md, "Envelope").
    package enum Source: String, Sendable, Codable {
        /// An upstream, whether the data was fetched for this response or stored before.
        case upstream
        /// Data that is shipped with the program, because the upstream has never responded.
        case bundled
        /// Data without an upstream.
        case local
    }

    /// The origin of the data.
    package var source: Source
    /// The upstream could not be reached. Implies ``stale``.
    package var offline: Bool
    /// The data is older than its freshness time.
    package var stale: Bool
    /// Whether the upstream has sent or validated the data for this response, and not for an earlier one.
    package var isValidatedNow: Bool
    /// When the upstream last validated the data, by sending it or by a 304; nil for local data. `Age` counts from it.
    package var validatedAt: Date?
    /// When this content was first received; later validations do not change it. Nil if that is ``validatedAt``. A
    /// screen's `fetched_at`.
    package var contentFetchedAt: Date?
    /// How the cache handled the request; nil for local data.
    package var cacheStatus: CacheStatus?
    /// The end of the pause because of which the upstream was not asked (`Retry-After`); nil if there is none.
    package var pausedUntil: Date?

    package init(
        source: Source,
        offline: Bool = false,
        stale: Bool = false,
        validatedAt: Date? = nil,
        contentFetchedAt: Date? = nil,
        cacheStatus: CacheStatus? = nil,
        isValidatedNow: Bool = false,
        pausedUntil: Date? = nil
    ) {
        self.source = source
        self.offline = offline
        self.stale = stale || offline
        self.validatedAt = validatedAt
        self.contentFetchedAt = contentFetchedAt
        self.cacheStatus = cacheStatus
        self.isValidatedNow = isValidatedNow
        self.pausedUntil = pausedUntil
    }

    /// Returns the age of the data in seconds; nil for local data. If the clock was set back before
    /// ``validatedAt``, the distance to it.
    package func age(at now: Date) -> Int? {
        validatedAt.map { Int(abs(now.timeIntervalSince($0))) }
    }

    /// Data that has no upstream: lists, notes, documents, sessions.
    package static let local = Provenance(source: .local)
}

/// How one cache handled one request: a member of the `Cache-Status` field (RFC 9211 §2).
///
/// `hit` and `forward` never appear together (RFC 9211 §2.2); ``handling`` makes that a matter of type.
package struct CacheStatus: Sendable, Equatable {
    /// Whether the response is a stored one or the request was forwarded.
    package enum Handling: Sendable, Equatable {
        /// Satisfied from the cache, nothing forwarded (RFC 9211 §2.1).
        case hit
        /// Forwarded towards the origin, for this reason (RFC 9211 §2.2).
        case forward(Forward)
        /// Made by the cache itself: nothing stored was sent, and nothing forwarded.
        case generated
    }

    /// Why a request was forwarded: the values of `fwd` (RFC 9211 §2.2).
    package enum Forward: String, Sendable {
        /// The method's semantics require the request to be forwarded.
        case method
        /// No stored response for this URI.
        case uriMiss = "uri-miss"
        /// Stored responses for this URI, but none that matches by `Vary`.
        case varyMiss = "vary-miss"
        /// No usable stored response; the cache does not distinguish the two cases above.
        case miss
        /// A fresh response was stored, but the request's directives did not permit its use.
        case request
        case stale
        /// Only a part of the requested representation is stored.
        case partial
    }

    /// Whether the response is a stored one or the request was forwarded.
    package var handling: Handling
    /// Status of the next hop's response (`fwd-status`, RFC 9211 §2.3).
    package var forwardStatus: Int?
    /// Remaining freshness in seconds, negative when stale (`ttl`, RFC 9211 §2.4).
    package var timeToLive: Int?
    /// Whether the response was stored (`stored`, RFC 9211 §2.5).
    var stored: Bool
    /// Whether the request was collapsed with another one in progress (`collapsed`, RFC 9211 §2.6).
    package var collapsed: Bool
    /// Further information, a token or a text (`detail`, RFC 9211 §2.8).
    package var detail: String?

    package init(
        _ handling: Handling,
        forwardStatus: Int? = nil,
        timeToLive: Int? = nil,
        stored: Bool = false,
        collapsed: Bool = false,
        detail: String? = nil
    ) {
        self.handling = handling
        self.forwardStatus = forwardStatus
        self.timeToLive = timeToLive
        self.stored = stored
        self.collapsed = collapsed
        self.detail = detail
    }

    /// Returns the member of the `Cache-Status` list that a cache of this name writes, such as `larder; fwd=stale;
    /// fwd-status=304`.
    package func member(of cacheName: String) -> String {
        var text = cacheName
        switch handling {
        case .hit: text += "; hit"
        case .forward(let reason): text += "; fwd=\(reason.rawValue)"
        case .generated: break
        }
        if let forwardStatus { text += "; fwd-status=\(forwardStatus)" }
        if let timeToLive { text += "; ttl=\(timeToLive)" }
        if stored { text += "; stored" }
        if collapsed { text += "; collapsed" }
        if let detail { text += "; detail=\(StructuredText.tokenOrString(detail))" }
        return text
    }
}

extension CacheStatus {
    /// Appends this status after those of the caches nearer to the origin. RFC 9211 §2: the list is ordered from the
    /// origin to the client.
    package func append(to fields: inout HTTPFields, cacheName: String) {
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
    package func account(
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

/// How one cache handled one request: a member of the `Cache-Status` field (RFC 9211 §2).
///
/// `hit` and `forward` never appear together (RFC 9211 §2.2); ``handling`` makes that a matter of type.
public struct CacheStatus: Sendable, Equatable {
    /// Whether the cache answered by itself or asked further on.
    public enum Handling: Sendable, Equatable {
        /// Satisfied from the cache, nothing forwarded (RFC 9211 §2.1).
        case hit
        /// Sent towards the origin, for this reason (RFC 9211 §2.2).
        case forward(Forward)
    }

    /// Why a request went forward: the values of `fwd` (RFC 9211 §2.2).
    public enum Forward: String, Sendable, CaseIterable {
        /// The cache was told not to handle this request.
        case bypass
        /// The method's semantics require it to go forward.
        case method
        /// No stored response for this URI.
        case uriMiss = "uri-miss"
        /// A stored response for this URI, but none that `Vary` lets match.
        case varyMiss = "vary-miss"
        /// Nothing usable stored; the cache does not tell which of the two above.
        case miss
        /// A fresh answer was stored, but the request's directives did not allow its use.
        case request
        /// A stored response was stale.
        case stale
        /// Only a part of what was asked is stored.
        case partial
    }

    /// Whether the cache answered by itself or asked further on.
    public var handling: Handling
    /// Status of the next hop's answer (`fwd-status`, RFC 9211 §2.3).
    public var forwardStatus: Int?
    /// Remaining freshness in seconds, negative when stale (`ttl`, RFC 9211 §2.4).
    public var timeToLive: Int?
    /// Whether the response was stored (`stored`, RFC 9211 §2.5).
    public var stored: Bool
    /// Whether the request was joined to another one under way (`collapsed`, RFC 9211 §2.6).
    public var collapsed: Bool
    /// Further information, a token or a text (`detail`, RFC 9211 §2.8).
    public var detail: String?

    /// Creates the account of one request.
    public init(
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

    /// The member of the `Cache-Status` list that a cache of this name writes, such as `larder; fwd=stale;
    /// fwd-status=304`.
    public func member(of cacheName: String) -> String {
        var text = cacheName
        switch handling {
        case .hit: text += "; hit"
        case .forward(let reason): text += "; fwd=\(reason.rawValue)"
        }
        if let forwardStatus { text += "; fwd-status=\(forwardStatus)" }
        if let timeToLive { text += "; ttl=\(timeToLive)" }
        if stored { text += "; stored" }
        if collapsed { text += "; collapsed" }
        if let detail { text += "; detail=\(Self.token(orQuoted: detail))" }
        return text
    }

    /// RFC 8941 §3.3: a token where the characters allow it, else a string; what neither can hold is dropped.
    private static func token(orQuoted text: String) -> String {
        let isToken =
            text.unicodeScalars.first.map { $0.isASCII && ($0.properties.isAlphabetic || $0 == "*") } == true
            && text.unicodeScalars.allSatisfy {
                $0.isASCII && ($0.properties.isAlphabetic || "0123456789!#$%&'*+-.^_`|~:/".unicodeScalars.contains($0))
            }
        if isToken { return text }
        let printable = text.unicodeScalars.filter { (0x20...0x7E).contains($0.value) }
        let escaped = String(String.UnicodeScalarView(printable)).replacing("\\", with: "\\\\").replacing(
            "\"",
            with: "\\\""
        )
        return "\"\(escaped)\""
    }
}

import HTTPSemantics
import HTTPTypes

/// Where a part of a representation is stored. RFC 9111 §3.4.
public enum PartPlacement: Sendable, Equatable {
    /// Nowhere: a whole is stored, or parts of a newer representation.
    case discarded
    /// With the parts of the stored response at this index, which gets this head.
    case beside(index: Int, CachedResponseHead)
    /// By itself, in place of those at these indices, which belong to another representation.
    case anew(replacing: [Int])
}

extension CachingRules {
    /// Decides where a part is stored.
    ///
    /// Parts are combined only if they have the same strong validator (RFC 9110 §15.3.7.3): the same entity tag. A
    /// stored whole is never replaced by a part of another representation: it stays what is sent if the upstream fails.
    /// - Parameters:
    ///   - part: the part, as ``storability(of:to:url:requestTime:responseTime:)`` has it.
    ///   - stored: all stored responses that the same request selects from.
    public func placement(of part: CachedResponseHead, among stored: [CachedResponseHead]) -> PartPlacement {
        guard let added = part.parts, stored.allSatisfy({ $0.parts != nil }) else { return .discarded }
        let same = stored.firstIndex {
            $0.parts?.completeLength == added.completeLength && $0.hasSameStrongTag(as: part.headerFields)
                && $0.varyingFields == part.varyingFields
        }
        if let same { return .beside(index: same, stored[same].combined(with: part)) }
        if stored.contains(where: { $0.date > part.date }) { return .discarded }
        return .anew(replacing: Array(stored.indices))
    }

    /// Returns the head under which the beginning of a whole response is stored that ended early; nil if it cannot be
    /// completed later: it has no strong entity tag or no length. RFC 9111 §3.3.
    /// - Parameters:
    ///   - whole: the head under which the whole would have been stored.
    ///   - received: bytes that have arrived.
    public func beginning(of whole: CachedResponseHead, received: Int) -> CachedResponseHead? {
        guard whole.status == .ok, whole.parts == nil, let length = whole.headerFields.declaredContentLength,
            0 < received, received < length, whole.entityTag?.isWeak == false
        else { return nil }
        var part = whole
        part.status = .partialContent
        part.parts = StoredParts(of: length, [0..<received])
        return part
    }
}

extension StoredParts {
    /// The part that a 206 to GET has; nil if it cannot be combined with others: several ranges
    /// (`multipart/byteranges`), no strong entity tag, no known length of the representation, or another length of its
    /// own than it says.
    init?(of response: HTTPResponse, to request: HTTPRequest) {
        let fields = response.headerFields
        guard request.method == .get, let part = ContentRange(fields),
            fields[.eTag].flatMap({ EntityTag($0) })?.isWeak == false,
            fields.declaredContentLength ?? part.range.count == part.range.count,
            fields[.contentType]?.lowercased().hasPrefix("multipart/byteranges") != true
        else { return nil }
        self.init(of: part.completeLength, [part.range])
    }
}

extension CachedResponseHead {
    /// Returns whether a response has the entity tag of this one, and both are strong.
    func hasSameStrongTag(as fields: HTTPFields) -> Bool {
        guard let own = entityTag, let other = fields[.eTag].flatMap({ EntityTag($0) }) else { return false }
        return own.matchesStrongly(other)
    }

    /// Returns the head of this response's parts and another part: that of the newer one (RFC 9111 §3.4).
    func combined(with part: CachedResponseHead) -> CachedResponseHead {
        var result = self
        result.parts = parts?.adding(part.parts?.ranges ?? [])
        guard part.date >= date else { return result }
        let names = Set(part.headerFields.map(\.name))
        result.headerFields.removeAll(named: names.union([.age]))
        result.headerFields.append(contentsOf: part.headerFields)
        result.requestTime = part.requestTime
        result.responseTime = part.responseTime
        return result
    }
}

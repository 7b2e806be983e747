package import Foundation
package import HTTPTypes

/// Which bytes of a representation are stored, if they were received in parts. RFC 9111 §3.3.
package struct StoredParts: Sendable, Equatable {
    /// Bytes of the whole representation.
    package let completeLength: Int
    /// The stored ranges, in ascending order, with gaps between.
    package let ranges: [Range<Int>]

    /// Describes parts of a representation; they may overlap.
    package init(of completeLength: Int, _ parts: [Range<Int>]) {
        self.completeLength = completeLength
        var joined: [Range<Int>] = []
        for part in parts.sorted(by: { $0.lowerBound < $1.lowerBound }) where !part.isEmpty {
            if let last = joined.last, part.lowerBound <= last.upperBound {
                joined[joined.count - 1] = last.lowerBound..<max(last.upperBound, part.upperBound)
            } else {
                joined.append(part)
            }
        }
        ranges = joined
    }

    /// Whether all bytes are stored.
    var isComplete: Bool { missing(in: 0..<completeLength).isEmpty }

    /// Returns the parts of a range that are not stored, in ascending order.
    package func missing(in range: Range<Int>) -> [Range<Int>] {
        var missing: [Range<Int>] = []
        var position = range.lowerBound
        for part in ranges where part.overlaps(range) {
            if part.lowerBound > position { missing.append(position..<part.lowerBound) }
            position = max(position, part.upperBound)
        }
        if position < range.upperBound { missing.append(position..<range.upperBound) }
        return missing
    }

    /// The same with another part.
    func adding(_ parts: [Range<Int>]) -> StoredParts { StoredParts(of: completeLength, ranges + parts) }
}

extension CachedResponseHead {
    /// Whether it may be used for later requests: a 206 only as the parts that it contains.
    var isSelectable: Bool { status.code != 206 || parts != nil }

    /// The status of the whole representation, of which this is all or a part.
    var wholeStatus: HTTPResponse.Status { parts == nil ? status : .ok }
}

/// Where a part of a representation is stored. RFC 9111 §3.4.
package enum PartPlacement: Sendable, Equatable {
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
    /// stored whole is never replaced by a part of another representation: it stays the response if the upstream fails.
    /// - Parameters:
    ///   - part: the part, as `storability(of:to:url:requestTime:responseTime:)` has it.
    ///   - stored: all stored responses that the same request selects from.
    package func placement(of part: CachedResponseHead, among stored: [CachedResponseHead]) -> PartPlacement {
        guard let added = part.parts, stored.allSatisfy({ $0.parts != nil }) else { return .discarded }
        let same = stored.firstIndex {
            $0.parts?.completeLength == added.completeLength && $0.hasSameStrongTag(as: part.headerFields)
                && $0.varyingFields == part.varyingFields
        }
        if let same { return .beside(index: same, stored[same].combined(with: part)) }
        if stored.contains(where: { $0.date > part.date }) { return .discarded }
        return .anew(replacing: Array(stored.indices))
    }

    /// Returns the head under which the beginning of a whole response is stored that ended early. Nil if it cannot be
    /// completed later, because it has no strong entity tag or no length. RFC 9111 §3.3.
    /// - Parameters:
    ///   - whole: the head under which the whole would have been stored.
    ///   - received: bytes that have arrived.
    package func beginning(of whole: CachedResponseHead, received: Int) -> CachedResponseHead? {
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
    /// The part that a 206 to GET has. Nil if it cannot be combined with others: several ranges
    /// (`multipart/byteranges`), no strong entity tag, no known length of the representation, or a length that its
    /// range contradicts.
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

/// A request for bytes of which some are stored: only those that are missing are requested. RFC 9111 §3.4.
package struct Completion: Sendable, Equatable {
    /// Index of the stored response among the candidates.
    package var index: Int
    package var stored: CachedResponseHead
    /// The bytes to request.
    package var missing: Range<Int>

    /// Asks for the missing bytes in place of the client's own ranges, provided that the representation is still
    /// the stored one. RFC 9110 §13.1.5.
    package func apply(to fields: inout HTTPFields) {
        fields[.range] = "bytes=\(missing.lowerBound)-\(missing.upperBound - 1)"
        fields[.ifRange] = stored.entityTag?.text
    }
}

package enum CompletionOutcome: Sendable, Equatable {
    /// The missing bytes follow: the response is made of them and of the stored ones, with this head.
    case combined(CachedResponseHead)
    /// The response cannot be combined, and does not answer the client: its own request is to be sent.
    case retry
    /// A response to the client's request as well: another representation, or an error.
    case pass
}

extension CachingRules {
    /// Returns the result of a completion. RFC 9110 §15.3.7.3.
    /// - Parameters:
    ///   - completion: the completion, from ``Decision``.
    ///   - response: the head of its response.
    ///   - request: the client's request with which the decision was made.
    ///   - requestTime: when the request was sent.
    ///   - responseTime: when the head of the response was received.
    package func outcome(
        of completion: Completion,
        response: HTTPResponse,
        request: HTTPRequest,
        requestTime: Date,
        responseTime: Date
    ) -> CompletionOutcome {
        switch response.status.code {
        case 206: break
        case 304, 412, 416: return .retry
        default: return .pass
        }
        let fields = response.headerFields
        guard let stored = completion.stored.parts, let part = StoredParts(of: response, to: request),
            part.completeLength == stored.completeLength, part.ranges == [completion.missing],
            fields.declaredContentLength == completion.missing.count, completion.stored.hasSameStrongTag(as: fields)
        else { return .retry }
        var head = freshened(
            completion.stored,
            by: response,
            request: request.headerFields,
            requestTime: requestTime,
            responseTime: responseTime
        )
        head.parts = stored.adding(part.ranges)
        return .combined(head)
    }

    /// Decides about a request that needs bytes which are not stored; nil if the stored ones are enough.
    func decision(for request: HTTPRequest, missingIn stored: CachedResponseHead, at index: Int) -> Decision? {
        guard let parts = stored.parts else { return nil }
        let fields = request.headerFields
        let missing: [Range<Int>]
        var wanted: Range<Int>?
        if request.method == .head {
            // RFC 9111 §3.3: without a range only a complete response may be used.
            missing = parts.isComplete ? [] : [0..<parts.completeLength]
        } else {
            wanted = stored.wanted(by: fields)
            missing = wanted.map { parts.missing(in: $0) } ?? [0..<parts.completeLength]
        }
        if missing.isEmpty { return nil }
        if RequestDirectives(fields).onlyIfCached { return .gatewayTimeout(nil) }
        let isConditional = fields.contains(.ifNoneMatch) || fields.contains(.ifModifiedSince)
        guard let wanted, missing.count == 1, missing[0] != wanted, !isConditional else { return .forward(.partial) }
        return .complete(Completion(index: index, stored: stored, missing: missing[0]))
    }
}

extension CachedResponseHead {
    /// Returns the bytes of the parts that a GET asks for; nil if that cannot be said: several ranges, a unit that is
    /// not known, no such bytes.
    fileprivate func wanted(by request: HTTPFields) -> Range<Int>? {
        guard let length = parts?.completeLength else { return nil }
        guard request.contains(.range), allowsRange(for: request) else { return 0..<length }
        guard case .part(let range) = ByteRange(request, length: length) else { return nil }
        return range.lowerBound..<(range.upperBound + 1)
    }
}

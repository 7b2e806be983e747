import HTTPTypes

/// Which bytes of a representation are stored, if they were received in parts. RFC 9111 §3.3.
public struct StoredParts: Sendable, Equatable {
    /// Bytes of the whole representation.
    public let completeLength: Int
    /// What is stored, in ascending order, with gaps between.
    public let ranges: [Range<Int>]

    /// Describes parts of a representation; they may overlap.
    public init(of completeLength: Int, _ parts: [Range<Int>]) {
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
    public var isComplete: Bool { missing(in: 0..<completeLength).isEmpty }

    /// Returns what of a range is not stored, in ascending order.
    public func missing(in range: Range<Int>) -> [Range<Int>] {
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
    public func adding(_ parts: [Range<Int>]) -> StoredParts { StoredParts(of: completeLength, ranges + parts) }
}

extension CachedResponseHead {
    /// Whether it may be used for later requests: a 206 only as the parts that it contains.
    var isSelectable: Bool { status.code != 206 || parts != nil }

    /// The status of the whole representation, of which this is all or a part.
    var wholeStatus: HTTPResponse.Status { parts == nil ? status : .ok }
}

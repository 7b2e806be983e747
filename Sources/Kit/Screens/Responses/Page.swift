/// The part of a list that a request asks for (docs/contract.md, "Paging").
public struct PageRequest: Sendable, Equatable {
    /// Largest number of rows.
    public var limit: Int
    /// Number of rows to skip.
    public var offset: Int

    /// Creates a request for a part.
    public init(limit: Int, offset: Int = 0) {
        self.limit = limit
        self.offset = offset
    }
}

/// `meta.page`: the part of a list that a response holds.
public struct Page: Encodable, Sendable, Equatable {
    /// Largest number of rows.
    public var limit: Int
    /// Number of rows that were skipped.
    public var offset: Int
    /// Number of rows in the response.
    public var count: Int
    /// Number of rows in the whole list, null if the upstream does not say.
    @Nullable public var total: Int?
    /// Whether rows follow.
    public var hasMore: Bool
    /// Offset of the next row, or null.
    @Nullable public var nextOffset: Int?

    /// Describes a part of a list. `hasMore` may be left out if the total is known.
    public init(_ request: PageRequest, count: Int, total: Int?, hasMore: Bool? = nil) {
        limit = request.limit
        offset = request.offset
        self.count = count
        _total = Nullable(wrappedValue: total)
        let more = hasMore ?? total.map { request.offset + count < $0 } ?? false
        self.hasMore = more
        _nextOffset = Nullable(wrappedValue: more ? request.offset + count : nil)
    }
}

extension Page: JSONWritable {
    /// Writes the members in order.
    public func write(to json: inout JSONWriter) {
        json.beginObject()
        json.member("count", count)
        json.member("has_more", hasMore)
        json.member("limit", limit)
        json.member("next_offset", nextOffset)
        json.member("offset", offset)
        json.member("total", total)
        json.endObject()
    }
}

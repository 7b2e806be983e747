/// Which part of a list is asked for (docs/contract.md, "Paging").
public struct PageRequest: Sendable, Equatable {
    /// Most rows wanted.
    public var limit: Int
    /// Rows to leave out at the beginning.
    public var offset: Int

    /// Creates a request for a part.
    public init(limit: Int, offset: Int = 0) {
        self.limit = limit
        self.offset = offset
    }
}

/// `meta.page`: which part of a list a response holds.
public struct Page: Encodable, Sendable, Equatable {
    /// Most rows wanted.
    public var limit: Int
    /// Rows left out at the beginning.
    public var offset: Int
    /// Rows in this response.
    public var count: Int
    /// Rows in all, null where the upstream does not say.
    @Nullable public var total: Int?
    /// Whether rows follow.
    public var hasMore: Bool
    /// Where they begin, or null.
    @Nullable public var nextOffset: Int?

    /// Describes a part of a list. `hasMore` may be left out where the total is known.
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

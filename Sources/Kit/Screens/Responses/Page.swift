/// The part of a list that a request asks for (docs/contract.md, "Paging").
package struct PageRequest: Sendable, Equatable {
    /// Largest number of rows.
    package var limit: Int
    /// Number of rows to skip; 0 if a cursor names a row, the position if it names one.
    package var offset: Int
    /// The key that a cursor names, of the types that ``PagedList`` describes; nil for a part that an offset names.
    package var key: [CursorValue]?

    /// Creates a request for a part.
    package init(limit: Int, offset: Int = 0, after key: [CursorValue]? = nil) {
        self.limit = limit
        self.offset = offset
        self.key = key
    }

    /// Whether the part was requested as the beginning of the list.
    package var isFirst: Bool { offset == 0 && key == nil }
}

/// `meta.page`: the part of a list that a response holds.
package struct Page: Encodable, Sendable, Equatable {
    /// Largest number of rows.
    package var limit: Int
    /// Number of rows that were skipped; null if the request named a row by a cursor.
    @Nullable package var offset: Int?
    /// Number of rows in the response.
    package var count: Int
    /// Number of rows in the whole list, null if it is not known.
    @Nullable package var total: Int?
    /// What the total is at least, if it is not known because rows are counted up to a limit only.
    package var totalAtLeast: Int?
    /// Whether rows follow.
    package var hasMore: Bool
    /// Offset of the next row, or null.
    @Nullable package var nextOffset: Int?

    /// Describes a part of a list.
    ///
    /// - Parameter hasMore: May be left out if the total is known and the request has an offset.
    package init(_ request: PageRequest, count: Int, total: Int?, totalAtLeast: Int? = nil, hasMore: Bool? = nil) {
        let offset = request.key == nil ? request.offset : nil
        let more = hasMore ?? total.map { request.offset + count < $0 } ?? false
        limit = request.limit
        _offset = Nullable(wrappedValue: offset)
        self.count = count
        _total = Nullable(wrappedValue: total)
        self.totalAtLeast = totalAtLeast
        self.hasMore = more
        _nextOffset = Nullable(wrappedValue: more ? offset.map { $0 > Int.max - count ? Int.max : $0 + count } : nil)
    }
}

extension Page: JSONWritable {
    /// Writes the members in order.
    package func write(to json: inout JSONWriter) {
        json.beginObject()
        json.member("count", count)
        json.member("has_more", hasMore)
        json.member("limit", limit)
        json.member("next_offset", nextOffset)
        json.member("offset", offset)
        json.member("total", total)
        if let totalAtLeast { json.member("total_at_least", totalAtLeast) }
        json.endObject()
    }
}

import HTTP

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
    /// A lower bound of the total, if it is not known because rows are counted up to a limit only.
    package var totalAtLeast: Int?
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

extension QueryItems {
    /// Returns the part of a list that `limit` and `cursor` or `offset` name (docs/contract.md, "Paging").
    ///
    /// An `offset` of 0 beside a cursor is none: generated clients send it if they do not know better.
    ///
    /// - Throws: 400 if limit or offset are not integers or out of range, if the cursor is not one of this list, and if
    ///   both a cursor and an offset above 0 are given.
    package func page(of list: PagedList, defaultLimit: Int = 100, maximumLimit: Int = 100) throws -> PageRequest {
        var page = try page(defaultLimit: defaultLimit, maximumLimit: maximumLimit)
        guard let cursor = try string("cursor") else { return page }
        guard page.offset == 0 else {
            throw Problem.invalidParameter("cursor", accepted: "cannot stand beside offset")
        }
        do throws(PagedList.CursorError) {
            let key = try list.key(of: cursor)
            page.key = key
            if list.isByPosition { page.offset = Int(key[0].integer ?? 0) }
        } catch {
            throw error.problem
        }
        return page
    }

    /// Returns `limit` and `offset`.
    /// - Throws: 400 if they are not integers or out of range.
    func page(defaultLimit: Int = 100, maximumLimit: Int = 100) throws -> PageRequest {
        PageRequest(
            limit: try integer("limit", in: 1...maximumLimit) ?? defaultLimit,
            offset: try integer("offset", in: 0...Int.max) ?? 0
        )
    }
}

extension ScreenRequest {
    /// Path and query for `links.self`: those of this request without `refresh`.
    package var selfLink: Link { link(replacing: [:]) }

    /// Parameters that request a single action, which a client that follows a link must not repeat, and the profile,
    /// which all links of the response name (``Link``).
    private static let omittedParameters: [String: String?] = ["refresh": nil, "replace": nil, "profile": nil]

    /// Returns path and query with some parameters replaced, and those of value nil left out.
    ///
    /// - Parameter path: The path if it is not the request's own, as in the response to a write.
    package func link(replacing replaced: [String: String?], at path: Link? = nil) -> Link {
        let query = self.query.link(replacing: replaced.merging(Self.omittedParameters) { new, _ in new })
        let path = path ?? Link(encoded: PercentEncoding.encode(self.path, allowed: .encodedPath))
        return query.isEmpty ? path : "\(path)?\(Link(encoded: query))"
    }

    /// Returns `links` of a list: this page and the next.
    ///
    /// - Parameters:
    ///   - cursor: That of the last row (``PagedList/cursor(after:)``); nil if there is no row.
    ///   - path: The path of the list if it is not the request's own, as in the response to a write.
    package func links(for page: Page, next cursor: String?, at path: Link? = nil) -> Links {
        let next = page.hasMore ? cursor : nil
        return Links(
            self: link(replacing: [:], at: path),
            next: next.map { link(replacing: ["cursor": $0, "limit": String(page.limit), "offset": nil], at: path) }
        )
    }
}

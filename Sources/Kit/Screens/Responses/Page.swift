package import GRDB
import HTTP
package import Storage

/// The part of a list that a request asks for (docs/contract.md, "Paging").
package struct PageRequest: Sendable, Equatable {
    /// Largest number of rows.
    package var limit: Int
    /// Number of rows to skip; 0 if a cursor names a row, the position if it names one.
    package var offset: Int
    /// The key that a cursor names, of the types that ``PagedList`` describes; nil for a part that an offset names.
    package var key: [CursorValue]?

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

    /// - Parameter hasMore: May be left out if the total is known and the request has an offset.
    package init(_ request: PageRequest, count: Int, total: Int?, totalAtLeast: Int? = nil, hasMore: Bool? = nil) {
        let offset = request.key == nil ? request.offset : nil
        let more = hasMore ?? total.map { request.offset + count < $0 } ?? false
        limit = request.limit
        self.offset = offset
        self.count = count
        self.total = total
        self.totalAtLeast = totalAtLeast
        self.hasMore = more
        nextOffset = more ? offset.map { $0 > Int.max - count ? Int.max : $0 + count } : nil
    }
}

/// The rows of a part of a list, of one state.
package struct ListPage<Element: Sendable>: Sendable {
    package var rows: [Element]
    package var hasMore: Bool
    /// The key after which the next part begins: that of the last row.
    package var key: [CursorValue]?
    /// Number of rows in the whole list; nil if it is not known.
    package var total: Int?
    /// A lower bound of the total, if it is not known.
    package var totalAtLeast: Int?
    /// Whether only the key continues the list, not an offset (`SearchHits.isCut`).
    package let isCut: Bool

    package init(_ rows: [Element], hasMore: Bool, key: [CursorValue]?, total: Int? = nil) {
        (self.rows, self.hasMore, self.key, self.total) = (rows, hasMore, key, total)
        (totalAtLeast, isCut) = (nil, false)
    }

    /// The rows of the hits of a search.
    ///
    /// - Parameter key: Returns the key of a rank.
    package init(_ rows: [Element], of hits: SearchHits, key: (Int64) -> Int64 = { $0 }) {
        self.rows = rows
        (hasMore, total, totalAtLeast, isCut) = (hits.hasMore, hits.total, hits.totalAtLeast, hits.isCut)
        self.key = hits.next.map { [.integer(key($0))] }
    }
}

extension ListPage: Equatable where Element: Equatable {}

extension PagedList {
    /// Returns `meta.page` of a part that was read, and the cursor of its last row.
    package func part<Element>(_ page: ListPage<Element>, of request: PageRequest) -> (shown: Page, next: String?) {
        let (total, least) = (page.total, page.totalAtLeast)
        var shown = Page(request, count: page.rows.count, total: total, totalAtLeast: least, hasMore: page.hasMore)
        if page.isCut { shown.nextOffset = nil }
        return (shown, page.key.map(cursor(after:)))
    }
}

/// A query whose rows are read in pages by key: the values of the columns that order them.
package struct PagedQuery: Sendable {
    /// The statement of a page that begins at `:offset`.
    package let first: String
    /// The statement of a page that begins after the key `:key0`, `:key1`.
    package let next: String
    private let columns: [String]

    /// - Parameters:
    ///   - select: A statement that ends with a condition.
    ///   - columns: They are unique together.
    package init(_ select: String, by columns: [String], descending: Bool = false) {
        let order = columns.map { descending ? "\($0) DESC" : $0 }.joined(separator: ", ")
        let key = columns.indices.map { ":key\($0)" }.joined(separator: ", ")
        let isBehind = "(\(columns.joined(separator: ", "))) \(descending ? "<" : ">") (\(key))"
        first = "\(select) ORDER BY \(order) LIMIT :limit OFFSET :offset"
        next = "\(select) AND \(isBehind) ORDER BY \(order) LIMIT :limit"
        self.columns = columns.map { String($0[($0.lastIndex(of: ".").map($0.index(after:)) ?? $0.startIndex)...]) }
    }

    /// Reads a page. Its total is left out.
    ///
    /// - Parameters:
    ///   - arguments: Those of the condition.
    ///   - element: Returns the element of a row.
    package func page<Element>(
        _ page: PageRequest,
        _ arguments: StatementArguments,
        _ db: Database,
        _ element: (Row) throws -> Element
    ) throws -> ListPage<Element> {
        var arguments = arguments + ["limit": page.limit + 1]
        for (index, value) in (page.key ?? []).enumerated() { arguments += ["key\(index)": value] }
        if page.key == nil { arguments += ["offset": page.offset] }
        let statement = try db.cachedStatement(sql: page.key == nil ? first : next)
        let rows = try Row.fetchCursor(statement, arguments: arguments)
        var (elements, key): ([Element], [CursorValue]?) = ([], nil)
        while let row = try rows.next() {
            guard elements.count < page.limit else { return ListPage(elements, hasMore: true, key: key) }
            elements.append(try element(row))
            if elements.count == page.limit { key = try columns.map { try row.value($0) } }
        }
        return ListPage(elements, hasMore: false, key: key)
    }
}

extension QueryItems {
    /// Returns the part of a list that `limit` and `cursor` or `offset` name (docs/contract.md, "Paging").
    ///
    /// An `offset` of 0 beside a cursor is none: generated clients send it if they do not know better.
    ///
    /// - Throws: 400 if limit or offset are not integers or out of range, or if the cursor is not one of this list. 400
    ///   if both a cursor and an offset above 0 are given.
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

/// The rows of a list that were added, updated and removed since a revision, by their ids, so that a front end can
/// animate.
package struct ListChanges: Encodable, Sendable, Equatable {
    /// The revision that the changes are counted from.
    package var since: Int
    package var added: [String] = []
    package var updated: [String] = []
    package var removed: [String] = []
    /// Whether more rows have changed than are named.
    package var hasMore = false

    package init(
        since: Int,
        added: [String] = [],
        updated: [String] = [],
        removed: [String] = [],
        hasMore: Bool = false
    ) {
        (self.since, self.added, self.updated, self.removed) = (since, added, updated, removed)
        self.hasMore = hasMore
    }

    /// Reads the changes of at most `limit` rows.
    ///
    /// - Parameter rows: The changed rows, one more than the limit if there are more. Their columns are the id, the
    ///   revisions of addition, change and removal, and whether the account hides the row: now, and at the revision
    ///   `since`.
    package init(since: Int, _ rows: RowCursor, limit: Int) throws {
        self.init(since: since)
        var count = 0
        while let row = try rows.next() {
            count += 1
            guard count <= limit else {
                hasMore = true
                break
            }
            try add(row)
        }
    }

    /// Returns the revision that changes are counted from, the one before the current one if none is wanted. A revision
    /// that this database has not reached yet is another database's: everything counts as new.
    package static func start(_ wanted: Int?, now revision: Int) -> Int {
        wanted.map { $0 > revision ? 0 : $0 } ?? max(0, revision - 1)
    }

    /// Adds a row where it belongs, if the account sees a change.
    private mutating func add(_ row: Row) throws {
        let (id, removal): (String, Int?) = try (row.value(0), row.value(3))
        let (addition, change): (Int, Int) = try (row.value(1), row.value(2))
        let (isHidden, wasHidden): (Bool, Bool) = try (row.value(4), row.value(5))
        let wasThere = addition <= since && removal.map { $0 > since } ?? true && !wasHidden
        let isThere = removal == nil && !isHidden
        switch (wasThere, isThere) {
        case (false, true): added.append(id)
        case (true, false): removed.append(id)
        case (true, true) where change > since: updated.append(id)
        default: break
        }
    }
}

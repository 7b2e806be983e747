import Database
public import Foundation

/// Which page of which list: the key of a page list.
public struct PageKey: Hashable, Sendable {
    /// Whose list; app first, such as `disk/1130`, `shop/local`. Keys of rows are told apart by it.
    public var account: String
    /// Which list, such as `recent`.
    public var screen: String
    /// What was asked for in one normal form, so that equal questions share a page. Empty for lists without a question.
    public var query: String
    /// Position of the first row asked for.
    public var offset: Int
    /// Most rows asked for.
    public var limit: Int

    /// Creates a key.
    public init(account: String, screen: String, query: String = "", offset: Int, limit: Int) {
        self.account = account
        self.screen = screen
        self.query = query
        self.offset = offset
        self.limit = limit
    }
}

/// One page of a list as the upstream gave it: keys of rows that are stored once, elsewhere.
public struct PageList: Sendable, Equatable {
    /// Which page.
    public var key: PageKey
    /// Keys of the rows in the upstream's order. Fewer than it gave when some were deleted since.
    public var rowKeys: [String]
    /// Number of rows on all pages; nil where the upstream tells none.
    public var total: Int?
    /// Whether a page follows. Kept, because the count of rows does not tell after a deletion.
    public var hasMore: Bool
    /// When the upstream gave it; kept to the millisecond.
    public var fetchedAt: Date

    /// Creates a page.
    public init(key: PageKey, rowKeys: [String], total: Int?, hasMore: Bool, fetchedAt: Date) {
        self.key = key
        self.rowKeys = rowKeys
        self.total = total
        self.hasMore = hasMore
        self.fetchedAt = fetchedAt
    }
}

import Database
public import Foundation

/// The key of a page list.
public struct PageKey: Hashable, Sendable {
    /// The account, app first, such as `disk/1130`, `shop/local`. Keys of rows are unique within it.
    public var account: String
    /// The list, such as `recent`.
    public var screen: String
    /// The query in a normal form, so that equal queries share a page. Empty for lists without a query.
    public var query: String
    /// Position of the first requested row.
    public var offset: Int
    /// The most rows requested.
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

/// One page of a list as the upstream sent it: keys of rows that apps store.
public struct PageList: Sendable, Equatable {
    /// The key.
    public var key: PageKey
    /// Keys of the rows in the upstream's order, without those deleted since.
    public var rowKeys: [String]
    /// Number of rows on all pages; nil if the upstream does not say.
    public var total: Int?
    /// Whether a page follows. Stored, because after a deletion it does not follow from the count of rows.
    public var hasMore: Bool
    /// When it was fetched, to the millisecond.
    public var fetchedAt: Date
    /// When its keys or its total last changed; not what the rows of its keys say.
    public var changedAt: Date

    /// Creates a page.
    ///
    /// - Parameter changedAt: Nil: when it was fetched.
    public init(
        key: PageKey,
        rowKeys: [String],
        total: Int?,
        hasMore: Bool,
        fetchedAt: Date,
        changedAt: Date? = nil
    ) {
        self.key = key
        self.rowKeys = rowKeys
        self.total = total
        self.hasMore = hasMore
        self.fetchedAt = fetchedAt
        self.changedAt = changedAt ?? fetchedAt
    }
}

import Foundation
import Screens

/// A row, the time when the API last listed it, and whether its present version is stored.
struct DiskRow: Sendable {
    var item: DiskItem
    var seenAt: Date
    /// When the values of the item were received from the API.
    var changedAt = Date.distantPast
    var isDownloaded: Bool
    /// Whether it is marked to be kept offline, itself or through a folder above it.
    var offline = OfflineMarking.none
    /// The write that waits and has made or changed it; nil if it is as the API has it.
    var pending: PendingWrite?
}

/// A page of a list, and the revision of the account in the same read transaction.
struct DiskPage: Sendable {
    var rows: [DiskRow]
    /// When the newest part of it was received: a row, or which rows it has.
    var changedAt: Date
    var total: Int?
    var hasMore: Bool
    var revision: Int?
    /// Whether only some of the requested positions are stored.
    var isPartial: Bool
    /// Whether the response had rows that cannot be read, so that the page lacks them.
    var lacksRows: Bool
    /// The writes that wait; nil if none does.
    var pending: Meta.PendingWrites?

    /// Creates a page.
    ///
    /// - Parameters:
    ///   - changedAt: When it was received which rows it has.
    ///   - keys: Keys of its positions, as the store has them.
    init(
        _ rows: [DiskRow],
        changedAt: Date = .distantPast,
        keys: [String],
        total: Int?,
        hasMore: Bool,
        revision: Int?,
        isPartial: Bool = false
    ) {
        self.rows = rows
        self.changedAt = rows.reduce(changedAt) { max($0, $1.changedAt) }
        self.total = total
        self.hasMore = hasMore
        self.revision = revision
        self.isPartial = isPartial
        lacksRows = keys.contains(ListedRow.unreadable.key)
    }
}

/// A stored page, and when the oldest part of it was fetched.
struct StoredPage: Sendable {
    var page: DiskPage
    var fetchedAt: Date
}

import Foundation
import Screens
import Upstream

/// A row, the time when the API last listed it, and whether its present version is stored.
struct DiskRow: Sendable {
    var item: DiskItem
    var seenAt: Date
    /// When the values of the item were received from the API.
    var changedAt = Date.distantPast
    var isDownloaded: Bool
    /// Whether it is marked to be kept offline, itself or through a folder above it.
    var offline = OfflineMarking.none
    /// The pending write that has made or changed it; nil if there is none.
    var pending: PendingScreen?
    /// Whether a write that waits has made it, so that the API does not have it.
    var isMadeHere = false
}

extension DiskRow {
    /// Creates the row of an item of which nothing else is known.
    init(_ item: DiskItem, seenAt: Date = .distantPast) { self.init(item: item, seenAt: seenAt, isDownloaded: false) }
}

/// How a row says that a write of it waits.
struct PendingScreen: Encodable, Sendable {
    /// Its name in `/v1/disk/outbox/{id}`.
    let operation: String
    let kind: String
    let kindText: Text
    let since: Date
    let state: String
    let stateText: Text

    init(_ entry: OutboxEntry<QueuedWrite>) {
        operation = entry.id
        kind = entry.work.name
        kindText = .taskKind(kind)
        since = entry.queuedAt
        state = entry.progress.state.rawValue
        stateText = entry.progress.state.text
    }
}

/// A page of a list, and the revision of the account in the same read transaction.
struct DiskPage: Sendable {
    var rows: [DiskRow]
    /// When the newest part of it was received: a row, or which rows it has.
    var changedAt: Date
    /// When the oldest part of it was fetched.
    var fetchedAt: Date
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
        fetchedAt: Date = .distantPast,
        keys: [String],
        total: Int?,
        hasMore: Bool,
        revision: Int?,
        isPartial: Bool = false
    ) {
        self.rows = rows
        self.changedAt = rows.reduce(changedAt) { max($0, $1.changedAt) }
        (self.fetchedAt, self.total, self.hasMore, self.revision) = (fetchedAt, total, hasMore, revision)
        self.isPartial = isPartial
        lacksRows = keys.contains(ListedRow.unreadable.key)
    }
}

/// Rows of a list between two positions, as the stored pages of the list have them.
struct PageWindow: Sendable, Equatable {
    /// A stored page, whatever positions were requested with it.
    struct Source: Sendable, Equatable {
        var offset: Int
        var limit: Int
        /// Whether rows follow. A page that none follows says that the list ends, so it covers all later positions.
        var hasMore: Bool
        var total: Int?
        var fetchedAt: Date
        /// When its keys or its total last changed.
        var changedAt: Date
        /// Keys by position in the list. A position without a key is that of a row which was removed since.
        var keys: [Int: String] = [:]

        /// Position after the last one that it covers.
        var end: Int { hasMore ? Self.sum(offset, limit) : .max }

        func covers(_ position: Int) -> Bool { offset <= position && position < end }

        static func sum(_ one: Int, _ other: Int) -> Int {
            let (sum, isBeyond) = one.addingReportingOverflow(other)
            return isBeyond ? .max : sum
        }
    }

    var rowKeys: [String]
    /// Whether each requested position is stored.
    var isWhole: Bool
    /// Number of rows in the whole list; nil if it is not known.
    var total: Int?
    /// Whether rows follow, as far as the stored pages tell.
    var hasMore: Bool
    /// When the oldest of its pages was fetched.
    var fetchedAt: Date
    /// When the keys or the total of any of its pages last changed.
    var changedAt: Date

    /// Makes a window of the stored pages. Each position is that of the newest page which covers it.
    ///
    /// - Parameter sources: The pages, the newest first.
    /// - Returns: Nil if none of the positions is stored.
    init?(_ sources: [Source], offset: Int, limit: Int) {
        let end = Source.sum(offset, limit)
        let owners = (offset..<end).map { position in (position, sources.first { $0.covers(position) }) }
        let used = owners.compactMap(\.1)
        guard let last = owners.last, let fetchedAt = used.map(\.fetchedAt).min() else { return nil }
        var seen = Set<String>()
        rowKeys = owners.compactMap { position, source in source?.keys[position] }.filter { seen.insert($0).inserted }
        isWhole = used.count == owners.count
        total = used.max { $0.fetchedAt < $1.fetchedAt }?.total
        hasMore =
            last.1.map { source in source.end > end && (source.hasMore || source.keys.keys.contains { $0 >= end }) }
            ?? true
        if let source = last.1, source.hasMore, source.end == end { hasMore = true }
        self.fetchedAt = fetchedAt
        changedAt = used.reduce(.distantPast) { max($0, $1.changedAt) }
    }

    /// Whether pages cover a whole list, from its first row to its end.
    static func isWholeList(_ sources: [Source]) -> Bool {
        var reached = 0
        for source in sources.sorted(by: { $0.offset < $1.offset }) where source.offset <= reached {
            reached = max(reached, source.end)
        }
        return reached == .max
    }
}

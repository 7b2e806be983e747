import Foundation

/// Rows of a list between two positions, as the stored pages of the list have them.
struct PageWindow: Sendable, Equatable {
    /// A stored page, whatever positions were requested with it.
    struct Source: Sendable, Equatable {
        /// Position of its first row in the list.
        var offset: Int
        /// Number of positions that were requested.
        var limit: Int
        /// Whether rows follow. A page that none follows says that the list ends, so it covers all later positions.
        var hasMore: Bool
        var total: Int?
        var fetchedAt: Date
        /// When its keys or its total last changed.
        var changedAt: Date
        /// Keys by position in the list. A position without a key is that of a row which was removed since.
        var keys: [Int: String] = [:]

        /// Position behind the last one that it covers.
        var end: Int { hasMore ? Self.sum(offset, limit) : .max }

        func covers(_ position: Int) -> Bool { offset <= position && position < end }

        static func sum(_ one: Int, _ other: Int) -> Int {
            let (sum, isBeyond) = one.addingReportingOverflow(other)
            return isBeyond ? .max : sum
        }
    }

    /// Keys of the rows, in their order.
    var rowKeys: [String]
    /// Whether each requested position is stored.
    var isWhole: Bool
    /// Number of rows in the whole list; nil if it is not known.
    var total: Int?
    /// Whether rows follow, as far as it is known.
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

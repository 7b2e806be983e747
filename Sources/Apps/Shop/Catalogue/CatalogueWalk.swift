import Foundation

/// Fills a page from parts of the upstream's list, some of whose rows are filtered out: decides which part to ask for
/// next, and when the page is full. Pure.
///
/// Pages do not overlap, because each begins at the position in the upstream's list at which the one before it ended.
struct CatalogueWalk: Sendable {
    /// Rows of a part if rows are filtered out. Parts begin at multiples of it, so that pages share them.
    static let partRows = 200
    /// Most parts that one page asks for.
    static let maximumParts = 25

    enum Step: Sendable, Equatable {
        case ask(offset: Int, limit: Int)
        /// The page is complete. The position is the beginning of the next page, nil at the end of the list.
        case done(nextPosition: Int?)
    }

    private let limit: Int
    private let isExact: Bool
    /// Next position in the upstream's list.
    private var position: Int
    /// Rows of earlier pages that come before this page.
    private(set) var toSkip: Int
    private var parts = 0
    private var seen = Set<Int>()
    private var end: Step?
    /// The page so far.
    private(set) var products: [Product] = []

    /// Creates a walk for a page of `limit` rows that begins `skipping` rows after a position in the upstream's list.
    init(limit: Int, from position: Int, skipping: Int = 0, isExact: Bool) {
        self.limit = limit
        self.position = position
        self.isExact = isExact
        toSkip = skipping
    }

    var next: Step {
        if let end { return end }
        guard parts < Self.maximumParts else { return .done(nextPosition: position) }
        // One row more than the page has, to know whether there is a next page.
        if isExact { return .ask(offset: position, limit: limit + 1) }
        return .ask(offset: position / Self.partRows * Self.partRows, limit: Self.partRows)
    }

    /// Takes the rows of the requested part, nil for a row that is filtered out.
    mutating func take(_ rows: [Product?]) {
        guard case .ask(let offset, let wanted) = next else { return }
        parts += 1
        for (index, row) in rows.prefix(wanted).enumerated() where offset + index >= position {
            if let row, !seen.contains(row.id) {
                if toSkip > 0 {
                    toSkip -= 1
                } else if products.count == limit {
                    end = .done(nextPosition: offset + index)
                    return
                } else {
                    products.append(row)
                }
                seen.insert(row.id)
            }
            position = offset + index + 1
        }
        if rows.count < wanted { end = .done(nextPosition: nil) }
    }
}

/// Collects the ids in the parts of the catalogue's unfiltered list that are read, and tells when the list is complete.
/// It has no side effects.
///
/// A product that is not in the list may be gone. This is no proof, because the upstream pages by offset and moves rows
/// between two requests.
struct CatalogueSweep: Sendable {
    /// Longest time from the first part to the last one, in seconds.
    static let maximumDuration: TimeInterval = 600
    /// Largest number of products that are collected.
    static let maximumCount = 100_000

    private var startedAt: Date?
    /// Position up to which everything was seen.
    private var reached = 0
    private var seen: Set<Int> = []

    /// Takes a part that is fresh.
    ///
    /// - Parameters:
    ///   - ids: The ids of its rows in order, nil for a row without one.
    ///   - limit: Number of rows that were requested.
    /// - Returns: The ids of all products if this part completes the list.
    mutating func take(_ ids: [Int?], offset: Int, limit: Int, at now: Date) -> Set<Int>? {
        if offset == 0 { (startedAt, reached, seen) = (now, 0, []) }
        guard let startedAt, now.timeIntervalSince(startedAt) <= Self.maximumDuration, offset <= reached,
            ids.count <= limit, seen.count <= Self.maximumCount
        else { return nil }
        seen.formUnion(ids.compactMap { $0 })
        reached = max(reached, offset + ids.count)
        guard ids.count < limit else { return nil }
        self.startedAt = nil
        return seen
    }
}

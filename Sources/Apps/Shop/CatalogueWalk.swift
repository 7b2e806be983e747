/// Fills a page from parts of the upstream's list, some of whose rows are sorted out here: which part is wanted next,
/// and when the page is full. Pure.
///
/// Pages do not overlap, because each begins at the place in the upstream's list at which the one before it stopped.
struct CatalogueWalk: Sendable {
    /// Rows of a part where rows are sorted out here. Parts begin at multiples of it, so that pages share them.
    static let partRows = 200
    /// Most parts that one page asks for.
    static let mostParts = 25

    /// What to do next.
    enum Step: Sendable, Equatable {
        /// Ask for this part.
        case ask(offset: Int, limit: Int)
        /// The page is as full as it gets; nil is the end of the list.
        case done(nextPosition: Int?)
    }

    private let limit: Int
    private let isExact: Bool
    /// Where in the upstream's list to look next.
    private var position: Int
    /// Rows that belong to pages before, and are still to come.
    private(set) var toSkip: Int
    private var parts = 0
    private var seen = Set<Int>()
    private var end: Step?
    /// The page so far.
    private(set) var products: [Product] = []

    /// A page of `limit` rows that begins `skipping` rows behind a place in the upstream's list.
    init(limit: Int, from position: Int, skipping: Int = 0, isExact: Bool) {
        self.limit = limit
        self.position = position
        self.isExact = isExact
        toSkip = skipping
    }

    var next: Step {
        if let end { return end }
        guard parts < Self.mostParts else { return .done(nextPosition: position) }
        // One more than the page has, to know whether another follows.
        if isExact { return .ask(offset: position, limit: limit + 1) }
        return .ask(offset: position / Self.partRows * Self.partRows, limit: Self.partRows)
    }

    /// Takes the part that was asked for; nil stands for a row that is not looked for.
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

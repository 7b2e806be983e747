/// The transactions that had ended when PostgreSQL answered, as `pg_current_snapshot()` says it.
struct PostgresSnapshot: Sendable, Equatable {
    /// The transactions below the end that were still running.
    let running: [Int64]
}

extension PostgresSnapshot {
    /// Reads PostgreSQL's text: `xmin:xmax:xip,xip`.
    ///
    /// - Returns: nil if it is another one.
    init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, parts.prefix(2).allSatisfy({ Int64($0) != nil }) else { return nil }
        let numbers = parts[2].split(separator: ",")
        self.init(running: numbers.compactMap { Int64($0) })
        guard running.count == numbers.count else { return nil }
    }
}

/// How far a server has read the journal, and so which rows it has to fetch.
///
/// The number of a row is that of PostgreSQL's transaction that inserted it. A transaction that ends later may have a
/// lower number than others, so a position is not one number. It has the first number of which nothing was seen, and
/// those below it whose transactions were running.
struct JournalPosition: Sendable, Equatable {
    /// Rows from this number on are to be fetched.
    private(set) var next: Int64 = 0
    /// Rows of these numbers, which are lower, are to be fetched as well: their transactions may yet commit.
    private(set) var open: [Int64] = []

    /// No row below this number is to be fetched.
    var first: Int64 { open.first ?? next }

    /// Whether a row of this number is to be fetched.
    func misses(_ number: Int64) -> Bool { number >= next || open.contains(number) }

    /// Advances past rows that were fetched in the order of their numbers, and applied.
    ///
    /// `next` is never higher than the last row, although the snapshot ends later: after a failover, PostgreSQL may
    /// give the numbers of transactions that left nothing to others.
    ///
    /// - Parameters:
    ///   - fetched: the position that they were fetched from. If another reading has advanced meanwhile, its position
    ///     stays: it knows of transactions that began after this snapshot.
    ///   - last: the last of them; nil if there was none.
    ///   - snapshot: that of the statement which fetched them.
    ///   - isComplete: whether it fetched all that are visible, and all were applied.
    mutating func advance(
        from fetched: JournalPosition,
        through last: Int64?,
        in snapshot: PostgresSnapshot,
        isComplete: Bool
    ) {
        guard self == fetched else { return }
        let end = max(next, last.map { $0 + 1 } ?? 0)
        let left = isComplete ? [] : open.filter { number in last.map { number > $0 } ?? true }
        open = Set(snapshot.running.filter { $0 < end } + left).sorted()
        next = end
    }
}

/// A row of the journal, as far as its order is concerned.
struct JournalLink: Sendable, Equatable {
    let number: Int64
    /// The number of the row before it in its scope; 0 for the first.
    let previous: Int64

    /// Decides whether a row is applied.
    ///
    /// - Parameter applied: the number of the last row of its scope that was applied; 0 if none was.
    /// - Returns: false if it was applied before.
    /// - Throws: ``JournalStop/Reason`` if it does not follow that one.
    func follows(_ applied: Int64) throws(JournalStop.Reason) -> Bool {
        if number <= applied { return false }
        if previous > applied { throw .gap(applied: applied, previous: previous) }
        if previous < applied { throw .diverged(applied: applied, previous: previous) }
        return true
    }
}

/// Numbers of rows that this server may give, by table: no other server gives the same.
///
/// SQLite's own next number would be the same on two servers that insert at the same time.
struct RowIDBlocks: Sendable {
    /// No number is left; another block has to be reserved.
    struct UsedUp: Error, Equatable {
        let table: String
    }

    private var blocks: [String: Range<Int64>] = [:]

    /// Takes the next number.
    mutating func take(_ table: String) throws(UsedUp) -> Int64 {
        guard let block = blocks[table], let first = block.first else { throw UsedUp(table: table) }
        blocks[table] = block.dropFirst()
        return first
    }

    /// Adds a block. The rest of the previous one stays unused, so that numbers of a server only increase.
    mutating func add(_ block: Range<Int64>, for table: String) { blocks[table] = block }
}

/// How far a server has read the journal, and how readings ended.
struct JournalReading: Sendable {
    /// Number of requests for the journal.
    var requests = 0
    /// All requests up to this one are answered by a reading that began after them.
    var answered = 0
    /// When the last reading to the end began.
    var end: ContinuousClock.Instant?
    /// When this server last heard of a row, or failed to apply one.
    var behind: ContinuousClock.Instant?
    /// Why PostgreSQL could not be asked, when that was last tried, and when it last failed.
    var failure: (error: ClusterError, triedAt: ContinuousClock.Instant, failedAt: ContinuousClock.Instant)?
    var stop: JournalStop?
    /// Whether ``end`` is that of an earlier run of this server.
    var isOfEarlierRun = false

    /// Whether rows may be missing that were committed before the last reading.
    var isBehind: Bool { behind.map { behind in end.map { $0 < behind } ?? true } ?? false }

    mutating func ended(_ start: ContinuousClock.Instant) {
        end = end.map { max($0, start) } ?? start
        (stop, failure, isOfEarlierRun) = (nil, nil, false)
    }
}

package import GRDB
import Storage

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

    /// A row that has changed since a revision, for every account or for one.
    package struct Row: Sendable {
        let id: String
        let added: Int
        let changed: Int
        let removed: Int?
        let isHidden: Bool
        let wasHidden: Bool

        /// - Parameters:
        ///   - added: The revision at which it was added; `changed` and `removed` likewise.
        ///   - isHidden: Whether the account has hidden it.
        ///   - wasHidden: Whether it had at the revision that changes are counted from.
        package init(
            id: String,
            added: Int,
            changed: Int,
            removed: Int?,
            isHidden: Bool = false,
            wasHidden: Bool = false
        ) {
            (self.id, self.added, self.changed, self.removed) = (id, added, changed, removed)
            (self.isHidden, self.wasHidden) = (isHidden, wasHidden)
        }
    }

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
    /// - Parameter rows: Those that have changed, one more than the limit if there are more: id, revisions at which the
    ///   row was added, changed and removed, and whether the account has hidden it, now and at the revision `since`.
    package init(since: Int, _ rows: RowCursor, limit: Int) throws {
        self.init(since: since)
        var count = 0
        while let row = try rows.next() {
            count += 1
            guard count <= limit else {
                hasMore = true
                break
            }
            add(
                try Row(
                    id: row.value(0),
                    added: row.value(1),
                    changed: row.value(2),
                    removed: row.value(3),
                    isHidden: row.value(4),
                    wasHidden: row.value(5)
                )
            )
        }
    }

    /// Returns the revision that changes are counted from, the one before the current one if none is wanted. A revision
    /// that this database has not reached yet is another database's: everything counts as new.
    package static func start(_ wanted: Int?, now revision: Int) -> Int {
        wanted.map { $0 > revision ? 0 : $0 } ?? max(0, revision - 1)
    }

    /// Adds a row where it belongs, if the account sees a change.
    package mutating func add(_ row: Row) {
        let wasThere = row.added <= since && row.removed.map { $0 > since } ?? true && !row.wasHidden
        let isThere = row.removed == nil && !row.isHidden
        switch (wasThere, isThere) {
        case (false, true): added.append(row.id)
        case (true, false): removed.append(row.id)
        case (true, true) where row.changed > since: updated.append(row.id)
        default: break
        }
    }
}

import Foundation
import GRDB
import Screens
import Storage

/// A mark with the numbers of its files.
struct OfflineRow: Sendable {
    let mark: OfflineMark
    let counts: OfflineCounts
    /// Its file or folder; nil if it is not known any more.
    let item: DiskItem?
}

/// A page of the marks of an account.
struct OfflinePage: Sendable {
    var rows: [OfflineRow]
    /// All marks.
    var total: Int
    var hasMore: Bool
    /// Bytes of all contents that are kept.
    var keptBytes: Int
    var revision: Int?
}

// Queries for the screen of offline files.
extension DiskStore {
    /// Returns a page of the marks of an account, the latest first.
    ///
    /// - Throws: `StorageError`.
    func offlinePage(_ page: PageRequest, account: String) throws -> OfflinePage {
        try database.read { db in
            let found = try Row.fetchAll(
                db.cachedStatement(sql: Self.selectMarks),
                arguments: [account, page.key?[0].integer ?? .max, page.limit + 1, page.offset]
            )
            let totals = try Row.fetchOne(
                db.cachedStatement(sql: Self.selectTotals),
                arguments: [account, account, account]
            )
            return OfflinePage(
                rows: try offlineRows(found.prefix(page.limit), account: account, db),
                total: try totals?.value(0) ?? 0,
                hasMore: found.count > page.limit,
                keptBytes: try totals?.value(1) ?? 0,
                revision: try totals?.value(2)
            )
        }
    }

    /// Reads rows of ``selectMarks``, and the files and folders that are marked.
    private func offlineRows(_ rows: some Sequence<Row>, account: String, _ db: Database) throws -> [OfflineRow] {
        let marks = try rows.map { try (OfflineMark(row: $0), OfflineCounts(row: $0)) }
        let paths = marks.map(\.0.path.text).jsonArray
        let found = try Row.fetchAll(db.cachedStatement(sql: Self.selectItems), arguments: [account, paths])
        let items = try Dictionary(found.map(DiskItem.init(row:)).map { ($0.path, $0) }) { first, _ in first }
        return marks.map { OfflineRow(mark: $0, counts: $1, item: items[$0.path]) }
    }

    /// Returns a mark with the numbers of its files; nil if there is none.
    ///
    /// - Throws: `StorageError`.
    func offlineRow(_ path: DiskPath, account: String) throws -> OfflineRow? {
        try database.read { db in try mark(path, account: account, db).map { try offlineRow($0, db) } }
    }

    private func offlineRow(_ mark: OfflineMark, _ db: Database) throws -> OfflineRow {
        let counts = try Row.fetchOne(
            db.cachedStatement(sql: Self.selectCounts),
            arguments: [mark.account, mark.path.text, mark.path.below, Self.end(of: mark.path.below)]
        )
        let item = try Row.fetchOne(
            db.cachedStatement(sql: Self.selectItem),
            arguments: [mark.account, mark.path.text]
        )
        return OfflineRow(
            mark: mark,
            counts: try counts.map(OfflineCounts.init(row:)) ?? OfflineCounts(),
            item: try item.map(DiskItem.init(row:))
        )
    }

    // A slash is before 0, and 0 the next character: between both are the paths below a folder.
    static let selectMarks = """
        SELECT mark.*, count(entry.path) AS files, sum(entry.size) AS bytes,
            sum(entry.is_kept) AS kept, sum(CASE WHEN entry.is_kept THEN entry.size END) AS kept_bytes,
            sum(entry.kept_version IS NOT NULL AND NOT entry.is_kept) AS outdated,
            sum(entry.failure IS 'too-large' AND NOT entry.is_kept) AS refused,
            sum(entry.failure IS NOT NULL AND entry.failure <> 'too-large') AS failed,
            min(CASE WHEN entry.failure <> 'too-large' THEN entry.failure END) AS file_failure,
            max(entry.kept_at) AS kept_at
        FROM (
            SELECT * FROM disk_offline JOIN disk_offline_check USING (account, number)
            WHERE account = ? AND number < ? ORDER BY number DESC LIMIT ? OFFSET ?
        ) AS mark
        LEFT JOIN (
            SELECT *, kept_version IS NOT NULL AND kept_version IS version AS is_kept FROM disk_offline_entry
        ) AS entry ON entry.account = mark.account AND entry.kind = 'file'
            AND (entry.path = mark.path OR (entry.path >= mark.path || '/' AND entry.path < mark.path || '0'))
        GROUP BY mark.number ORDER BY mark.number DESC
        """
    static let selectTotals = """
        SELECT (SELECT count(*) FROM disk_offline WHERE account = ?),
            (SELECT sum(length) FROM disk_offline_entry WHERE account = ?),
            (SELECT revision FROM disk_cache WHERE account = ?)
        """
    static let selectCounts = """
        SELECT count(*) AS files, sum(size) AS bytes,
            sum(is_kept) AS kept, sum(CASE WHEN is_kept THEN size END) AS kept_bytes,
            sum(kept_version IS NOT NULL AND NOT is_kept) AS outdated,
            sum(failure IS 'too-large' AND NOT is_kept) AS refused,
            sum(failure IS NOT NULL AND failure <> 'too-large') AS failed,
            min(CASE WHEN failure <> 'too-large' THEN failure END) AS file_failure, max(kept_at) AS kept_at
        FROM (
            SELECT *, kept_version IS NOT NULL AND kept_version IS version AS is_kept FROM disk_offline_entry
            WHERE account = ? AND (path = ? OR (path >= ? AND path < ?)) AND kind = 'file'
        )
        """
}

extension OfflineCounts {
    /// Reads a row of ``DiskStore/selectCounts`` or ``DiskStore/selectMarks``.
    fileprivate init(row: Row) throws {
        self.init()
        files = try row.value("files")
        bytes = try row.value("bytes") ?? 0
        keptFiles = try row.value("kept") ?? 0
        keptBytes = try row.value("kept_bytes") ?? 0
        outdatedFiles = try row.value("outdated") ?? 0
        refusedFiles = try row.value("refused") ?? 0
        failedFiles = try row.value("failed") ?? 0
        failure = try (row.value("file_failure") as String?).flatMap(OfflineFailure.init)
        keptAt = try row.date("kept_at")
    }
}

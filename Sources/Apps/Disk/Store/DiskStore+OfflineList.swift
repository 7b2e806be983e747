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

struct OfflinePage: Sendable {
    var rows: [OfflineRow]
    var total: Int
    var hasMore: Bool
    var keptBytes: Int
}

// Queries for the screen of offline files.
extension DiskStore {
    /// Returns a page of the marks of an account, the latest first.
    func offlinePage(_ page: PageRequest, account: String) throws -> OfflinePage {
        try database.read { db in
            let found = try Row.fetchAll(
                db.cachedStatement(sql: Self.selectMarksOfPage),
                arguments: [account, page.key?[0].integer ?? .max, page.limit + 1, page.offset]
            )
            let totals = try Row.fetchOne(
                db.cachedStatement(sql: Self.selectTotals),
                arguments: [account, account]
            )
            return OfflinePage(
                rows: try offlineRows(found.prefix(page.limit), account: account, db),
                total: try totals?.value(0) ?? 0,
                hasMore: found.count > page.limit,
                keptBytes: try totals?.value(1) ?? 0
            )
        }
    }

    /// Reads rows of ``selectMarksOfPage``, and the files and folders that are marked.
    private func offlineRows(_ rows: some Sequence<Row>, account: String, _ db: Database) throws -> [OfflineRow] {
        let marks = try rows.map { try (OfflineMark(row: $0), OfflineCounts(row: $0)) }
        let paths = marks.map(\.0.path.text).jsonArray
        let found = try DiskItem.fetchAll(db.cachedStatement(sql: Self.selectItems), arguments: [account, paths])
        let items = Dictionary(found.map { ($0.path, $0) }) { first, _ in first }
        return marks.map { OfflineRow(mark: $0, counts: $1, item: items[$0.path]) }
    }

    /// Returns a mark with the numbers of its files; nil if there is none.
    func offlineRow(_ path: DiskPath, account: String) throws -> OfflineRow? {
        try database.read { db in
            let found = try Row.fetchAll(
                db.cachedStatement(sql: Self.selectMarkWithFiles),
                arguments: [account, path.text]
            )
            return try offlineRows(found, account: account, db).first
        }
    }

    // A slash is before 0, and 0 the next character: between both are the paths below a folder.
    private static func selectMarks(_ scope: String) -> String {
        """
        SELECT mark.*, count(entry.path) AS files, sum(entry.size) AS bytes,
            sum(entry.is_kept) AS kept, sum(CASE WHEN entry.is_kept THEN entry.size END) AS kept_bytes,
            sum(entry.kept_version IS NOT NULL AND NOT entry.is_kept) AS outdated,
            sum(entry.failure IS 'too-large' AND NOT entry.is_kept) AS refused,
            sum(entry.failure IS NOT NULL AND entry.failure <> 'too-large') AS failed,
            min(CASE WHEN entry.failure <> 'too-large' THEN entry.failure END) AS file_failure,
            max(entry.kept_at) AS kept_at
        FROM (
            SELECT * FROM disk_offline JOIN disk_offline_check USING (account, number)
            WHERE account = ? AND \(scope)
        ) AS mark
        LEFT JOIN (
            SELECT *, kept_version IS NOT NULL AND kept_version IS version AS is_kept FROM disk_offline_entry
        ) AS entry ON entry.account = mark.account AND entry.kind = 'file'
            AND (entry.path = mark.path OR (entry.path >= mark.path || '/' AND entry.path < mark.path || '0'))
        GROUP BY mark.number ORDER BY mark.number DESC
        """
    }

    static let selectMarksOfPage = selectMarks("number < ? ORDER BY number DESC LIMIT ? OFFSET ?")
    static let selectMarkWithFiles = selectMarks("path = ?")
    static let selectTotals = """
        SELECT (SELECT count(*) FROM disk_offline WHERE account = ?),
            (SELECT sum(length) FROM disk_offline_entry WHERE account = ?)
        """
}

extension OfflineCounts {
    /// Reads a row of ``DiskStore/selectMarksOfPage``.
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

import Database
import Foundation
import GRDB
import ResponseStore
import Screens

// The files and folders that users keep offline.
extension DiskStore {
    /// Marks a file or folder.
    ///
    /// - Parameters:
    ///   - item: The file or folder as it is known.
    ///   - maximum: Most marks of an account.
    /// - Returns: The mark, and whether it is new; nil if the account was logged out meanwhile.
    /// - Throws: 413 `too-large` if there are too many; `StorageError`.
    func mark(_ item: DiskItem, account: String, at now: Date, maximum: Int) async throws -> (OfflineMark, isNew: Bool)?
    {
        try await database.write { [self] db in
            guard try Self.epoch(of: account, db) != nil else { return nil }
            if let known = try mark(item.path, account: account, db) { return (known, false) }
            guard try Int.fetchOne(db, sql: Self.countMarks, arguments: [account]) ?? 0 < maximum else {
                throw Problem(.tooLarge, "At most \(maximum) files and folders are kept offline.")
            }
            try db.execute(
                sql: "INSERT INTO disk_offline (account, path, kind, marked_at, due_at) VALUES (?, ?, ?, ?, 0)",
                arguments: [account, item.path.text, item.kind.rawValue, now.millisecondsSince1970]
            )
            try enter([item], account: account, db)
            bump(account, after: db)
            offlineSignal.changed(account, after: db)
            return try mark(item.path, account: account, db).map { ($0, true) }
        }
    }

    /// Removes a mark, and the contents that no other mark keeps.
    ///
    /// - Returns: False if there is no such mark.
    /// - Throws: `StorageError`.
    func unmark(_ path: DiskPath, account: String) async throws -> Bool {
        try await database.writeFreeingRoom { [self] db in
            try db.execute(sql: Self.deleteMark, arguments: [account, path.text])
            guard db.changesCount > 0 else { return false }
            try removeUnmarked(at: path, account: account, db)
            try reconsiderRefused(account: account, db)
            bump(account, after: db)
            offlineSignal.changed(account, after: db)
            return true
        }
    }

    /// Returns the mark of a path; nil if there is none.
    ///
    /// - Throws: `StorageError`.
    func mark(_ path: DiskPath, account: String) throws -> OfflineMark? {
        try database.read { try mark(path, account: account, $0) }
    }

    func mark(_ path: DiskPath, account: String, _ db: Database) throws -> OfflineMark? {
        try OfflineMark.fetchOne(db.cachedStatement(sql: Self.selectMark), arguments: [account, path.text])
    }

    /// Returns the marked ones of some paths.
    static func marked(_ paths: some Sequence<DiskPath>, account: String, _ db: Database) throws -> Set<DiskPath> {
        let list = paths.map(\.text).jsonArray
        let marked = try String.fetchAll(db.cachedStatement(sql: selectMarked), arguments: [account, list])
        return Set(marked.compactMap { DiskPath($0) })
    }

    /// Removes what is known of a path and those below it, as far as no mark covers it any more.
    func removeUnmarked(at path: DiskPath, account: String, _ db: Database) throws {
        // A folder above it keeps all of it.
        guard try Self.marked(path.lineage, account: account, db).isEmpty else { return }
        try db.execute(
            sql: Self.deleteUnmarked,
            arguments: [
                "account": account, "path": path.text, "below": path.below, "end": Self.end(of: path.below),
            ]
        )
    }

    /// Lets everything that did not fit be compared again, because there may be room now.
    func reconsiderRefused(account: String, _ db: Database) throws {
        try db.cachedStatement(sql: Self.makeRefusedDue).execute(arguments: [account])
    }

    static let selectMark = "SELECT * FROM disk_offline WHERE account = ? AND path = ?"
    static let countMarks = "SELECT count(*) FROM disk_offline WHERE account = ?"
    static let deleteMark = "DELETE FROM disk_offline WHERE account = ? AND path = ?"
    static let selectMarked =
        "SELECT path FROM disk_offline WHERE account = ? AND path IN (SELECT value FROM json_each(?))"
    static let makeRefusedDue = """
        UPDATE disk_offline SET due_at = 0 WHERE account = ? AND failure IN ('too-large', 'too-many-files')
        """
    /// An entry stays if its own path or that of a folder above it, up to the removed one, is marked.
    static let deleteUnmarked = """
        DELETE FROM disk_offline_entry
        WHERE account = :account AND (path = :path OR (path >= :below AND path < :end))
        AND NOT EXISTS (
            SELECT 1 FROM disk_offline AS mark
            WHERE mark.account = :account AND mark.path >= :path AND mark.path < :end AND (
                mark.path = disk_offline_entry.path
                OR substr(disk_offline_entry.path, 1, length(mark.path) + 1) = mark.path || '/'
            )
        )
        """
}

extension OfflineMark: FetchableRecord {
    /// Reads a row of table `disk_offline`.
    init(row: Row) throws {
        try self.init(
            number: row.value("number"),
            account: row.value("account"),
            path: row.value("path") { DiskPath($0) },
            kind: row.value("kind", DiskItem.Kind.init(rawValue:)),
            markedAt: row.date("marked_at"),
            isAdmitted: row.value("admitted"),
            checkedAt: row.date("checked_at"),
            attempts: row.size("attempts"),
            failure: (row.value("failure") as String?).flatMap(OfflineFailure.init)
        )
    }
}

extension DiskPath {
    /// The path and those of the folders above it.
    var lineage: [DiskPath] { [self] + (parent?.lineage ?? []) }
}

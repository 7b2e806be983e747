import Database
import Foundation
import GRDB

// What is kept offline follows the changes that Larder sees, in the transactions that store them.
extension DiskStore {
    /// Follows rows that are new or have changed.
    func followOffline(_ changed: [DiskItem], account: String, _ db: Database) throws {
        guard !changed.isEmpty, try offlineSignal.mayHaveMarks(account, db) else { return }
        let disk = changed.filter { $0.path.scheme == .disk }
        let lineages = disk.reduce(into: Set<DiskPath>()) { $0.formUnion($1.path.lineage) }
        let marks = try Self.marked(lineages, account: account, db)
        guard !marks.isEmpty else { return }
        var outdated = Set<DiskPath>()
        for item in disk {
            let covering = item.path.lineage.filter(marks.contains)
            guard !covering.isEmpty else { continue }
            let entry = try Row.fetchOne(
                db.cachedStatement(sql: Self.selectEntry),
                arguments: [account, item.path.text]
            )
            if let entry, try entry.value("kind") == item.kind.rawValue {
                let isSame = try entry.value("version") == item.version && entry.value("size") == item.size
                guard item.kind == .file, !isSame else { continue }
                try enter([item], account: account, db)
                let isAdmitted = try Bool.fetchOne(db, sql: Self.selectAdmitted, arguments: [account, item.path.text])
                if isAdmitted == true { continue }
            }
            // New here, of another kind, or larger than before: the whole is compared, and admitted as it fits.
            outdated.formUnion(covering)
        }
        for mark in outdated { try makeDue(mark, account: account, db) }
        offlineSignal.changed(account, after: db)
    }

    /// Lets all marks of an account be compared again, after a change of which is not known what it did.
    func doubtOffline(account: String, _ db: Database) throws {
        guard try offlineSignal.mayHaveMarks(account, db) else { return }
        try db.execute(sql: "UPDATE disk_offline SET due_at = 0 WHERE account = ?", arguments: [account])
        if db.changesCount > 0 { offlineSignal.changed(account, after: db) }
    }

    /// Removes the marks and contents of a deleted path and of the paths below it.
    ///
    /// - Parameter isIncluded: Whether the path itself was deleted, not only what is below it.
    func removeOffline(_ path: DiskPath, isIncluded: Bool, account: String, _ db: Database) throws {
        guard try offlineSignal.mayHaveMarks(account, db) else { return }
        let removed = try deleteOffline(path, isIncluded: isIncluded, account: account, db)
        if !removed.marks.isEmpty, let epoch = try Self.epoch(of: account, db) {
            offlineSignal.removed(removed.marks, of: account, epoch: epoch, after: db)
        }
        guard !removed.marks.isEmpty || removed.entries > 0 else { return }
        try reconsiderRefused(account: account, db)
        offlineSignal.changed(account, after: db)
    }

    /// Deletes the marks of a path and of those below it, and what is known of them.
    ///
    /// - Returns: The numbers of the marks, and the number of other rows.
    @discardableResult
    func deleteOffline(_ path: DiskPath, isIncluded: Bool, account: String, _ db: Database) throws -> (
        marks: [Int64], entries: Int
    ) {
        let scope = "account = ? AND \(isIncluded ? "(path = ? OR " : "(path <> ? AND ")(path >= ? AND path < ?))"
        let arguments: StatementArguments = [account, path.text, path.below, Self.end(of: path.below)]
        let marks = try Int64.fetchAll(
            db.cachedStatement(sql: "DELETE FROM disk_offline WHERE \(scope) RETURNING number"),
            arguments: arguments
        )
        try db.cachedStatement(sql: "DELETE FROM disk_offline_entry WHERE \(scope)").execute(arguments: arguments)
        return (marks, db.changesCount)
    }

    /// Moves the marks and contents of a path and of those below it. What no mark covers at the new place is removed;
    /// a folder that covers it there is compared again.
    func moveOffline(_ from: DiskPath, _ to: DiskPath, account: String, _ db: Database) throws {
        guard try offlineSignal.mayHaveMarks(account, db) else { return }
        for table in ["disk_offline", "disk_offline_entry"] {
            try db.execute(
                sql: "UPDATE \(table) SET path = ? WHERE account = ? AND path = ?",
                arguments: [to.text, account, from.text]
            )
            try db.execute(sql: Self.moving("path", in: table), arguments: Self.scope(from, to, account))
        }
        try db.execute(
            sql: "UPDATE disk_offline_entry SET parent = ? WHERE account = ? AND path = ?",
            arguments: [to.parent?.text ?? "", account, to.text]
        )
        try db.execute(
            sql: "UPDATE disk_offline_entry SET parent = ? WHERE account = ? AND parent = ?",
            arguments: [to.text, account, from.text]
        )
        try db.execute(sql: Self.moving("parent", in: "disk_offline_entry"), arguments: Self.scope(from, to, account))
        try removeUnmarked(at: to, account: account, db)
        for mark in try Self.marked(to.lineage, account: account, db) where mark != to {
            try makeDue(mark, account: account, db)
        }
        try reconsiderRefused(account: account, db)
        offlineSignal.changed(account, after: db)
    }

    private func makeDue(_ mark: DiskPath, account: String, _ db: Database) throws {
        try db.cachedStatement(sql: "UPDATE disk_offline SET due_at = 0 WHERE account = ? AND path = ?")
            .execute(arguments: [account, mark.text])
    }

    private static func moving(_ column: String, in table: String) -> String {
        """
        UPDATE \(table) SET \(column) = ? || substr(\(column), ?)
        WHERE account = ? AND \(column) >= ? AND \(column) < ?
        """
    }

    private static func scope(_ from: DiskPath, _ to: DiskPath, _ account: String) -> StatementArguments {
        [to.below, from.below.unicodeScalars.count + 1, account, from.below, end(of: from.below)]
    }

    static let selectEntry = "SELECT kind, version, size FROM disk_offline_entry WHERE account = ? AND path = ?"
    static let selectAdmitted = "SELECT admitted FROM disk_offline_entry WHERE account = ? AND path = ?"
}

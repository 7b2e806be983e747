import Cluster
import Foundation
import GRDB
import HTTP
import Storage

/// A content that is kept offline, or was uploaded and waits.
struct KeptContent: Sendable {
    let blob: Blob
    /// Version of the file that it is the content of.
    let version: String
    let storedAt: Date
    /// Whether it waits in the outbox.
    var isQueued = false
}

extension KeptContent: FetchableRecord {
    /// Reads a row of table `disk_offline_entry`.
    init(row: Row) throws {
        blob = Blob(id: try row.value("blob_id"), length: try row.size("length"))
        (version, storedAt) = (try row.value("kept_version"), try row.date("kept_at"))
    }
}

/// The marks and the kept versions of some files and folders.
struct OfflineStates: Sendable {
    /// The marked ones of them and of the folders above them.
    let marks: Set<DiskPath>
    let versions: [DiskPath: String]

    /// Returns whether a path is marked, itself or through a folder above it.
    func marking(of path: DiskPath) -> OfflineMarking {
        if marks.contains(path) { return .marked }
        return path.lineage.contains(where: marks.contains) ? .inherited : .none
    }
}

// The contents that are kept offline.
extension DiskStore {
    /// Returns the content that is kept of a file; nil if there is none.
    func keptContent(of path: DiskPath, account: String) throws -> KeptContent? {
        try database.read { db in
            guard try offlineSignal.mayHaveMarks(account, db) else { return nil }
            return try KeptContent.fetchOne(db.cachedStatement(sql: Self.selectKept), arguments: [account, path.text])
        }
    }

    /// Stores the content of a file, in place of that of an older version and of the copy in the cache.
    ///
    /// - Returns: False if that version is not wanted any more: then nothing is stored.
    func keep(_ blob: Blob, of file: OfflineFile, at now: Date) async throws -> Bool {
        try await database.write { [self] db in
            guard try Self.epoch(of: file.account, db) != nil,
                try Bool.fetchOne(
                    db,
                    sql: "SELECT version IS ? AND admitted FROM disk_offline_entry WHERE account = ? AND path = ?",
                    arguments: [file.version, file.account, file.path.text]
                ) == true
            else { return false }
            try database.blobs.insert(blob, in: db)
            try db.execute(
                sql: Self.updateKept,
                arguments: [
                    file.version, now.millisecondsSince1970, blob.id, blob.length, file.account, file.path.text,
                ]
            )
            try removeCachedContent(of: file.path, account: file.account, db)
            bump(file.account, after: db)
            return true
        }
    }

    /// Forgets a kept content whose file is missing or truncated, so that it is fetched again.
    func forgetKept(_ blob: Blob, account: String) async throws {
        try await database.writeFreeingRoom { [self] db in
            try db.execute(sql: Self.updateLost, arguments: [blob.id])
            bump(account, after: db)
            offlineSignal.changed(account, after: db)
        }
    }

    /// Returns the marks and kept versions of some files and folders; nil if the account keeps nothing.
    func offlineStates(of items: [DiskItem], account: String, _ db: Database) throws -> OfflineStates? {
        guard try offlineSignal.mayHaveMarks(account, db) else { return nil }
        let lineages = items.reduce(into: Set<DiskPath>()) { $0.formUnion($1.path.lineage) }
        let list = items.map(\.path.text).jsonArray
        let kept = try Row.fetchAll(db.cachedStatement(sql: Self.selectKeptVersions), arguments: [account, list])
        return OfflineStates(
            marks: try Self.marked(lineages, account: account, db),
            versions: try Dictionary(
                kept.compactMap { row in try DiskPath(row.value(0) as String).map { ($0, try row.value(1)) } }
            ) { first, _ in first }
        )
    }

    static let selectKept = """
        SELECT blob_id, length, kept_version, kept_at FROM disk_offline_entry
        WHERE account = ? AND path = ? AND blob_id IS NOT NULL
        """
    static let selectKeptVersions = """
        SELECT path, kept_version FROM disk_offline_entry
        WHERE account = ? AND blob_id IS NOT NULL AND path IN (SELECT value FROM json_each(?))
        """
    static let updateKept = """
        UPDATE disk_offline_entry SET kept_version = ?, kept_at = ?, blob_id = ?, length = ?, due_at = NULL,
            attempts = 0, failure = NULL
        WHERE account = ? AND path = ?
        """
    static let updateLost = """
        UPDATE disk_offline_entry SET kept_version = NULL, kept_at = NULL, blob_id = NULL, length = NULL, due_at = 0
        WHERE blob_id = ?
        """
}

// Applies the changes that Larder sees to offline contents, in the transactions that store them.
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

    /// Makes all marks of an account due for comparison, after a change whose effects are unknown.
    func doubtOffline(account: String, _ db: Database) throws {
        guard try offlineSignal.mayHaveMarks(account, db) else { return }
        try db.execute(sql: "UPDATE disk_offline_check SET due_at = 0 WHERE account = ?", arguments: [account])
        if db.changesCount > 0 { offlineSignal.changed(account, after: db) }
    }

    /// Removes the marks and contents of a path that no longer exists according to the API, and of the paths below it.
    ///
    /// - Parameter isIncluded: Whether the path itself no longer exists, and not only the items below it.
    func removeOffline(_ path: DiskPath, isIncluded: Bool, account: String, _ db: Database) throws {
        guard try offlineSignal.mayHaveMarks(account, db) else { return }
        let scope = Self.scope(isIncluded: isIncluded)
        let arguments: StatementArguments = [account, path.text, path.below, Self.end(of: path.below)]
        if users.isShared {
            let sql = "SELECT number FROM disk_offline WHERE \(scope)"
            let marks = try Int64.fetchAll(db.cachedStatement(sql: sql), arguments: arguments)
            // Other servers have the marks, too: they are removed after this transaction, if no file was changed.
            if !marks.isEmpty, let epoch = try Self.epoch(of: account, db) {
                offlineSignal.removals.send((account, marks, epoch), after: db)
            }
        } else {
            try removeMarks(below: path, isIncluded: isIncluded, account: account, db)
        }
        try db.cachedStatement(sql: "DELETE FROM disk_offline_entry WHERE \(scope)").execute(arguments: arguments)
        guard db.changesCount > 0 else { return }
        try Self.reconsiderRefused(account: account, db)
        offlineSignal.changed(account, after: db)
    }

    /// Moves the contents of a path and of those below it, after its marks (``moveMarks(with:account:_:)``). Contents
    /// that no mark covers at the new place are removed; a marked folder that covers it there is compared again.
    func moveOffline(_ from: DiskPath, _ to: DiskPath, account: String, _ db: Database) throws {
        guard try offlineSignal.mayHaveMarks(account, db) else { return }
        let marks = try Self.marked(to.lineage, account: account, db)
        if try !Self.moveEntries(from, to, account: account, db), !marks.contains(to) {
            // The item there was overwritten by one that is not kept.
            let arguments: StatementArguments = [account, to.text]
            try db.execute(sql: "DELETE FROM disk_offline_entry WHERE account = ? AND path = ?", arguments: arguments)
        }
        try Self.removeUnmarked(at: to, account: account, db)
        for mark in marks where mark != to { try makeDue(mark, account: account, db) }
        try Self.reconsiderRefused(account: account, db)
        offlineSignal.changed(account, after: db)
    }

    /// Moves the entries of a path and of those below it, with their contents.
    ///
    /// - Returns: Whether there was anything.
    @discardableResult
    static func moveEntries(_ from: DiskPath, _ to: DiskPath, account: String, _ db: Database) throws -> Bool {
        let scope: StatementArguments = [
            "account": account, "from": from.text, "below": from.below, "end": end(of: from.below), "to": to.text,
        ]
        try db.execute(sql: deleteOverwrittenEntries, arguments: scope)
        try db.execute(sql: moveEntries, arguments: scope + ["parent": to.parent?.text ?? ""])
        return db.changesCount > 0
    }

    private static let deleteOverwrittenEntries = """
        DELETE FROM disk_offline_entry WHERE account = :account AND path IN (
            SELECT :to || substr(path, length(:from) + 1) FROM disk_offline_entry
            WHERE account = :account AND (path = :from OR (path >= :below AND path < :end))
        )
        """
    private static let moveEntries = """
        UPDATE disk_offline_entry SET path = :to || substr(path, length(:from) + 1),
            parent = CASE path WHEN :from THEN :parent ELSE :to || substr(parent, length(:from) + 1) END
        WHERE account = :account AND (path = :from OR (path >= :below AND path < :end))
        """

    /// The condition for paths below one.
    static func scope(isIncluded: Bool) -> String {
        "account = ? AND \(isIncluded ? "(path = ? OR " : "(path <> ? AND ")(path >= ? AND path < ?))"
    }

    private func makeDue(_ mark: DiskPath, account: String, _ db: Database) throws {
        try db.cachedStatement(sql: Self.makeMarkDue).execute(arguments: [account, account, mark.text])
    }

    private static let makeMarkDue = """
        UPDATE disk_offline_check SET due_at = 0
        WHERE account = ? AND number = (SELECT number FROM disk_offline WHERE account = ? AND path = ?)
        """
    static let selectEntry = "SELECT kind, version, size FROM disk_offline_entry WHERE account = ? AND path = ?"
    static let selectAdmitted = "SELECT admitted FROM disk_offline_entry WHERE account = ? AND path = ?"
}

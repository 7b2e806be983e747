import Foundation
import GRDB
import Storage
import Upstream

// The entries of the files and folders that marks cover.
extension DiskStore {
    /// Enters the wanted versions of files and folders. New and changed ones are admitted later
    /// (``admit(_:failure:budget:at:next:)``), unless they need no more bytes than are reserved for them.
    func enter(_ items: [DiskItem], account: String, _ db: Database) throws {
        let upsert = try db.cachedStatement(sql: Self.upsertEntry)
        for item in items {
            let isFile = item.kind == .file
            let version = item.size == nil ? nil : item.version
            let failure: OfflineFailure? = isFile && version == nil ? .sizeUnknown : nil
            try upsert.execute(arguments: [
                "account": account, "path": item.path.text, "parent": item.path.parent?.text ?? "",
                "kind": item.kind.rawValue, "version": version, "size": isFile ? item.size : nil,
                "due": version == nil ? nil : 0, "failure": failure?.rawValue,
            ])
        }
    }

    /// Stores the whole content of a folder that a mark covers, as the API has listed it: rows and entries. Items that
    /// are not listed any more are removed.
    ///
    /// - Parameters:
    ///   - folder: The folder as the same response has it: an older row of it may miss a change that was made since.
    ///   - epoch: Epoch of the account before the folder was requested.
    ///   - isWhole: Whether each row could be read, so that a missing file was deleted.
    /// - Returns: False if the account has changed meanwhile: then nothing is stored, and the folder is to be listed
    ///   again.
    func enterContent(
        of folder: DiskItem,
        _ items: [DiskItem],
        isWhole: Bool,
        account: String,
        epoch: Int64,
        at now: Date
    ) async throws -> Bool {
        try await database.write { [self] db in
            guard try Self.epoch(of: account, db) == epoch,
                try !Self.marked(folder.path.lineage, account: account, db).isEmpty
            else { return false }
            var isOther = false
            if isWhole { isOther = try removeEntriesMissing(in: items, of: folder.path, account: account, db) }
            try enter([folder] + items, account: account, db)
            var kept = try keep([folder] + items, about: folder.path, account: account, at: now, in: db)
            if isOther { kept.hasChanged = true }
            try db.cachedStatement(sql: Self.setListed)
                .execute(arguments: [now.millisecondsSince1970, account, folder.path.text])
            guard !kept.screens.isEmpty else { return true }
            // Stored pages of the folder are older than its rows now.
            try db.cachedStatement(sql: Self.deleteFolderPages)
                .execute(arguments: [Self.owner(account), folder.path.text + "\n", folder.path.text + "\u{B}"])
            bump(account, after: db)
            try notify(kept.screens, account: account, after: db)
            return true
        }
    }

    /// Removes the rows of files and folders that a folder does not contain any more. Those that have another name
    /// there keep their contents.
    ///
    /// - Returns: Whether the folder contains other files and folders than before.
    private func removeEntriesMissing(in items: [DiskItem], of folder: DiskPath, account: String, _ db: Database) throws
        -> Bool
    {
        let present = Set(items.map(\.path))
        let known = Set(
            try String.fetchAll(db, sql: Self.selectChildren, arguments: [account, folder.text])
                .compactMap { DiskPath($0) }
        )
        let paths = items.compactMap { item in item.resourceID.map { ($0, item.path) } }
        let byID = Dictionary(paths) { first, _ in first }
        for path in known.subtracting(present) {
            if let to = try self.known(path, account: account, db)?.resourceID.flatMap({ byID[$0] }) {
                // A mark of its own, or of something in it, follows when that is compared.
                guard try !hasMarks(at: path, account: account, db) else { continue }
                try removeOverwritten(to, by: path, account: account, db)
                try move(path, to, account: account, db)
            } else {
                try remove(path, account: account, db)
            }
        }
        return known != present
    }

    /// Ends the comparison of a mark with the API: admits the files that fit into the budget, and sets the time of the
    /// next one.
    ///
    /// - Parameters:
    ///   - failure: Why the comparison has failed; nil if all of it is known.
    ///   - budget: Bytes that may be kept of the account.
    func endCheck(of mark: OfflineMark, failure: OfflineFailure?, budget: Int, at now: Date, next: Date) async throws {
        // Refusing and admitting write little, and must not be lost on a full disk.
        try await database.writeFreeingRoom { [self] db in
            guard let present = try self.mark(mark.path, account: mark.account, db) else { return }
            var result = failure
            var isAdmitted = present.isAdmitted
            if failure == nil {
                result = try admit(present, budget: budget, db) ? nil : .tooLarge
                isAdmitted = isAdmitted || result == nil
            }
            try db.execute(
                sql: Self.updateChecked,
                arguments: [
                    isAdmitted, failure == nil ? now.millisecondsSince1970 : nil, next.millisecondsSince1970,
                    failure == nil ? 0 : mark.attempts + 1, result?.rawValue, mark.account, mark.number,
                ]
            )
            bump(mark.account, after: db)
            offlineSignal.changed(mark.account, after: db)
        }
    }

    /// Admits the files that fit into the budget.
    ///
    /// - Returns: Whether all of them fit.
    private func admit(_ mark: OfflineMark, budget: Int, _ db: Database) throws -> Bool {
        let scope: StatementArguments = [
            "account": mark.account, "path": mark.path.text, "below": mark.path.below,
            "end": Self.end(of: mark.path.below),
        ]
        let candidates = try Row.fetchAll(db, sql: Self.selectCandidates, arguments: scope)
            .map { try OfflineAdmission.Candidate(path: $0.value(0), bytes: $0.size(1)) }
        let reserved = try Int.fetchOne(db, sql: Self.sumReserved, arguments: [mark.account]) ?? 0
        let admission = OfflineAdmission(budget: budget, reserved: reserved)
        let admitted = admission.admitted(candidates, isWhole: !mark.isAdmitted)
        for candidate in admitted {
            try db.cachedStatement(sql: Self.setAdmitted).execute(arguments: [mark.account, candidate.path])
        }
        guard admitted.count < candidates.count else { return true }
        try db.execute(sql: Self.refuseOthers, arguments: scope)
        return false
    }

    /// Returns the number of files and folders of an account that marks cover.
    func countEntries(account: String) throws -> Int {
        try database.read { try Int.fetchOne($0, sql: Self.countOfEntries, arguments: [account]) ?? 0 }
    }

    static let upsertEntry = """
        INSERT INTO disk_offline_entry (account, path, parent, kind, version, size, due_at, failure)
        VALUES (:account, :path, :parent, :kind, :version, :size, :due, :failure)
        ON CONFLICT (account, path) DO UPDATE SET
            kind = excluded.kind, version = excluded.version, size = excluded.size,
            admitted = admitted AND kind = excluded.kind
                AND ifnull(excluded.size, 0) <= max(ifnull(size, 0), ifnull(length, 0)),
            due_at = CASE WHEN excluded.version IS kept_version THEN NULL ELSE excluded.due_at END,
            attempts = 0, failure = excluded.failure
        WHERE version IS NOT excluded.version OR kind IS NOT excluded.kind OR size IS NOT excluded.size
        """
    static let setListed = "UPDATE disk_offline_entry SET listed_at = ? WHERE account = ? AND path = ?"
    static let selectChildren = "SELECT path FROM disk_offline_entry WHERE account = ? AND parent = ?"
    static let countOfEntries = "SELECT count(*) FROM disk_offline_entry WHERE account = ?"
    static let updateChecked = """
        UPDATE disk_offline_check
        SET admitted = ?, checked_at = ifnull(?, checked_at), due_at = ?, attempts = ?, failure = ?
        WHERE account = ? AND number = ?
        """
    /// Reserved bytes: those of the wanted content, or of the kept content until that has arrived.
    static let sumReserved = """
        SELECT sum(CASE WHEN admitted THEN max(ifnull(size, 0), ifnull(length, 0)) ELSE ifnull(length, 0) END)
        FROM disk_offline_entry WHERE account = ? AND kind = 'file'
        """
    private static let inScope = """
        account = :account AND (path = :path OR (path >= :below AND path < :end))
        AND kind = 'file' AND admitted = 0 AND version IS NOT NULL
        """
    static let selectCandidates = """
        SELECT path, max(size - ifnull(length, 0), 0) FROM disk_offline_entry WHERE \(inScope) ORDER BY path
        """
    static let setAdmitted = """
        UPDATE disk_offline_entry SET admitted = 1, failure = NULL, attempts = 0,
            due_at = CASE WHEN version IS kept_version THEN NULL ELSE 0 END
        WHERE account = ? AND path = ?
        """
    static let refuseOthers = "UPDATE disk_offline_entry SET failure = 'too-large' WHERE \(inScope)"
}

/// The due work on offline contents.
struct OfflineWork: Sendable {
    var marks: [OfflineMark] = []
    var files: [OfflineFile] = []
    /// When the next work is due; nil if there is none.
    var nextDue: Date?

    /// The jobs: comparisons before contents, since these follow from them.
    var jobs: [OfflineSchedule.Job] { marks.map { .check($0.key) } + files.map { .fetch($0.key) } }
}

// The work of the background.
extension DiskStore {
    /// Returns the due work: for each account at most `limit` comparisons and contents.
    func offlineWork(at now: Date, limit: Int) throws -> OfflineWork {
        try database.read { db in
            var work = OfflineWork()
            let time = now.millisecondsSince1970
            for account in try String.fetchAll(db, sql: "SELECT DISTINCT account FROM disk_offline_check") {
                let arguments: StatementArguments = [time, account, limit]
                work.marks += try OfflineMark.fetchAll(db, sql: Self.selectDueMarks, arguments: arguments)
                work.files += try Row.fetchAll(db, sql: Self.selectDueFiles, arguments: arguments)
                    .compactMap(OfflineFile.init(row:))
            }
            work.nextDue = try Int64.fetchOne(db, sql: Self.selectNextDue, arguments: [time, time])
                .map(Date.init(millisecondsSince1970:))
            return work
        }
    }

    /// Stores the state of a file after an attempt. Does nothing if another version is wanted by now.
    func note(_ file: OfflineFile) async throws {
        try await database.writeFreeingRoom { [self] db in
            try db.execute(
                sql: Self.updateAttempt,
                arguments: [
                    file.attempts, file.dueAt?.millisecondsSince1970, file.failure?.rawValue, file.account,
                    file.path.text, file.version,
                ]
            )
            if db.changesCount > 0 { bump(file.account, after: db) }
        }
    }

    /// Repeats work that failed without an accepted token, after a login.
    func retryOffline(account: String, _ db: Database) throws {
        guard try offlineSignal.mayHaveMarks(account, db) else { return }
        let failure = OfflineFailure.sessionExpired.rawValue
        for sql in [
            "UPDATE disk_offline_check SET due_at = 0, attempts = 0 WHERE account = ? AND failure = ?",
            "UPDATE disk_offline_entry SET due_at = 0, attempts = 0 WHERE account = ? AND failure = ?",
        ] {
            try db.execute(sql: sql, arguments: [account, failure])
        }
        offlineSignal.changed(account, after: db)
    }

    static let selectDueMarks = """
        SELECT * FROM disk_offline_check JOIN disk_offline USING (account, number)
        WHERE due_at <= ? AND account = ? ORDER BY due_at, number LIMIT ?
        """
    static let selectDueFiles = """
        SELECT account, path, version, size, attempts, due_at, failure FROM disk_offline_entry
        WHERE due_at <= ? AND account = ? AND due_at IS NOT NULL AND admitted = 1 ORDER BY due_at, path LIMIT ?
        """
    static let selectNextDue = """
        SELECT min(due_at) FROM (
            SELECT min(due_at) AS due_at FROM disk_offline_check WHERE due_at > ?
            UNION ALL
            SELECT min(due_at) FROM disk_offline_entry WHERE due_at > ? AND due_at IS NOT NULL AND admitted = 1
        )
        """
    static let updateAttempt = """
        UPDATE disk_offline_entry SET attempts = ?, due_at = ?, failure = ?
        WHERE account = ? AND path = ? AND version IS ?
        """
}

extension OfflineFile {
    /// Reads a row of table `disk_offline_entry`; nil for one that has no version.
    init?(row: Row) throws {
        guard let version: String = try row.value("version"), let size: Int = try row.value("size") else { return nil }
        try self.init(
            account: row.value("account"),
            path: row.value("path") { DiskPath($0) },
            version: version,
            size: size,
            attempts: row.size("attempts"),
            dueAt: row.date("due_at"),
            failure: (row.value("failure") as String?).flatMap(OfflineFailure.init)
        )
    }
}

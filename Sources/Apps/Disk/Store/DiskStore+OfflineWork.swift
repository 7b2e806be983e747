import Foundation
import GRDB
import Storage

/// The work on offline contents whose time has come.
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
    /// Returns the work whose time has come: of each account at most `limit` comparisons and contents.
    ///
    /// - Throws: `StorageError`.
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
    ///
    /// - Throws: `StorageError`.
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

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

/// The marks and the kept versions of some files and folders.
struct OfflineStates: Sendable {
    /// The marked ones of them and of the folders above them.
    let marks: Set<DiskPath>
    /// Versions of the contents that are kept.
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
    ///
    /// - Throws: `StorageError`.
    func keptContent(of path: DiskPath, account: String) throws -> KeptContent? {
        try database.read { db in
            guard try offlineSignal.mayHaveMarks(account, db) else { return nil }
            let row = try Row.fetchOne(db.cachedStatement(sql: Self.selectKept), arguments: [account, path.text])
            return try row.map {
                try KeptContent(
                    blob: Blob(id: $0.value("blob_id"), length: $0.size("length")),
                    version: $0.value("kept_version"),
                    storedAt: $0.date("kept_at")
                )
            }
        }
    }

    /// Stores the content of a file, in place of that of an older version and of the copy in the cache.
    ///
    /// - Returns: False if that version is not wanted any more: then nothing is stored.
    /// - Throws: `StorageError`.
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
    ///
    /// - Throws: `StorageError`.
    func forgetKept(_ blob: Blob, account: String) async throws {
        try await database.writeFreeingRoom { [self] db in
            try db.execute(sql: Self.updateLost, arguments: [blob.id])
            bump(account, after: db)
            offlineSignal.changed(account, after: db)
        }
    }

    /// Returns the marks and kept versions of some files and folders; nil if the account keeps nothing.
    ///
    /// - Throws: GRDB's errors.
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

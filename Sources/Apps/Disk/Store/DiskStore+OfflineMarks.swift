import Cluster
import Foundation
import GRDB
import Screens
import Storage
import Synchronization

// The files and folders that users keep offline.
extension DiskStore {
    /// Marks a file or folder.
    ///
    /// - Parameters:
    ///   - item: The known file or folder.
    ///   - maximum: Most marks of an account.
    /// - Returns: The mark, and whether it is new; nil if the account was logged out meanwhile.
    /// - Throws: 413 `too-large` if there are too many; errors of the store.
    func mark(_ item: DiskItem, account: String, at now: Date, maximum: Int) async throws -> (OfflineMark, isNew: Bool)?
    {
        let isNew = try await users.write(scope: Self.scope(account)) { [self] db -> Bool? in
            guard try Self.isLinked(account, db) else { return nil }
            guard try Self.marked([item.path], account: account, db).isEmpty else { return false }
            guard try Int.fetchOne(db, sql: Self.countMarks, arguments: [account]) ?? 0 < maximum else {
                throw Problem(.tooLarge, "At most \(maximum) files and folders are kept offline.")
            }
            let number = try Int64.fetchOne(db, sql: Self.nextMark, arguments: [account])
            let arguments: StatementArguments = [
                account, number, item.path.text, item.kind.rawValue, now.millisecondsSince1970,
            ]
            let inserted = try Row.fetchOne(db, sql: Self.insertMark, arguments: arguments)
            try changed([JournalTables.RowUpdate(before: nil, after: inserted)], account: account, db)
            if !users.isShared { try enter([item], account: account, db) }
            return true
        }
        guard let isNew else { return nil }
        if isNew, users.isShared { try await enterMarked(item, account: account) }
        return try mark(item.path, account: account).map { ($0, isNew) }
    }

    /// Adds the entry of a marked file or folder, from its known state.
    private func enterMarked(_ item: DiskItem, account: String) async throws {
        try await database.writeFreeingRoom { [self] db in
            guard try Self.epoch(of: account, db) != nil, try mark(item.path, account: account, db) != nil else {
                return
            }
            try enter([item], account: account, db)
            bump(account, after: db)
        }
    }

    /// Removes a mark, and the contents that no other mark keeps.
    ///
    /// - Returns: False if there is no such mark.
    func unmark(_ path: DiskPath, account: String) async throws -> Bool {
        try await users.write(scope: Self.scope(account), deleting: .toTrash) { [self] db in
            try deleteMarks(where: "account = ? AND path = ?", [account, path.text], account: account, db) > 0
        }
    }

    /// Removes marks whose files are gone, as this server has seen. If the account's files have been changed since,
    /// they may be there again: then the marks stay, and are compared again.
    func removeMarks(_ numbers: [Int64], of account: String, epoch: Int64) async throws {
        let list = numbers.jsonArray
        let isRemoved = try await users.write(scope: Self.scope(account), deleting: .toTrash) { [self] db in
            guard try Int64.fetchOne(db, sql: Self.selectLatestEpoch, arguments: [account]) == epoch else {
                return false
            }
            try deleteMarks(where: Self.isListed, [account, list], account: account, db)
            return true
        }
        guard !isRemoved else { return }
        try await database.writeFreeingRoom { [self] db in
            try db.execute(sql: Self.makeMarksDue, arguments: [account, list])
            offlineSignal.changed(account, after: db)
        }
    }

    /// Moves and removes marks with their files.
    func moveMarks(with change: DiskChange, account: String, _ db: Database) throws {
        // Of several servers, the rows may have been replicated a moment ago.
        guard try users.isShared || offlineSignal.mayHaveMarks(account, db) else { return }
        switch change {
        case .deleted(let path), .restored(let path):
            try removeMarks(below: path, isIncluded: true, account: account, db)
        case .moved(let from, let to) where from != to:
            try removeMarks(below: to, isIncluded: true, account: account, db)
            try moveMarks(from, to, account: account, db)
        case .moved, .unpublished, .appeared, .doubtful: break
        }
    }

    private func moveMarks(_ from: DiskPath, _ to: DiskPath, account: String, _ db: Database) throws {
        let scope: StatementArguments = [account, from.text, from.below, Self.end(of: from.below)]
        let condition = Self.scope(isIncluded: true)
        let before = try Row.fetchAll(db, sql: "SELECT * FROM disk_offline WHERE \(condition)", arguments: scope)
        guard !before.isEmpty else { return }
        let sql = "UPDATE disk_offline SET path = ? || substr(path, length(?) + 1) WHERE \(condition)"
        try db.execute(sql: sql, arguments: [to.text, from.text] + scope)
        let updates = try before.map { row in
            let key: StatementArguments = [account, try row.value("number") as Int64]
            return JournalTables.RowUpdate(
                before: row,
                after: try Row.fetchOne(db, sql: Self.selectNumber, arguments: key)
            )
        }
        try changed(updates, account: account, db)
    }

    /// Whether a path, or one below it, is marked.
    func hasMarks(at path: DiskPath, account: String, _ db: Database) throws -> Bool {
        let arguments: StatementArguments = [account, path.text, path.below, Self.end(of: path.below)]
        let sql = "SELECT 1 FROM disk_offline WHERE \(Self.scope(isIncluded: true)) LIMIT 1"
        return try Int.fetchOne(db, sql: sql, arguments: arguments) != nil
    }

    /// Removes the marks of the paths below one.
    ///
    /// - Parameter isIncluded: Whether that of the path itself is removed, too.
    func removeMarks(below path: DiskPath, isIncluded: Bool, account: String, _ db: Database) throws {
        let arguments: StatementArguments = [account, path.text, path.below, Self.end(of: path.below)]
        try deleteMarks(where: Self.scope(isIncluded: isIncluded), arguments, account: account, db)
    }

    /// Deletes marks.
    ///
    /// - Returns: How many there were.
    @discardableResult
    private func deleteMarks(where condition: String, _ arguments: StatementArguments, account: String, _ db: Database)
        throws -> Int
    {
        let sql = "DELETE FROM disk_offline WHERE \(condition) RETURNING *"
        let deleted = try Row.fetchAll(db, sql: sql, arguments: arguments)
        try changed(deleted.map { JournalTables.RowUpdate(before: $0, after: nil) }, account: account, db)
        return deleted.count
    }

    /// On a server by itself, applies changes of marks to their checks and contents, in the transaction that changes
    /// the marks. Of several servers, each one does so when it applies the change from the journal (``replicated``).
    private func changed(_ updates: [JournalTables.RowUpdate], account: String, _ db: Database) throws {
        guard !users.isShared, !updates.isEmpty else { return }
        for update in updates { try Self.follow(update, db) }
        bump(account, after: db)
        offlineSignal.changed(account, after: db)
    }

    /// Applies a change of a mark to this server's check and contents of it.
    static func follow(_ update: JournalTables.RowUpdate, _ db: Database) throws {
        guard let row = update.after ?? update.before else { return }
        let (account, number): (String, Int64) = (try row.value("account"), try row.value("number"))
        let old = try update.before.flatMap { DiskPath(try $0.value("path") as String) }
        guard let after = update.after else {
            let sql = "DELETE FROM disk_offline_check WHERE account = ? AND number = ?"
            try db.execute(sql: sql, arguments: [account, number])
            if let old { try removeUnmarked(at: old, account: account, db) }
            return try reconsiderRefused(account: account, db)
        }
        guard let old else { return try db.execute(sql: enterCheck, arguments: [account, number]) }
        guard let new = DiskPath(try after.value("path") as String), new != old else { return }
        if try moveEntries(old, new, account: account, db) { try reconsiderRefused(account: account, db) }
    }

    func mark(_ path: DiskPath, account: String) throws -> OfflineMark? {
        try database.read { try mark(path, account: account, $0) }
    }

    func mark(_ path: DiskPath, account: String, _ db: Database) throws -> OfflineMark? {
        try OfflineMark.fetchOne(db.cachedStatement(sql: Self.selectMark), arguments: [account, path.text])
    }

    static func marked(_ paths: some Sequence<DiskPath>, account: String, _ db: Database) throws -> Set<DiskPath> {
        let list = paths.map(\.text).jsonArray
        let marked = try String.fetchAll(db.cachedStatement(sql: selectMarked), arguments: [account, list])
        return Set(marked.compactMap { DiskPath($0) })
    }

    /// Removes the entries of a path and those below it, unless a mark still covers them.
    static func removeUnmarked(at path: DiskPath, account: String, _ db: Database) throws {
        // A folder above it keeps all of it.
        guard try marked(path.lineage, account: account, db).isEmpty else { return }
        try db.execute(
            sql: deleteUnmarked,
            arguments: ["account": account, "path": path.text, "below": path.below, "end": end(of: path.below)]
        )
    }

    /// Lets everything that did not fit be compared again, because there may be room now.
    static func reconsiderRefused(account: String, _ db: Database) throws {
        try db.cachedStatement(sql: makeRefusedDue).execute(arguments: [account])
    }

    static let selectMark = """
        SELECT * FROM disk_offline JOIN disk_offline_check USING (account, number) WHERE account = ? AND path = ?
        """
    private static let nextMark = "UPDATE disk_account SET marks = marks + 1 WHERE account = ? RETURNING marks"
    private static let insertMark = """
        INSERT INTO disk_offline (account, number, path, kind, marked_at) VALUES (?, ?, ?, ?, ?) RETURNING *
        """
    /// A server compares the marks of accounts that are used there.
    static let enterCheck = """
        INSERT INTO disk_offline_check (account, number, due_at)
        SELECT account, number, 0 FROM disk_offline JOIN disk_cache USING (account) WHERE account = ? AND number = ?
        """
    private static let selectNumber = "SELECT * FROM disk_offline WHERE account = ? AND number = ?"
    private static let isListed = "account = ? AND number IN (SELECT value FROM json_each(?))"
    private static let makeMarksDue = "UPDATE disk_offline_check SET due_at = 0 WHERE \(isListed)"
    static let countMarks = "SELECT count(*) FROM disk_offline WHERE account = ?"
    static let selectMarked =
        "SELECT path FROM disk_offline WHERE account = ? AND path IN (SELECT value FROM json_each(?))"
    static let makeRefusedDue = """
        UPDATE disk_offline_check SET due_at = 0 WHERE account = ? AND failure IN ('too-large', 'too-many-files')
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
    /// Reads a row of tables `disk_offline` and `disk_offline_check`.
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
    var lineage: [DiskPath] { Array(sequence(first: self, next: \.parent)) }
}

/// Remembers which accounts have marks, and notifies listeners of changes of their marks and files.
///
/// Most accounts have none, and rows of lists are made too often to ask the database each time.
final class OfflineSignal: Sendable {
    /// Marks whose files are gone, and the epoch at which that was seen.
    typealias Removal = (account: String, numbers: [Int64], epoch: Int64)

    /// Accounts that have marks, or had some in this process; nil before the first look.
    private let accounts = Mutex<Set<String>?>(nil)
    private let changes = Signal<String>()
    /// Of several servers: notifies of marks whose files are gone.
    let removals = Signal<Removal>()

    /// Registers the function that is notified of an account whose marks or files have changed.
    func listen(_ listener: @escaping @Sendable (_ account: String) -> Void) { changes.listen(listener) }

    func mayHaveMarks(_ account: String, _ db: Database) throws -> Bool {
        if let known = accounts.withLock({ $0 }) { return known.contains(account) }
        let found = Set(try String.fetchAll(db, sql: "SELECT DISTINCT account FROM disk_offline"))
        return accounts.withLock { accounts in
            // Accounts with new marks are already in the set.
            let all = found.union(accounts ?? [])
            accounts = all
            return all.contains(account)
        }
    }

    /// Notifies of a change after the transaction has been committed.
    func changed(_ account: String, after db: Database) {
        db.afterNextTransaction { [self] _ in changed(account) }
    }

    func changed(_ account: String) {
        accounts.withLock { _ = $0?.insert(account) }
        changes.send(account)
    }
}

import Cluster
import Concurrency
import Foundation
import GRDB
import Storage

extension DiskStore {
    /// The state of an account after a change.
    struct Applied: Sendable {
        let epoch: Int64
        let revision: Int
    }

    /// Applies a change. It counts the change with the account, whose marks it moves or removes, then changes the row,
    /// lists, bodies and everything below in one transaction. On a server by itself one transaction does both. The
    /// stored lists of the account must be revalidated before they are fresh.
    ///
    /// - Parameter finished: The operation of the outbox that it was, which is done in the transaction that counts the
    ///   change. With a server by itself no reader sees both, or neither.
    /// - Parameter marked: A path that has to be kept offline still; else nothing is written.
    /// - Returns: The new state of the account; nil if it was logged out meanwhile: then nothing is written.
    @discardableResult
    func apply(
        _ change: DiskChange,
        account: String,
        at now: Date,
        finishing finished: String? = nil,
        ifMarked marked: DiskPath? = nil
    ) async throws -> Applied? {
        try await alone(with: account) {
            let lease = try finished.flatMap { _ in try senderLease(of: account) }
            // On a full disk, too: the API has carried it out.
            let (counted, applied) = try await users.write(
                scope: Self.scope(account),
                holding: lease,
                deleting: .toTrash
            ) { [self] db -> (Int64?, Applied?) in
                if let marked, try Self.marked([marked], account: account, db).isEmpty { return (nil, nil) }
                guard let epoch = try count(change, of: account, db) else { return (nil, nil) }
                let isShared = users.isShared
                let applied = try isShared ? nil : follow(change, account: account, at: now, epoch: epoch, db)
                if let finished { try finish(finished, account: account, at: now, db) }
                return (epoch, applied)
            }
            guard users.isShared, let counted else { return applied }
            return try await database.writeFreeingRoom { [self] db in
                let applied = try follow(change, account: account, at: now, epoch: counted, db)
                // The end of an operation is in the journal by now. Memory follows it before the commit that shows its
                // result: for a moment a reader sees neither, and never both. If this fails, the cached data has an
                // older epoch than the account, and is revalidated.
                try followOutbox(of: account, db)
                return applied
            }
        }
    }

    /// Counts a change of files with its account, and lets the marks follow.
    ///
    /// - Returns: The new epoch; nil if the account was logged out.
    func count(_ change: DiskChange, of account: String, _ db: Database) throws -> Int64? {
        guard let epoch = try Int64.fetchOne(db, sql: Self.nextEpoch, arguments: [account]) else { return nil }
        try moveMarks(with: change, account: account, db)
        return epoch
    }

    /// Applies a counted change to the cached data of an account.
    private func follow(
        _ change: DiskChange,
        account: String,
        at now: Date,
        epoch counted: Int64,
        _ db: Database
    ) throws -> Applied? {
        let arguments: StatementArguments = [counted, account]
        guard let epoch = try Int64.fetchOne(db, sql: Self.followEpoch, arguments: arguments) else { return nil }
        db.afterNextTransaction { [changeLogs] _ in changeLogs.append(change, epoch: epoch, account: account) }
        switch change {
        case .deleted(let path), .restored(let path):
            try remove(path, account: account, db)
        case .moved(let from, let to):
            try removeOverwritten(to, by: from, account: account, db)
            try move(from, to, account: account, db)
        case .unpublished(let path):
            let time = clock.now()
            try db.execute(sql: Self.updateUnpublished, arguments: [time.millisecondsSince1970, account, path.text])
            let owner = Self.owner(account)
            try pages.remove(rowKey: path.text, account: owner, screen: Listing.published, at: time, in: db)
        case .appeared(let path, let item):
            if let item, item.path == path { try keep([item], about: path, account: account, at: now, in: db) }
        case .doubtful: break
        }
        if change != .doubtful { try noteContent(of: account, db) }
        if !change.isKnown { try doubtOffline(account: account, db) }
        try responses.invalidate(credential: credential(of: account), in: db)
        bump(account, after: db)
        return Applied(epoch: epoch, revision: try notify(DiskEvents.lists, account: account, after: db))
    }

    /// Whether a 404 says nothing of a path: the API has acknowledged lately that something is there (``YoungWrites``).
    func isYoung(_ path: DiskPath, account: String) throws -> Bool {
        guard let young = changeLogs.young(of: account, at: clock.now()), young.covers(path) else { return false }
        return try item(path, account: account) != nil
    }

    /// Returns the content of a folder that was made lately and that the API does not show yet; nil for another one.
    func youngFolder(_ key: PageKey, _ folder: DiskPath, account: String) throws -> DiskPage? {
        guard let young = changeLogs.young(of: account, at: clock.now()), young.hasMade(folder) else { return nil }
        return try database.read { db in
            guard let made = try item(folder, account: account) else { return nil }
            let keys = young.paths.filter { $0.parent == folder }.map(\.text).sorted()
            let part = keys.dropFirst(key.offset).prefix(key.limit)
            return DiskPage(
                try rows(Array(part), account: account, db),
                changedAt: made.changedAt,
                fetchedAt: made.seenAt,
                keys: Array(part),
                total: keys.count,
                hasMore: part.endIndex < keys.endIndex,
                revision: try Self.revision(of: account, db)
            )
        }
    }

    /// Removes an item that the API says is not there. Never a root: each Disk has one.
    ///
    /// - Parameter epoch: Epoch of the account before the request. If it has changed since, the item may be there by
    ///   now: then it stays, and the next read asks the API.
    func forget(_ path: DiskPath, account: String, asOf epoch: Int64) async throws {
        guard !path.isRoot, try row(path, account: account) != nil, try !isYoung(path, account: account) else { return }
        try await database.writeFreeingRoom { [self] db in
            guard try !isSuperseded(epoch, account: account, db) else { return }
            try remove(path, account: account, db)
            bump(account, after: db)
            try notify(DiskEvents.lists, account: account, after: db)
        }
    }

    /// Removes a row and those below it, also from all lists, and their bodies.
    func remove(_ path: DiskPath, account: String, _ db: Database) throws {
        try Self.deleteRows(Self.deleteItem, [account, path.text], account: account, db)
        try pages.remove(rowKey: path.text, account: Self.owner(account), at: clock.now(), in: db)
        try noteContent(of: account, db)
        try removeContents(of: path, account: account, db)
        try removeOffline(path, isIncluded: true, account: account, db)
    }

    /// Removes the item that a move has overwritten. A list with the new path and without the old one was fetched after
    /// the move: it keeps its row.
    func removeOverwritten(_ to: DiskPath, by from: DiskPath, account: String, _ db: Database) throws {
        let owner = Self.owner(account)
        if try Int64.fetchOne(db.cachedStatement(sql: Self.selectSeen), arguments: [account, from.text]) != nil {
            try Self.deleteRows(Self.deleteItem, [account, to.text], account: account, db)
            try removeContents(of: to, isOverwritten: true, account: account, db)
        }
        try db.cachedStatement(sql: Self.deleteOverwritten).execute(arguments: [owner, to.text, owner, from.text])
    }

    /// Removes the rows below a row, its lists, and the bodies of both.
    ///
    /// - Parameter isOverwritten: Whether another item was moved there, with its offline contents.
    func removeContents(of path: DiskPath, isOverwritten: Bool = false, account: String, _ db: Database) throws {
        let owner = Self.owner(account)
        let below: StatementArguments = [account, path.below, Self.end(of: path.below)]
        try Self.deleteRows(Self.deleteBelow, below, account: account, db)
        try pages.remove(rowKeysWithPrefix: path.below, account: owner, at: clock.now(), in: db)
        try removeLists(of: path, owner: owner, db)
        if !isOverwritten { try removeOffline(path, isIncluded: false, account: account, db) }
        for prefix in Self.bodyPrefixes(of: path) {
            try responses.remove(upstream: Self.bodies, urlPrefix: prefix, credential: credential(of: account), in: db)
        }
    }

    /// Removes the lists of a folder that was deleted or renamed, and of the folders below it.
    private func removeLists(of path: DiskPath, owner: String, _ db: Database) throws {
        for (begin, end) in Self.lists(of: path) {
            try db.cachedStatement(sql: Self.deleteFolderPages).execute(arguments: [owner, begin, end])
        }
    }

    /// Returns the ranges of names of the lists of a folder, and of those of the folders below it.
    private static func lists(of path: DiskPath) -> [(begin: String, end: String)] {
        [(path.text + "\n", path.text + "\u{B}"), (path.below, end(of: path.below))]
    }

    func move(_ from: DiskPath, _ to: DiskPath, account: String, _ db: Database) throws {
        let (owner, now) = (Self.owner(account), clock.now())
        try rename(from, to, account: account, db)
        try db.cachedStatement(sql: Self.moveBelow)
            .execute(arguments: [
                to.below, from.below.unicodeScalars.count + 1, now.millisecondsSince1970, account, from.below,
                Self.end(of: from.below),
            ])
        if from.parent == to.parent {
            try pages.replace(rowKey: from.text, by: to.text, account: owner, in: db)
        } else {
            // It is in another folder now: removed from the lists of the old one, kept in lists without folders.
            try pages.remove(rowKey: from.text, account: owner, screen: "files", at: now, in: db)
            try pages.replace(rowKey: from.text, by: to.text, account: owner, in: db)
        }
        try pages.replace(rowKeyPrefix: from.below, by: to.below, account: owner, in: db)
        try moveListsAndBodies(from, to, account: account, db)
        try moveOffline(from, to, account: account, db)
    }

    private func rename(_ from: DiskPath, _ to: DiskPath, account: String, _ db: Database) throws {
        let old = try Row.fetchOne(try db.cachedStatement(sql: Self.selectItem), arguments: [account, from.text])
        let folded = to.name.partFolded
        try db.cachedStatement(sql: Self.renameItem).execute(arguments: [
            to.text, to.name, folded, clock.now().millisecondsSince1970, account, from.text,
        ])
        guard let name = try old.flatMap(IndexedName.init(row:)) else { return }
        var names = NameChanges(account)
        names.remove(name)
        names.insert(IndexedName(rank: name.rank, folded: folded))
        try names.write(db)
    }

    private func moveListsAndBodies(_ from: DiskPath, _ to: DiskPath, account: String, _ db: Database) throws {
        let owner = Self.owner(account)
        // The lists of the folder and of those below it get the new name.
        for (old, new) in zip(Self.lists(of: from), Self.lists(of: to)) {
            try db.cachedStatement(sql: Self.moveFolderPages).execute(arguments: [
                new.begin, old.begin.unicodeScalars.count + 1, owner, old.begin, old.end,
            ])
        }
        for (old, new) in zip(Self.bodyPrefixes(of: from), Self.bodyPrefixes(of: to)) {
            try responses.move(
                upstream: Self.bodies,
                urlPrefix: old,
                to: new,
                credential: credential(of: account),
                in: db
            )
        }
    }

    /// Returns the first text after all those with a prefix that ends with a slash: `0` follows the slash in Unicode.
    static func end(of below: String) -> String { String(Substring(below.unicodeScalars.dropLast())) + "0" }

    static let nextEpoch = "UPDATE disk_account SET epoch = epoch + 1 WHERE account = ? RETURNING epoch"
    static let followEpoch = "UPDATE disk_cache SET epoch = max(epoch, ?) WHERE account = ? RETURNING epoch"
    static let selectLatestEpoch = "SELECT epoch FROM disk_account WHERE account = ?"
    static let deleteOverwritten = """
        DELETE FROM page_row WHERE account = ? AND row_key = ?
        AND page_id IN (SELECT page_id FROM page_row WHERE account = ? AND row_key = ?)
        """
    static let deleteItem = "DELETE FROM disk_item WHERE account = ? AND path = ? RETURNING rank, folded"
    static let deleteBelow = """
        DELETE FROM disk_item WHERE account = ? AND path >= ? AND path < ? RETURNING rank, folded
        """
    static let renameItem = """
        UPDATE disk_item SET path = ?, name = ?, folded = ?, changed_at = ? WHERE account = ? AND path = ?
        """
    static let moveBelow = """
        UPDATE disk_item SET path = ? || substr(path, ?), changed_at = ? WHERE account = ? AND path >= ? AND path < ?
        """
    static let updateUnpublished = """
        UPDATE disk_item SET published = 0, public_url = NULL, available_until = NULL, changed_at = ?
        WHERE account = ? AND path = ?
        """
    static let deleteFolderPages =
        "DELETE FROM page WHERE account = ? AND screen = 'files' AND query >= ? AND query < ?"
    static let moveFolderPages = """
        UPDATE page SET query = ? || substr(query, ?)
        WHERE account = ? AND screen = 'files' AND query >= ? AND query < ?
        """
}

extension DiskAccount {
    func after(_ applied: DiskStore.Applied) -> DiskAccount {
        var account = self
        account.epoch = applied.epoch
        account.revision = applied.revision
        return account
    }
}
